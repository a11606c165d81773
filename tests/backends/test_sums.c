// Kernels of sums of products against the interpreter of definitions: phases, guards, borders, quotients longer than
// phases, steps that are negative, idle sums, factors, parts. Entries are small integers, so that all is exact; what is
// no sum keeps the signs of zeros, too. Tensors stand row by row, or otherwise.
#include "backends/generated/sums.h"
#include "expressions/definition_parse.h"
#include "expressions/evaluation/evaluate.h"
#include "tests/backends/elsewhere.h"
#include "tests/backends/parts.h"
#include "tests/support/cases.h"

#define CASES "backends/sums.cases"

struct trial {
    struct arena arena;
    struct definition d;
    const double **wide;
    const float **narrow;
};

static void trial_init(struct trial *t, const char *text)
{
    struct error error;
    struct random random = random_seed(3);
    arena_init(&t->arena);
    if (!definition_parse(&t->arena, "case", text, strlen(text), &t->d, &error))
        fail_msg("%u:%u: %s\n%s", error.line, error.column, error.message, text);
    t->wide = arena_array(&t->arena, const double *, t->d.n_inputs);
    t->narrow = arena_array(&t->arena, const float *, t->d.n_inputs);
    for (int i = 0; i < t->d.n_inputs; i++) {
        int64_t n = type_elements(&t->d.inputs[i]);
        double *wide = arena_array(&t->arena, double, n);
        float *narrow = arena_array(&t->arena, float, n);
        for (int64_t k = 0; k < n; k++)
            narrow[k] = (float)(wide[k] = k % 7 == 0 ? -0.0 : (double)random_below(&random, 200) - 100);
        t->wide[i] = wide;
        t->narrow[i] = narrow;
    }
}

static void trial_free(struct trial *t)
{
    definition_free(&t->d);
    arena_free(&t->arena);
}

// Neighbours on another axis than the last stand side by side: channels of images.
static const int64_t *turned_strides(struct trial *t, const struct type *type)
{
    int64_t *strides = arena_array(&t->arena, int64_t, MAX_RANK), stride;
    int inner = type->rank > 2 ? 1 : 0;
    strides[inner] = 1;
    stride = type->dim[inner];
    for (int axis = type->rank - 1; axis >= 0; axis--)
        if (axis != inner) {
            strides[axis] = stride;
            stride *= type->dim[axis];
        }
    return strides;
}

static int64_t place_of(const struct type *type, const int64_t *strides, int64_t entry)
{
    int64_t place = 0;
    for (int axis = type->rank - 1; strides && axis >= 0; entry /= type->dim[axis--])
        place += entry % type->dim[axis] * strides[axis];
    return strides ? place : entry;
}

static void turn_inputs(struct trial *t, const int64_t **strides)
{
    for (int i = 0; i < t->d.n_inputs; i++) {
        int64_t n = type_elements(&t->d.inputs[i]);
        float *turned = arena_array(&t->arena, float, n);
        strides[i] = turned_strides(t, &t->d.inputs[i]);
        for (int64_t k = 0; k < n; k++)
            turned[place_of(&t->d.inputs[i], strides[i], k)] = t->narrow[i][k];
        t->narrow[i] = turned;
    }
}

static void check_run(struct programs *service, const struct text *kernel, struct trial *t, const int64_t *strides,
                      int parts, bool is_sum)
{
    int64_t n = type_elements(definition_output(&t->d, 0));
    double *expected = arena_array(&t->arena, double, n);
    float *found = arena_array(&t->arena, float, n + 1);
    evaluate_f64(&t->d, t->wide, &expected, &t->arena);
    run_in_parts(service, kernel, (const void *[]){t->narrow, found}, NULL, 0, parts, found, n);
    for (int64_t i = 0; i < n; i++) {
        float z = found[place_of(definition_output(&t->d, 0), strides, i)];
        assert_true((double)z == expected[i] && (is_sum || !signbit(z) == !signbit(expected[i])));
    }
}

static void check_case(struct programs *programs, const char *text, bool is_turned)
{
    TEXT(kernel);
    struct trial t FREED_BY(trial_free);
    trial_init(&t, text);
    const int64_t **strides = arena_array(&t.arena, const int64_t *, t.d.n_inputs + 1);
    if (is_turned)
        turn_inputs(&t, strides);
    strides[t.d.n_inputs] = is_turned ? turned_strides(&t, definition_output(&t.d, 0)) : NULL;
    if (!sums_print(&kernel, &t.d, strides, &t.arena))
        fail_msg("there is no kernel of\n%s", text);
    for (int parts = 1; parts <= 3; parts++)
        check_run(programs, &kernel, &t, strides[t.d.n_inputs], parts, strstr(text, "sum(") != NULL);
}

TEST_ON_MACHINES(kernels_compute_what_definitions_say)
{
    ARENA(a);
    for (const char **text = texts_of(&a, CASES, "kernel"); *text; text++)
        for (int way = 0; way < 2; way++)
            check_case(service, *text, way);
}

static void add_case(struct elsewhere *e, struct trial *t)
{
    int64_t n = type_elements(definition_output(&t->d, 0));
    double *wanted = arena_array(&t->arena, double, n), *allowed = arena_array(&t->arena, double, n);
    evaluate_f64(&t->d, t->wide, &wanted, &t->arena);
    elsewhere_begin_trial(e);
    assert_true(sums_print(&e->text, &t->d, NULL, &t->arena));
    for (int i = 0; i < 2; i++)
        add_floats(e, i ? "x1" : "x0", t->narrow[i % t->d.n_inputs],
                   (size_t)type_elements(&t->d.inputs[i % t->d.n_inputs]));
    elsewhere_end_trial(e, (size_t)n, wanted, allowed, 0, 3,
                        "const float *const x[] = {NAMED(x0), NAMED(x1)};\nconst void *given[] = {x, NAMED(y)};\n"
                        "NAMED(run)(given, 0, part, parts);\n");
}

TEST(kernels_run_on_aarch64)
{
    ELSEWHERE(e);
    assert_true(machine.lanes == 4);
    ARENA(a);
    for (const char **text = texts_of(&a, CASES, "kernel"); *text; text++) {
        struct trial t FREED_BY(trial_free);
        trial_init(&t, *text);
        add_case(&e, &t);
    }
    elsewhere_run(&e);
}

TEST(other_definitions_have_none)
{
    ARENA(a);
    for (const char **text = texts_of(&a, CASES, "none"); *text; text++) {
        TEXT(kernel);
        struct trial t FREED_BY(trial_free);
        trial_init(&t, *text);
        assert_false(sums_print(&kernel, &t.d, NULL, &t.arena));
    }
}
