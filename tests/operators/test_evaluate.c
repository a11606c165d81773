// The evaluators against an obviously correct one that walks over the expression once for every entry, on random
// definitions; and the evaluators against one another.
#include "expressions/definition_print.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/evaluation/tape.h"
#include "expressions/f64_functions.h"
#include "expressions/field.h"
#include "operators/operator.h"
#include "tests/support/check.h"

#define MAX_TENSORS 6
#define MAX_SCOPE 12

// --- the obvious evaluator -------------------------------------------------------------------------------------------

struct naive {
    const struct definition *d;
    const double *const *data;   // inputs, then stages
    int64_t variables[256];
};

static double scalar_at(struct naive *v, expr e);

static int64_t floor_of_quotient(int64_t a, int64_t b)
{
    int64_t remainder = (a % b + b) % b;
    return (a - remainder) / b;
}

static int64_t index_from(double value)
{
    const double limit = (double)((int64_t)1 << 60);
    return isnan(value) ? 0 : (int64_t)fmax(-limit, fmin(limit, trunc(value)));
}

static int64_t index_at(struct naive *v, expr e)
{
    const struct expr_node *n = &v->d->nodes.items[e];
    if (n->kind == EXPR_INTEGER)
        return n->value;
    if (n->kind == EXPR_VARIABLE)
        return v->variables[n->value];
    if (n->kind == EXPR_INDEX_OF)
        return index_from(scalar_at(v, n->a));
    int64_t a = index_at(v, n->a);
    if (n->kind == EXPR_INDEX_ADD)
        return a + index_at(v, n->b);
    if (n->kind == EXPR_INDEX_MUL)
        return a * n->value;
    int64_t quotient = floor_of_quotient(a, n->value);
    return n->kind == EXPR_INDEX_DIV ? quotient : a - n->value * quotient;
}

static double read_at(struct naive *v, const struct expr_node *n)
{
    const struct type *t = definition_tensor(v->d, n->value);
    int64_t offset = 0;
    for (int axis = 0; axis < t->rank; axis++) {
        int64_t index = index_at(v, v->d->indices.items[n->a + (expr)axis]);
        if (index < 0 || index >= t->dim[axis])
            return n->b == OUTSIDE_LOWEST ? -INFINITY : 0;
        offset = offset * t->dim[axis] + index;
    }
    return v->data[n->value][offset];
}

static double reduce_at(struct naive *v, const struct expr_node *n)
{
    double result = n->fn == FN_ADD ? 0 : n->fn == FN_MUL ? 1 : n->fn == FN_MAX ? -INFINITY : INFINITY;
    for (int64_t t = 0; t < v->d->extents.items[n->value]; t++) {
        v->variables[n->value] = t;
        result = f64_apply(n->fn, result, scalar_at(v, n->a), 0);
    }
    return result;
}

static double scalar_at(struct naive *v, expr e)
{
    const struct expr_node *n = &v->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return n->real;
    case EXPR_READ:
        return read_at(v, n);
    case EXPR_APPLY:
        return f64_apply(n->fn, scalar_at(v, n->a), function_arity(n->fn) > 1 ? scalar_at(v, n->b) : 0,
                         function_arity(n->fn) > 2 ? scalar_at(v, n->c) : 0);
    case EXPR_REDUCE:
        return reduce_at(v, n);
    case EXPR_SELECT:
        return index_at(v, n->a) >= 0 ? scalar_at(v, n->b) : scalar_at(v, n->c);
    default:
        return (double)index_at(v, n->a);
    }
}

static void evaluate_stage_naively(struct naive *v, const struct stage *s, double *result)
{
    int64_t elements = type_elements(&s->type);
    for (int64_t linear = 0; linear < elements; linear++) {
        int64_t rest = linear;
        for (int axis = s->type.rank - 1; axis >= 0; axis--) {
            v->variables[s->first_variable + (uint32_t)axis] = rest % s->type.dim[axis];
            rest /= s->type.dim[axis];
        }
        result[linear] = scalar_at(v, s->body);
    }
}

// --- random definitions ----------------------------------------------------------------------------------------------

