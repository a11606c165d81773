// Random applications, most of them senseless: each must be refused with a reason, or have a meaning that can be typed,
// printed and evaluated in every domain without leaving an array. Worth most under the sanitizers.
#include "expressions/definition_print.h"
#include "expressions/evaluation/evaluate.h"
#include "operators/operator.h"
#include "tests/support/check.h"

#define TRIALS_OF_EACH 3000
#define MOST_INPUTS 5

struct application {
    struct arena arena;
    struct random random;
    bool is_tame;   // small numbers, and all inputs after the first of one type: more often well-typed
    struct type inputs[MOST_INPUTS];
    struct attribute_value attributes[MAX_ATTRIBUTES];
    struct operator_call call;
};

static int64_t between(struct random *r, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(r, (uint64_t)(high - low + 1));
}

static bool one_in(struct random *r, int n)
{
    return between(r, 1, n) == 1;
}

static int64_t random_integer(struct random *r)
{
    static const int64_t corners[] = {INT64_MIN, INT64_MAX,    INT64_MIN + 1,    INT64_MAX - 1, -1,
                                      INT32_MAX, MAX_ELEMENTS, -MAX_ELEMENTS,    1LL << 31,     1LL << 32,
                                      1LL << 62, -(1LL << 62), MAX_ELEMENTS + 1, -100,          100};
    return one_in(r, 8) ? corners[between(r, 0, COUNT_OF(corners) - 1)] : between(r, -1, 5);
}

static const struct split_tree *random_tree(struct application *p, int64_t size, int depth)
{
    if (depth == 0 || one_in(&p->random, 2))
        return one_in(&p->random, 4) ? SPLIT_ANY : NULL;
    int64_t left = between(&p->random, 0, size);
    return split_tree_join(&p->arena, left, random_tree(p, left, depth - 1), random_tree(p, size - left, depth - 1));
}

static struct type random_type(struct application *p)
{
    struct random *r = &p->random;
    static const int64_t large[] = {0, 1000, 1 << 20, 1LL << 40, MAX_ELEMENTS};
    static const enum dtype dtypes[] = {DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_F32, DTYPE_BOOL, DTYPE_I64};
    struct type t = {.dtype = dtypes[between(r, 0, COUNT_OF(dtypes) - 1)]};
    if (one_in(r, 10))
        t.dtype = (enum dtype)between(r, 0, DTYPE_COUNT - 1);
    t.rank = one_in(r, 20) ? (int)between(r, RANK_UNKNOWN, MAX_RANK) : (int)between(r, 0, 4);
    for (int i = 0; i < t.rank; i++) {
        t.dim[i] = one_in(r, 40) ? large[between(r, 0, COUNT_OF(large) - 1)] : between(r, one_in(r, 10) ? -1 : 1, 4);
        t.split[i] = t.dim[i] < 0 ? NULL : random_tree(p, t.dim[i], 2);
    }
    return t;
}

// Mostly like the first input, so that something fits.
static struct type related_type(struct application *p)
{
    struct random *r = &p->random;
    struct type t = p->inputs[0];
    if (one_in(r, 4))
        return random_type(p);
    if (t.rank > 0 && one_in(r, 3)) {
        int64_t axis = between(r, 0, t.rank - 1);
        t.dim[axis] = between(r, 1, 4);
        t.split[axis] = NULL;
    }
    if (t.rank > 1 && one_in(r, 3))
        t = type_make(t.dtype, 1, &t.dim[one_in(r, 2) ? 1 : between(r, 0, t.rank - 1)]);
    if (t.rank >= 0 && one_in(r, 4))
        t = type_make(one_in(r, 2) ? DTYPE_I64 : t.dtype, t.rank, t.dim);
    return t;
}

static int64_t random_scalar(struct application *p, enum attribute_kind kind)
{
    static const double reals[] = {0, 1, -1, 0.5, 1e300, -INFINITY, INFINITY, NAN, 1e-5};
    if (kind == ATTRIBUTE_REAL)
        return real_to_bits(reals[between(&p->random, 0, COUNT_OF(reals) - 1)]);
    if (kind == ATTRIBUTE_CHOICE || kind == ATTRIBUTE_DTYPE)
        return between(&p->random, 0, kind == ATTRIBUTE_DTYPE ? DTYPE_COUNT : 2) - one_in(&p->random, 20);
    return p->is_tame ? between(&p->random, 0, 3) : random_integer(&p->random);
}

// A dimension of the first input now and then, as sizes often must be.
static int64_t random_entry(struct application *p)
{
    int rank = p->call.n_inputs ? p->inputs[0].rank : 0;
    bool is_dimension = rank > 0 && one_in(&p->random, 3);
    if (p->is_tame && one_in(&p->random, 2))
        return between(&p->random, 1, 2);
    return is_dimension ? p->inputs[0].dim[between(&p->random, 0, rank - 1)] : random_integer(&p->random);
}

