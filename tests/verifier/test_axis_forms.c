// What is learned of axes, against what operators do, and against all operators at random sizes and attributes.
#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "tests/support/check.h"
#include "verifier/kinds/axis_forms.h"
#include <string.h>

#define OPEN ((struct attribute_value){UINT32_MAX, NULL})
static const int64_t ZERO = 0, ONE = 1, THREE = 3;

// All choices the first ones, all numbers open.
static struct application application(const char *op, int n_inputs, const int *ranks)
{
    struct application a = {.op = operator_find(op), .n_inputs = n_inputs};
    memcpy(a.ranks, ranks, (size_t)n_inputs * sizeof *ranks);
    for (int i = 0; i < operator_n_attributes(a.op); i++)
        a.attributes[i] = a.op->attributes[i].kind == ATTRIBUTE_CHOICE ? (struct attribute_value){1, &ZERO} : OPEN;
    return a;
}

static struct axis_forms learn(const struct application *a)
{
    struct arena arena;
    arena_init(&arena);
    struct axis_forms f = axis_forms_learn(a, &arena);
    arena_free(&arena);
    return f;
}

static bool are_alike(const struct axis_forms *f, int x, int axis_of_x, int y, int axis_of_y)
{
    return f->like[x * MAX_RANK + axis_of_x] == f->like[y * MAX_RANK + axis_of_y];
}

static void learns_products(void **state)
{
    struct application a = application("matmul", 2, (int[]){3, 2});
    struct axis_forms f = learn(&a);
    assert_true(f.is_known && f.rank == 3);
    assert_true(are_alike(&f, 0, 2, 1, 0) && are_alike(&f, 0, 0, 2, 0) && are_alike(&f, 1, 1, 2, 2));
    assert_false(are_alike(&f, 0, 1, 1, 1));
    a = application("matmul", 2, (int[]){3, 4});
    assert_true(learn(&a).is_impossible);
}

static void learns_channels_of_one_group_alone(void **state)
{
    struct application a = application("conv", 2, (int[]){4, 4});
    struct axis_forms f = learn(&a);
    assert_true(f.is_known && are_alike(&f, 1, 0, 2, 1));
    assert_false(are_alike(&f, 0, 1, 1, 1));
    a.attributes[operator_find_role(a.op, ROLE_GROUPS)] = (struct attribute_value){1, &ONE};
    f = learn(&a);
    assert_true(are_alike(&f, 0, 1, 1, 1));
    assert_int_equal(f.cut[1], CUT_FORM_OF_INPUTS);
    assert_int_equal(f.cut_inputs[1], 1 << MAX_RANK);
    assert_int_equal(f.cut[2], CUT_FORM_NONE);
    a = application("conv", 2, (int[]){2, 2});
    assert_true(learn(&a).is_impossible);
}

// Few sizes go with many groups: channels are not filters, and kernels not images, where these are the first that do.
static void learns_no_more_of_many_groups(void **state)
{
    static const int64_t ones[2] = {1, 1}, none[4] = {0};
    struct application a = application("conv", 2, (int[]){4, 4});
    a.attributes[operator_find_role(a.op, ROLE_STRIDE)] = (struct attribute_value){2, ones};
    a.attributes[operator_find_role(a.op, ROLE_DILATION)] = (struct attribute_value){2, ones};
    a.attributes[operator_find_role(a.op, ROLE_WINDOW_PADS)] = (struct attribute_value){4, none};
    for (int64_t groups = 2; groups < 12; groups++) {
        a.attributes[operator_find_role(a.op, ROLE_GROUPS)] = (struct attribute_value){1, &groups};
        struct axis_forms f = learn(&a);
        assert_true(f.is_known);
        for (int i = 0; i < MOST_FORM_AXES; i++) {
            bool is_batch = i == 2 * MAX_RANK, is_filters = i == 2 * MAX_RANK + 1;
            if (i / MAX_RANK < 3 && i % MAX_RANK < 4)
                assert_int_equal(f.like[i], is_batch ? 0 : is_filters ? MAX_RANK : i);
        }
    }
}

