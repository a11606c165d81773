// Kernels of sums of products against the interpreter of definitions: phases, guards, borders, quotients longer than
// phases, steps that are negative, idle sums, factors, parts. Entries are small integers, so that all is exact; what is
// no sum keeps the signs of zeros, too. Tensors stand row by row, or otherwise.
#include "backends/generated/stage_kernel.h"
#include "expressions/definition_parse.h"
#include "expressions/evaluation/evaluate.h"
#include "tests/backends/kernels.h"
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

static void check_run(struct place *at, const struct text *kernel, struct trial *t, const int64_t *strides, bool is_sum)
{
    const struct type *type = definition_output(&t->d, 0);
    int64_t n = type_elements(type);
    struct kernel_call c = {kernel, .y = arena_array(&t->arena, float, n + 1), .n_y = n};
    double *expected = arena_array(&t->arena, double, n), *wanted = arena_array(&t->arena, double, n);
    evaluate_f64(&t->d, t->wide, &expected, &t->arena);
    for (int64_t i = 0; i < n; i++)
        wanted[place_of(type, strides, i)] = expected[i];
    for (int i = 0; i < t->d.n_inputs; i++)
        give(&c, FLOATS, t->narrow[i], (size_t)type_elements(&t->d.inputs[i]));
    GIVE(c, give(&c, ADDRESSES, t->narrow, (size_t)t->d.n_inputs), c.y);
    c.wanted = wanted;
    c.allowed = arena_array(&t->arena, double, n);   // nothing
    for (c.parts = at->service ? 1 : 3; c.parts <= 3; c.parts++) {
        check_call(at, &c);
        assert_true(!at->service || is_sum || ALL(int64_t, i, n, !signbit(c.y[i]) == !signbit(wanted[i])));
    }
}

static void check_case(struct place *at, const char *text, bool is_turned)
{
    TEXT(kernel);
    struct trial t FREED_BY(trial_free);
    trial_init(&t, text);
    const int64_t **strides = arena_array(&t.arena, const int64_t *, t.d.n_inputs + 1);
    if (is_turned)
        turn_inputs(&t, strides);
    strides[t.d.n_inputs] = is_turned ? turned_strides(&t, definition_output(&t.d, 0)) : NULL;
    if (!stage_kernel_print(&kernel, &t.d, strides, &t.arena))
        fail_msg("there is no kernel of\n%s", text);
    if (!is_collected(at, &kernel))
        check_run(at, &kernel, &t, strides[t.d.n_inputs], strstr(text, "sum(") != NULL);
}

TEST_OF_KERNELS(kernels_compute_what_definitions_say)
{
    ARENA(a);
    for (const char **text = texts_of(&a, CASES, "kernel"); *text; text++)
        for (int way = 0; way < 2; way++)
            check_case(at, *text, way);
}

TEST(other_definitions_have_none)
{
    ARENA(a);
    for (const char **text = texts_of(&a, CASES, "none"); *text; text++) {
        TEXT(kernel);
        struct trial t FREED_BY(trial_free);
        trial_init(&t, *text);
        assert_false(stage_kernel_print(&kernel, &t.d, NULL, &t.arena));
    }
}