// --- definitions as attributes (operators/expression.h) ---------------------------------------------------------------

enum { MOST_CODE = 400 };
struct coding {
    struct application *p;
    int64_t code[MOST_CODE];
    uint32_t n;
};

static void put(struct coding *c, int64_t number)
{
    struct random *r = &c->p->random;
    if (c->n < MOST_CODE)
        c->code[c->n++] = one_in(r, 300) ? random_integer(r) : number;
}

static void put_index(struct coding *c, int depth)
{
    struct random *r = &c->p->random;
    int64_t kind = between(r, 0, depth > 0 ? 5 : 1);
    put(c, kind);
    if (kind != 2)
        put(c, kind == 1 ? between(r, 0, 2) : between(r, kind > 3 ? 1 : -3, 4));
    for (int i = 0; kind > 1 && i < (kind == 2 ? 2 : 1); i++)
        put_index(c, depth - 1);
}

static void put_read(struct coding *c)
{
    int input = (int)between(&c->p->random, 0, c->p->call.n_inputs > 0 ? c->p->call.n_inputs - 1 : 0);
    put(c, 7);
    put(c, input);
    for (int axis = 0; axis < c->p->inputs[input].rank; axis++)
        put_index(c, 2);
}

static void put_scalar(struct coding *c, int depth)
{
    struct random *r = &c->p->random;
    int64_t kind = between(r, 7, depth > 0 ? 10 : 7);
    if (kind == 7) {
        put_read(c);
        return;
    }
    enum scalar_function fn = kind == 9 ? FN_ADD : (enum scalar_function)between(r, 0, FN_COUNT - 1);
    put(c, kind);
    if (kind == 10)
        put_index(c, 2);
    else
        put(c, fn);
    if (kind == 9)
        put(c, between(r, 1, 4));
    for (int i = 0; i < (kind == 8 ? function_arity(fn) : kind == 9 ? 1 : 2); i++)
        put_scalar(c, depth - 1);
}

static struct attribute_value random_code(struct application *p)
{
    struct coding c = {.p = p};
    put_scalar(&c, 3);
    return (struct attribute_value){c.n, arena_copy_array(&p->arena, c.code, c.n)};
}

static struct attribute_value random_attribute(struct application *p, const struct attribute *attribute)
{
    int rank = p->call.n_inputs && p->inputs[0].rank > 0 ? p->inputs[0].rank : 2;
    const uint32_t counts[] = {(uint32_t)rank,
                               (uint32_t)rank,
                               2 * (uint32_t)rank,
                               (uint32_t)abs(rank - 2),
                               2 * (uint32_t)abs(rank - 2),
                               (uint32_t)between(&p->random, 0, 10)};
    if (attribute->role == ROLE_CODE)
        return random_code(p);
    uint32_t count = attribute->kind == ATTRIBUTE_INTS ? counts[between(&p->random, 0, 5)] : !one_in(&p->random, 50);
    int64_t *ints = arena_array(&p->arena, int64_t, count);
    for (uint32_t i = 0; i < count; i++)
        ints[i] = attribute->kind == ATTRIBUTE_INTS ? random_entry(p) : random_scalar(p, attribute->kind);
    return (struct attribute_value){count, ints};
}

static void make_application(struct application *p, const struct operator* op)
{
    int most = operator_most_inputs(op) == VARIADIC ? MOST_INPUTS : operator_most_inputs(op);
    p->call = (struct operator_call){.op = op, .inputs = p->inputs, .attributes = p->attributes};
    p->call.n_inputs = (int)between(&p->random, op->min_inputs, most);
    if (one_in(&p->random, 50))
        p->call.n_inputs = (int)between(&p->random, 0, MOST_INPUTS);
    operator_standard_attributes(op, &p->arena, p->attributes);
    p->is_tame = one_in(&p->random, 2);
    for (int i = 0; i < p->call.n_inputs; i++)
        p->inputs[i] = i == 0 ? random_type(p) : i > 1 && p->is_tame ? p->inputs[1] : related_type(p);
    for (int i = 0; i < operator_n_attributes(op); i++)
        if (op->attributes[i].is_required || one_in(&p->random, p->is_tame ? 4 : 2))
            p->attributes[i] = random_attribute(p, &op->attributes[i]);
}

// --- what must hold --------------------------------------------------------------------------------------------------

static void check_tree(const struct split_tree *tree, int64_t size)
{
    if (!tree || tree == SPLIT_ANY)
        return;
    assert_true(tree->left_size >= 0 && tree->left_size <= size);
    check_tree(tree->left, tree->left_size);
    check_tree(tree->right, size - tree->left_size);
}