static void learns_what_axes_say(void **state)
{
    struct application a = application("reducesum", 1, (int[]){3});
    a.attributes[operator_find_role(a.op, ROLE_AXES)] = (struct attribute_value){1, &ONE};
    a.attributes[operator_find_role(a.op, ROLE_KEEPDIMS)] = (struct attribute_value){1, &ONE};
    struct axis_forms f = learn(&a);
    assert_true(f.is_known && f.is_one[1] && are_alike(&f, 0, 2, 1, 2) && !are_alike(&f, 0, 1, 1, 1));
    a.attributes[operator_find_role(a.op, ROLE_AXES)] = (struct attribute_value){1, &THREE};
    assert_true(learn(&a).is_impossible);
}

// --- all operators ---------------------------------------------------------------------------------------------------

struct sample {
    struct application of;
    struct type inputs[MOST_FORM_INPUTS];
    int64_t ints[MAX_ATTRIBUTES][2 * MAX_RANK];
};

static uint32_t random_length(const struct attribute *attribute, int rank)
{
    uint32_t spatial = rank > 2 ? (uint32_t)rank - 2 : 0;
    switch (attribute->role) {
    case ROLE_STRIDE:
    case ROLE_DILATION:
    case ROLE_KERNEL:
        return spatial;
    case ROLE_WINDOW_PADS:
        return 2 * spatial;
    case ROLE_PADS:
        return 2 * (uint32_t)rank;
    case ROLE_AXES:
        return 1;
    default:
        return attribute->kind == ATTRIBUTE_INTS ? (uint32_t)rank : 1;
    }
}

static void fill_attribute(struct random *r, struct sample *s, int i)
{
    const struct attribute *attribute = &s->of.op->attributes[i];
    int rank = s->of.n_inputs ? s->of.ranks[0] : 3;
    uint32_t n = random_length(attribute, rank), turn = (uint32_t)random_below(r, 4);
    bool is_axis = attribute->role == ROLE_AXIS || attribute->role == ROLE_AXES;
    for (uint32_t j = 0; j < n; j++)
        if (is_axis || attribute->role == ROLE_PERMUTATION)
            s->ints[i][j] = rank ? (int64_t)((j + turn) % (uint32_t)rank) : 0;
        else if (attribute->kind == ATTRIBUTE_REAL)
            s->ints[i][j] = real_to_bits(0.5);
        else if (attribute->kind == ATTRIBUTE_CHOICE || attribute->role == ROLE_KEEPDIMS)
            s->ints[i][j] = (int64_t)random_below(r, 2);
        else if (attribute->kind == ATTRIBUTE_DTYPE)
            s->ints[i][j] = DTYPE_F32;
        else
            s->ints[i][j] = (int64_t)random_below(r, 4);
    s->of.attributes[i] = (struct attribute_value){n, s->ints[i]};
}

static void fill_sample(struct random *r, const struct operator* op, struct sample *s)
{
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_I64, DTYPE_BOOL};
    static const int64_t sizes[] = {1, 2, 3, 4, 6};
    int most = op->max_inputs == VARIADIC || op->max_inputs > 5 ? 3 : op->max_inputs;
    int n = op->min_inputs + (int)random_below(r, (uint64_t)(most > op->min_inputs ? most - op->min_inputs : 0) + 1);
    *s = (struct sample){.of = {.op = op, .n_inputs = n}};
    enum dtype common = dtypes[random_below(r, 5)];
    for (int i = 0; i < n; i++) {
        bool is_same = i > 0 && random_below(r, 2), is_vector = i > 0 && !is_same && random_below(r, 3);
        int rank = is_same ? s->of.ranks[0] : is_vector ? 1 : (int)random_below(r, 5);
        s->of.ranks[i] = rank;
        s->inputs[i] = (struct type){.dtype = random_below(r, 8) ? common : dtypes[random_below(r, 5)], .rank = rank};
        for (int axis = 0; axis < rank; axis++)
            s->inputs[i].dim[axis] = is_same && random_below(r, 4)                       ? s->inputs[0].dim[axis]
                                     : i > 0 && s->of.ranks[0] > 1 && random_below(r, 4) ? s->inputs[0].dim[1]
                                                                                         : sizes[random_below(r, 5)];
    }
    for (int i = 0; i < operator_n_attributes(op); i++)
        fill_attribute(r, s, i);
}