enum palette {
    PALETTE_POLYNOMIAL,   // sums and products of small integers: exact in every domain
    PALETTE_INTEGER,      // and functions that keep integers
    PALETTE_REAL,         // and the lowest value outside, minima of nothing, data-dependent indices
};
struct maker {
    struct definition *d;
    struct random *random;
    enum palette palette;
    int stage;
    int n_scope;
    expr scope[MAX_SCOPE];   // index variables that may be used here
};

static int64_t between(struct random *r, int64_t low, int64_t high)
{
    return low + (int64_t)random_below(r, (uint64_t)(high - low + 1));
}

static expr make_scalar(struct maker *m, int depth);

static expr make_index(struct maker *m, int depth)
{
    struct definition *d = m->d;
    switch (between(m->random, 0, depth > 0 ? 7 : 2)) {
    case 0:
        return index_integer(d, between(m->random, -1, 3));
    case 3:
        return index_add(d, make_index(m, depth - 1), make_index(m, depth - 1));
    case 4:
        return index_mul(d, make_index(m, depth - 1), between(m->random, -2, 3));
    case 5:
        return index_div(d, make_index(m, depth - 1), between(m->random, 1, 4));
    case 6:
        return index_mod(d, make_index(m, depth - 1), between(m->random, 1, 5));
    case 7:
        if (m->palette == PALETTE_REAL)
            return index_of(d, scalar_apply(d, FN_MIN, scalar_real(d, 9), make_scalar(m, 0), 0));
        // fall through
    default:
        return m->n_scope ? m->scope[between(m->random, 0, m->n_scope - 1)] : index_integer(d, 1);
    }
}

static expr make_read(struct maker *m, int depth)
{
    int tensor = (int)between(m->random, 0, m->d->n_inputs + m->stage - 1);
    const struct type *t = definition_tensor(m->d, tensor);
    expr index[MAX_RANK];
    for (int axis = 0; axis < t->rank; axis++)
        index[axis] = make_index(m, depth > 2 ? 2 : depth);
    bool is_lowest = m->palette == PALETTE_REAL && between(m->random, 0, 3) == 0;
    return scalar_read_or(m->d, tensor, index, is_lowest ? OUTSIDE_LOWEST : OUTSIDE_ZERO);
}

static expr make_function(struct maker *m, int depth)
{
    static const enum scalar_function functions[] = {FN_ADD,  FN_SUB,   FN_MUL, FN_NEG, FN_MAX,   FN_MIN,
                                                     FN_RELU, FN_WHERE, FN_ABS, FN_AND, FN_EQUAL, FN_LESS};
    int64_t last = m->palette == PALETTE_POLYNOMIAL ? 3 : (int64_t)COUNT_OF(functions) - 1;
    enum scalar_function fn = functions[between(m->random, 0, last)];
    expr operand[3] = {0};
    for (int i = 0; i < function_arity(fn); i++)
        operand[i] = make_scalar(m, depth - 1);
    return scalar_apply(m->d, fn, operand[0], operand[1], operand[2]);
}

static expr make_reduce(struct maker *m, int depth)
{
    static const enum scalar_function functions[] = {FN_ADD, FN_ADD, FN_MAX, FN_MIN, FN_MUL};
    enum scalar_function fn = functions[m->palette == PALETTE_REAL ? between(m->random, 0, 4) : 0];
    expr variable = reduce_variable(m->d, between(m->random, 0, 3));
    if (m->n_scope == MAX_SCOPE)
        return make_read(m, 1);
    m->scope[m->n_scope++] = variable;
    expr body = make_scalar(m, depth - 1);
    m->n_scope--;
    return scalar_reduce(m->d, fn, variable, body);
}

static expr make_scalar(struct maker *m, int depth)
{
    switch (between(m->random, 0, depth > 0 ? 8 : 2)) {
    case 0:
        return scalar_real(m->d, (double)between(m->random, -2, 2));
    case 3:
    case 4:
        return make_function(m, depth);
    case 5:
    case 6:
        return make_reduce(m, depth);
    case 7:
        return scalar_select(m->d, make_index(m, 2), make_scalar(m, depth - 1), make_scalar(m, depth - 1));
    case 8:
        return scalar_of(m->d, make_index(m, 2));
    default:
        return make_read(m, depth);
    }
}