static void check_outputs(const struct definition *d)
{
    assert_true(d->n_outputs > 0);
    for (int i = 0; i < d->n_outputs; i++) {
        const struct type *t = definition_output(d, i);
        assert_true(type_is_known(t) && type_has_allowed_size(t));
        for (int axis = 0; axis < t->rank; axis++)
            check_tree(t->split[axis], t->dim[axis]);
    }
}

static void check_text(const struct definition *d)
{
    TEXT(text);
    definition_print(&text, d, NULL);
    assert_non_null(text.chars);
}

// Counts every step of every reduction.
static double steps_of(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_APPLY:
        return steps_of(d, n->a) + (function_arity(n->fn) > 1 ? steps_of(d, n->b) : 0) +
               (function_arity(n->fn) > 2 ? steps_of(d, n->c) : 0);
    case EXPR_REDUCE:
        return 1 + (double)d->extents.items[n->value] * steps_of(d, n->a);
    case EXPR_SELECT:
        return steps_of(d, n->b) + steps_of(d, n->c);
    default:
        return 1;
    }
}

static bool is_small(const struct definition *d)
{
    double work = SUM_ALL(double, int, i, d->n_inputs, (double)type_elements(&d->inputs[i]));
    for (int i = 0; i < d->n_stages; i++)
        work += (double)type_elements(&d->stages[i].type) * steps_of(d, d->stages[i].body);
    return work < 20000;
}

// Blocks of exactly the right size, so that the sanitizer sees every step outside.
static void allocate_values(struct random *r, const struct type *types, int n, bool is_real, void **ret_values)
{
    for (int i = 0; i < n; i++) {
        int64_t elements = type_elements(&types[i]);
        int64_t *values = mem_alloc((size_t)elements * 8);
        for (int64_t j = 0; j < elements; j++)
            values[j] = is_real         ? real_to_bits(random_normal(r) * 3)
                        : one_in(r, 10) ? random_integer(r)
                                        : between(r, 0, 9);
        ret_values[i] = values;
    }
}

static void free_values(const struct type *types, int n, void **values)
{
    for (int i = 0; i < n; i++)
        mem_free(values[i], (size_t)type_elements(&types[i]) * 8);
}

static void evaluate_everywhere(struct application *p, const struct definition *d)
{
    struct type outputs[MAX_OUTPUTS];
    void *in[MOST_INPUTS], *out[MAX_OUTPUTS];
    for (int i = 0; i < d->n_outputs; i++)
        outputs[i] = *definition_output(d, i);
    allocate_values(&p->random, outputs, d->n_outputs, true, out);
    allocate_values(&p->random, d->inputs, d->n_inputs, true, in);
    evaluate_f64(d, (const double *const *)in, (double *const *)out, &p->arena);
    free_values(d->inputs, d->n_inputs, in);
    allocate_values(&p->random, d->inputs, d->n_inputs, false, in);
    evaluate_i64(d, (const int64_t *const *)in, (int64_t *const *)out, &p->arena);
    for (int i = 0; i < d->n_inputs; i++)
        for (int64_t j = 0; j < type_elements(&d->inputs[i]); j++)
            ((uint64_t *)in[i])[j] %= ((uint64_t)1 << 61) - 1;
    evaluate_field(d, 7, (const uint64_t *const *)in, (uint64_t *const *)out, &p->arena);
    free_values(d->inputs, d->n_inputs, in);
    free_values(outputs, d->n_outputs, out);
}

// Attributes that are refused, and inputs that do not agree, are not looked at.
static void check_agreement(const struct operator_call *call)
{
    assert_false(call->op->refuses && call->op->refuses(call->attributes));
    for (int i = 1; i < call->n_inputs; i++)
        assert_true(operator_agreement(call, i) == operator_agreement(call, 0));
}

// Gives whether the application has a meaning.
static bool try_application(const struct operator* op, uint64_t seed)
{
    struct application p = {.random = random_seed(seed)};
    struct definition d FREED_BY(definition_free);
    make_application(&p, op);
    definition_init(&d, &p.arena, p.call.n_inputs, p.inputs);
    bool is_typed = operator_define(&d, &p.call);
    if (is_typed) {
        check_agreement(&p.call);
        check_outputs(&d);
        check_text(&d);
        assert_true(definition_flops(&d) >= 0);
        if (is_small(&d))
            evaluate_everywhere(&p, &d);
    } else
        assert_true(strlen(d.reason) > 0);
    arena_free(&p.arena);
    return is_typed;
}

TEST(senseless_applications_are_refused)
{
    for (int id = 0; id < operator_count(); id++) {
        int n_typed = SUM_ALL(int, int, trial, TRIALS_OF_EACH,
                              try_application(operators[id], (uint64_t)id << 32 | (uint64_t)trial));
        if (operators[id]->define && n_typed == 0)
            fail_msg("no random application of %s has a meaning", operators[id]->name);
    }
}