static bool define(struct definition *d, const struct sample *s)
{
    struct operator_call call = {s->of.op, s->of.n_inputs, s->inputs, s->of.attributes};
    definition_clear(d, s->of.n_inputs, s->inputs);
    d->is_silent = true;
    return operator_define(d, &call) && d->n_outputs == 1;
}

static void check_sizes(const struct axis_forms *f, const struct sample *s, const struct type *z)
{
    int n = s->of.n_inputs;
    assert_int_equal(f->rank, z->rank);
    for (int i = 0; i < (n + 1) * MAX_RANK; i++) {
        const struct type *t = i / MAX_RANK < n ? &s->inputs[i / MAX_RANK] : z;
        const struct type *u = f->like[i] / MAX_RANK < n ? &s->inputs[f->like[i] / MAX_RANK] : z;
        if (i % MAX_RANK < t->rank)
            assert_int_equal(t->dim[i % MAX_RANK], u->dim[f->like[i] % MAX_RANK]);
    }
    for (int axis = 0; axis < z->rank; axis++)
        assert_true(!f->is_one[axis] || z->dim[axis] == 1);
}

// Where all inputs are joined behind their first places.
static void check_cuts(const struct axis_forms *f, const struct type *z)
{
    for (int axis = 0; axis < z->rank; axis++) {
        const struct split_tree *t = z->split[axis];
        assert_true(f->cut[axis] != CUT_FORM_NONE || !t);
        assert_true(f->cut[axis] != CUT_FORM_ANY || t == SPLIT_ANY);
        assert_true(f->cut[axis] != CUT_FORM_OF_INPUTS || z->dim[axis] == 1 || (t && t != SPLIT_ANY));
    }
}

static void check_sample(struct definition *d, struct sample *s, struct arena *arena)
{
    struct application open = s->of;
    for (int i = 0; i < operator_n_attributes(s->of.op); i++) {
        const struct attribute *attribute = &s->of.op->attributes[i];
        bool is_number = (attribute->kind == ATTRIBUTE_INT || attribute->kind == ATTRIBUTE_INTS) &&
                         attribute->role != ROLE_AXIS && attribute->role != ROLE_AXES &&
                         attribute->role != ROLE_PERMUTATION && attribute->role != ROLE_KEEPDIMS;
        open.attributes[i] = is_number ? OPEN : s->of.attributes[i];
    }
    const struct application *both[] = {&s->of, &open};
    for (int i = 0; i < s->of.n_inputs; i++)
        for (int axis = 0; axis < s->of.ranks[i]; axis++)
            s->inputs[i].split[axis] = s->inputs[i].dim[axis] > 1 ? split_tree_join(arena, 1, NULL, NULL) : NULL;
    for (int i = 0; i < 2; i++) {
        struct axis_forms f = axis_forms_learn(both[i], arena);
        assert_false(f.is_impossible);
        assert_true(define(d, s));
        if (f.is_known) {
            check_sizes(&f, s, definition_output(d, 0));
            check_cuts(&f, definition_output(d, 0));
        }
    }
}

// Shapes and sizes of parts are lists that say sizes, which nobody asks this about.
static bool is_asked(const struct operator* op)
{
    return op->define && operator_find_role(op, ROLE_SHAPE) < 0 && operator_find_role(op, ROLE_PART_SIZES) < 0;
}

static void is_so_at_random(void **state)
{
    enum { WANTED = 25, MOST_TRIES = 400000 };
    struct arena arena;
    struct definition d;
    struct sample s;
    arena_init(&arena);
    definition_init(&d, &arena, 0, NULL);
    for (int i = 0; i < operator_count(); i++) {
        struct random r = random_seed(7);
        int n = 0;
        for (int tries = 0; is_asked(operators[i]) && tries < MOST_TRIES && n < WANTED; tries++) {
            struct arena_mark mark = arena_mark(&arena);
            fill_sample(&r, operators[i], &s);
            if (define(&d, &s)) {
                check_sample(&d, &s, &arena);
                n++;
            }
            arena_release(&arena, mark);
        }
        if (is_asked(operators[i]) && n == 0)
            fail_msg("no application of %s was found", operators[i]->name);
    }
    definition_free(&d);
    arena_free(&arena);
}

RUN_TESTS(TEST(learns_products), TEST(learns_channels_of_one_group_alone), TEST(learns_no_more_of_many_groups),
          TEST(learns_what_axes_say), TEST(is_so_at_random))
