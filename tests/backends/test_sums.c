// Kernels of sums of products against the interpreter of definitions: phases, guards, borders, quotients longer than
// phases, steps that are negative, idle sums, factors, parts. Entries are small integers, so that all is exact; what is
// no sum keeps the signs of zeros, too. Tensors stand row by row, or otherwise.
#include "backends/generated/sums.h"
#include "expressions/definition_parse.h"
#include "expressions/evaluation/evaluate.h"
#include "tests/backends/elsewhere.h"
#include "tests/backends/parts.h"

static const char *const cases[] = {
    // offset-reduces of a 3x3 convolution and of a transposed one, its guards in both forms
    "x0 f32[54,49]\nz[i,j,k,l] f32[1,6,7,7] = sum(m < 3) sum(n < 3) (if k + m - 1 >= 0 then (if l + n - 1 >= 0 then "
    "(if 7 - k - m >= 0 then (if 7 - l - n >= 0 then x0[j * 9 + m * 3 + n,(k + m - 1) * 7 + l + n - 1] else 0.0) else "
    "0.0) else 0.0) else 0.0)\n",
    "x0 f32[2,48,2,3]\nz[i,j,k,l] f32[2,3,4,6] = sum(m < 4) sum(n < 4) (if (k - m + 1) mod 2 - 1 >= 0 then 0.0 else "
    "(if 0 - ((l - n + 1) mod 2) >= 0 then x0[i,j * 16 + m * 4 + n,(k - m + 1) / 2,(l - n + 1) / 2 or 0] else 0.0))\n",
    // im2col: the last axis is a place in an image, in rows of seven
    "x0 f32[1,5,7,7]\nz[i,j] f32[45,49] = x0[0,i / 9,j / 7 + (i / 3) mod 3 - 1,j mod 7 + i mod 3 - 1 or 0]\n",
    // the same of a transposed convolution, for a product with the weights first
    "x0 f32[2,3,8,8]\nz[i,j,k] f32[4,12,128] = x0[k / 64,j / 4,i / 2 + (j / 2) mod 2 + (k / 8) mod 8 - 1,i mod 2 + j "
    "mod 2 + k mod 8 - 1 or 0]\n",
    // turned around, transposed, and of one axis
    "x0 f32[4,6]\nz[i,j] f32[6,4] = x0[3 - j,5 - i]\n",
    "x0 f32[9]\nz[i] f32[9] = sum(k < 3) (2.0 * x0[9 - i - k or 0])\n",
    // two operands, a factor, an idle sum, and phases that do not divide the row
    "x0 f32[3,5]\nx1 f32[4,5]\nz[i,j] f32[3,7] = sum(k < 5) sum(n < 2) (0.5 * (x0[i,k] * x1[j / 2,k]))\n",
    "x0 f32[8,6]\nz[i,j] f32[8,11] = x0[i,j * 3 / 4 - j mod 4 or 0]\n",
    // the relu of a sum, and a row that is too long
    "x0 f32[3,5]\nx1 f32[4,5]\nz[i,j] f32[3,4] = relu(sum(k < 5) (0.5 * (x0[i,k] * x1[j,k])))\n",
    "x0 f32[9]\nz[i] f32[16500] = sum(k < 2) x0[i - 16490 + k or 0]\n",
};
static const char *const others[] = {
    "x0 f32[3,5]\nz[i,j] f32[3,5] = max(k < 3) x0[i,j + k - 1 or 0]\n",
    "x0 f32[3,5]\nz[i,j] f32[3,5] = (x0[i,j] + x0[i,4 - j])\n",
    "x0 f64[3,5]\nz[i,j] f64[3,5] = x0[i,4 - j]\n",
    "x0 f32[3,5]\nz[i,j] f32[3,77] = x0[i,j / 5 or lowest]\n",
    "x0 f32[3,5]\nz[i,j] f32[3,5] = tanh(x0[i,j])\n",
    "x0 f32[9]\nz[i] f32[16411] = x0[i - 16400 or 0]\n",   // a prime number of entries in a row
};

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
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        for (int way = 0; way < 2; way++)
            check_case(service, cases[i], way);
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
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct trial t FREED_BY(trial_free);
        trial_init(&t, cases[i]);
        add_case(&e, &t);
    }
    elsewhere_run(&e);
}

TEST_OF_EACH(other_definitions_have_none, row, others)
{
    TEXT(kernel);
    struct trial t FREED_BY(trial_free);
    trial_init(&t, *row);
    assert_false(sums_print(&kernel, &t.d, NULL, &t.arena));
}