static struct type random_type(struct random *r)
{
    static const int64_t sizes[] = {0, 1, 1, 2, 3, 4, 5, 6, 17, 300};
    int64_t dim[4];
    int rank = (int)between(r, 0, 3);
    for (int i = 0; i < rank; i++)
        dim[i] = sizes[between(r, i == 0 ? 0 : 1, rank == 1 ? 9 : 8)];
    return type_make(DTYPE_F64, rank, dim);
}

static void make_definition(struct definition *d, struct random *r, enum palette palette)
{
    int n_stages = (int)between(r, 1, 3);
    for (int i = 0; i < n_stages; i++) {
        struct type t = random_type(r);
        int z = i == n_stages - 1 ? output_add(d, t.dtype, t.rank, t.dim) : stage_add(d, t.dtype, t.rank, t.dim);
        struct maker m = {.d = d, .random = r, .palette = palette, .stage = i};
        for (int axis = 0; axis < t.rank; axis++)
            m.scope[m.n_scope++] = stage_index(d, z, axis);
        stage_set_body(d, z, make_scalar(&m, 4));
    }
    definition_finish(d);
}

// --- comparison ------------------------------------------------------------------------------------------------------

struct trial {
    struct arena arena;
    struct definition d;
    struct type inputs[3];
    double *data[MAX_TENSORS];
};

static double *small_integers(struct arena *a, struct random *r, int64_t n)
{
    double *values = arena_array(a, double, n);
    for (int64_t i = 0; i < n; i++)
        values[i] = (double)between(r, -3, 3);
    return values;
}

static bool trial_start(struct trial *t, uint64_t seed, enum palette palette)
{
    struct random r = random_seed(seed);
    *t = (struct trial){0};
    int n_inputs = (int)between(&r, 1, 3);
    for (int i = 0; i < n_inputs; i++) {
        t->inputs[i] = random_type(&r);
        t->data[i] = small_integers(&t->arena, &r, type_elements(&t->inputs[i]));
    }
    definition_init(&t->d, &t->arena, n_inputs, t->inputs);
    make_definition(&t->d, &r, palette);
    return definition_flops(&t->d) < 1e6 && t->d.extents.count < 256;
}

static void trial_end(struct trial *t)
{
    definition_free(&t->d);
    arena_free(&t->arena);
}

static double *result_of_naive(struct trial *t)
{
    struct naive v = {.d = &t->d, .data = (const double *const *)t->data};
    double *result = NULL;
    for (int i = 0; i < t->d.n_stages; i++) {
        result = arena_array(&t->arena, double, type_elements(&t->d.stages[i].type));
        t->data[t->d.n_inputs + i] = result;
        evaluate_stage_naively(&v, &t->d.stages[i], result);
    }
    return result;
}

static void fail_at(const struct trial *t, uint64_t seed, int64_t place, double wanted, double got)
{
    TEXT(text);
    definition_print(&text, &t->d, NULL);
    print_error("seed %llu: entry %lld should be %g and is %g in\n%s", (unsigned long long)seed, (long long)place,
                wanted, got, text.chars);
    fail();
}

static void compare_with_naive(uint64_t seed)
{
    struct trial t FREED_BY(trial_end);
    if (trial_start(&t, seed, PALETTE_REAL)) {
        const struct type *type = definition_output(&t.d, 0);
        double *wanted = result_of_naive(&t), *got = arena_array(&t.arena, double, type_elements(type));
        evaluate_f64(&t.d, (const double *const *)t.data, &got, &t.arena);
        for (int64_t i = 0; i < type_elements(type); i++)
            if (wanted[i] != got[i] && !(isnan(wanted[i]) && isnan(got[i])))
                fail_at(&t, seed, i, wanted[i], got[i]);
    }
}

TEST(reals_are_as_the_obvious_evaluator_says)
{
    for (uint64_t seed = 1; seed <= 4000; seed++)
        compare_with_naive(seed);
}

// In integers, or of polynomials in the field, where reals are exact.
static void compare_with_reals(uint64_t seed, bool is_of_field)
{
    struct trial t FREED_BY(trial_end);
    if (!trial_start(&t, seed, is_of_field ? PALETTE_POLYNOMIAL : PALETTE_INTEGER))
        return;
    int64_t n = type_elements(definition_output(&t.d, 0)), *integers[3], *got = arena_array(&t.arena, int64_t, n);
    uint64_t *residues[3], *of_field = arena_array(&t.arena, uint64_t, n);
    double *reals = arena_array(&t.arena, double, n);
    for (int i = 0; i < t.d.n_inputs; i++) {
        int64_t size = type_elements(&t.inputs[i]);
        integers[i] = arena_array(&t.arena, int64_t, size);
        residues[i] = arena_array(&t.arena, uint64_t, size);
        for (int64_t j = 0; j < size; j++) {
            integers[i][j] = (int64_t)t.data[i][j];
            residues[i][j] = field_from_int(integers[i][j]);
        }
    }
    evaluate_f64(&t.d, (const double *const *)t.data, &reals, &t.arena);
    if (is_of_field)
        evaluate_plan_field(evaluation_plan_make(&t.d, &t.arena), seed, (const uint64_t *const *)residues, &of_field,
                            &t.arena);
    else
        evaluate_i64(&t.d, (const int64_t *const *)integers, &got, &t.arena);
    for (int64_t i = 0; i < n; i++)
        if (fabs(reals[i]) < 1e15 &&
            (is_of_field ? field_from_int((int64_t)reals[i]) != of_field[i] : reals[i] != (double)got[i]))
            fail_at(&t, seed, i, reals[i], is_of_field ? (double)of_field[i] : (double)got[i]);
}

TEST(integers_and_residues_agree_with_reals)
{
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        compare_with_reals(seed, false);
        compare_with_reals(seed, true);
    }
}

// Gives whether there is a tape.
static bool compare_tape_with_plan(uint64_t seed)
{
    struct trial t FREED_BY(trial_end);
    const struct tape *tape = NULL;
    if (trial_start(&t, seed, seed % 2 ? PALETTE_REAL : PALETTE_POLYNOMIAL))
        tape = tape_make(&t.d, seed, &t.arena);
    if (tape) {
        struct random r = random_seed(seed + 1);
        int64_t n = type_elements(definition_output(&t.d, 0));
        uint64_t *wanted = arena_array(&t.arena, uint64_t, n), *got = arena_array(&t.arena, uint64_t, n), *inputs[3];
        for (int i = 0; i < t.d.n_inputs; i++) {
            inputs[i] = arena_array(&t.arena, uint64_t, type_elements(&t.inputs[i]));
            for (int64_t j = 0; j < type_elements(&t.inputs[i]); j++)
                inputs[i][j] = random_below(&r, FIELD_PRIME);
        }
        evaluate_field(&t.d, seed, (const uint64_t *const *)inputs, &wanted, &t.arena);
        tape_run(tape, (const uint64_t *const *)inputs, &got, &t.arena);
        for (int64_t i = 0; i < n; i++)
            if (wanted[i] != got[i])
                fail_at(&t, seed, i, (double)wanted[i], (double)got[i]);
    }
    return tape != NULL;
}

// More products than are summed before they are reduced, each as large as can be.
TEST(long_sums_are_reduced_in_time)
{
    enum { ROWS = 2, TERMS = 3 * FIELD_LAZY_PRODUCTS + 5, COLUMNS = 3 };
    const struct type types[2] = {type_make(DTYPE_F32, 2, (int64_t[]){ROWS, TERMS}),
                                  type_make(DTYPE_F32, 2, (int64_t[]){TERMS, COLUMNS})};
    uint64_t x[ROWS * TERMS], y[TERMS * COLUMNS], got[ROWS * COLUMNS], *output = got;
    const struct operator* matmul = operator_find("matmul");
    struct attribute_value values[MAX_ATTRIBUTES];
    struct definition d FREED_BY(definition_free);
    ARENA(arena);
    operator_standard_attributes(matmul, &arena, values);
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = FIELD_PRIME - 1 - i % 7;
    for (size_t i = 0; i < sizeof y / sizeof *y; i++)
        y[i] = FIELD_PRIME - 1 - i % 5;
    definition_init(&d, &arena, 2, types);
    assert_true(operator_define(&d, &(struct operator_call){matmul, 2, types, values}));
    evaluate_field(&d, 1, (const uint64_t *const[]){x, y}, &output, &arena);
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        uint64_t sum = 0;
        for (int k = 0; k < TERMS; k++)
            sum = field_add(sum, field_mul(x[i / COLUMNS * TERMS + k], y[k * COLUMNS + i % COLUMNS]));
        assert_int_equal(got[i], sum);
    }
}

// Sums of products, and maxima, of reads that leave their tensor at some entries and steps: a tape does not look at
// each of them anew.
TEST(windows_are_unrolled_as_they_are_evaluated)
{
    enum { IMAGE = 2 * 4 * 5 * 4, KERNEL = 4 * 4 * 3 * 2, MAX_RESULT = 2 * 4 * 12 * 12 };
    static const struct {
        const char *operator;
        int64_t channels, stride[2], pad[4], dilation[2];
    } cases[] = {
        {"conv", 4, {1, 1}, {0, 0, 0, 0}, {1, 1}},    {"conv", 4, {1, 1}, {1, 2, 3, 0}, {1, 1}},
        {"conv", 2, {1, 1}, {1, 1, 1, 1}, {1, 1}},    {"conv", 4, {2, 3}, {0, 1, 2, 1}, {2, 1}},
        {"conv", 1, {2, 1}, {3, 3, 3, 3}, {1, 3}},    {"poolmax", 4, {1, 1}, {1, 0, 2, 1}, {1, 1}},
        {"poolmax", 4, {2, 2}, {1, 1, 1, 1}, {1, 2}}, {"poolavg", 4, {1, 2}, {0, 1, 1, 1}, {1, 1}},
    };
    static const int64_t window[] = {3, 2};
    uint64_t image[IMAGE], kernel[KERNEL], wanted[MAX_RESULT], got[MAX_RESULT], *outputs[2] = {wanted, got};
    const uint64_t *inputs[] = {image, kernel};
    struct random r = random_seed(11);
    for (int i = 0; i < IMAGE; i++)
        image[i] = random_below(&r, FIELD_PRIME);
    for (int i = 0; i < KERNEL; i++)
        kernel[i] = random_below(&r, FIELD_PRIME);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct operator* op = operator_find(cases[i].operator);
        const struct type types[2] = {type_make(DTYPE_F32, 4, (int64_t[]){2, 4, 5, 4}),
                                      type_make(DTYPE_F32, 4, (int64_t[]){4, cases[i].channels, 3, 2})};
        int n_inputs = strcmp(cases[i].operator, "conv") == 0 ? 2 : 1;
        int64_t group = 4 / cases[i].channels;
        struct attribute_value values[MAX_ATTRIBUTES];
        struct definition d FREED_BY(definition_free);
        ARENA(arena);
        operator_standard_attributes(op, &arena, values);
        values[operator_find_attribute(op, "stride")] = (struct attribute_value){2, cases[i].stride};
        values[operator_find_attribute(op, "pad")] = (struct attribute_value){4, cases[i].pad};
        values[operator_find_attribute(op, "dilation")] = (struct attribute_value){2, cases[i].dilation};
        values[operator_find_attribute(op, n_inputs == 2 ? "group" : "kernel")] =
            n_inputs == 2 ? (struct attribute_value){1, &group} : (struct attribute_value){2, window};
        definition_init(&d, &arena, n_inputs, types);
        assert_true(operator_define(&d, &(struct operator_call){op, n_inputs, types, values}));
        size_t elements = (size_t)type_elements(definition_output(&d, 0));
        const struct tape *tape = tape_make(&d, 3, &arena);
        assert_true(tape && elements <= MAX_RESULT);
        evaluate_field(&d, 3, inputs, &outputs[0], &arena);
        tape_run(tape, inputs, &outputs[1], &arena);
        assert_memory_equal(wanted, got, elements * sizeof *wanted);
    }
}

TEST(tapes_give_what_the_evaluator_gives)
{
    int n_tapes = 0;
    for (uint64_t seed = 1; seed <= 4000; seed++)
        n_tapes += compare_tape_with_plan(seed);
    assert_true(n_tapes > 1000);
}
