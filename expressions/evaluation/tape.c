// Computations are unrolled, numbered, and cut into runs of one function. Sums of products are reduced once.
#include "expressions/evaluation/tape.h"

#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "expressions/definition.h"
#include "expressions/field_functions.h"
#include <string.h>

// --- unrolling -------------------------------------------------------------------------------------------------------
// Every entry of every stage of a definition as a value computed of those before it: what a tape is made of.
// Unrolls definitions into scalar computations, with constants computed on the way.

enum { MAX_TAPE_INPUTS = 8 };

// The action that a value is made by. A product sum has its factors as operands, two by two.
enum action { ACTION_INPUT, ACTION_CONSTANT, ACTION_APPLY, ACTION_REDUCE, ACTION_SUM, ACTION_PRODUCT_SUM };
struct value {
    uint8_t action, fn;
    uint32_t first, count;   // operands
    uint64_t constant;
};
struct unrolling {
    const struct definition *d;
    struct arena *scratch;
    uint64_t key;
    uint32_t n_inputs;          // entries of all inputs
    VEC(struct value) values;   // these first
    VEC(uint32_t) operands;
    VEC(uint32_t) stack;       // of operands of sums that are being made
    VEC(uint32_t) constants;   // among the values
    int64_t *variables;
    uint32_t first_of_input[MAX_TAPE_INPUTS];
    uint32_t **stages;   // the values of the entries of each stage so far
    bool is_too_large;
};

enum { MAX_TAPE_VALUES = 1 << 14, MAX_TAPE_OPERANDS = 1 << 18 };

static uint32_t add_value(struct unrolling *u, const struct value *value)
{
    if (u->values.count >= MAX_TAPE_VALUES || u->operands.count >= MAX_TAPE_OPERANDS)
        u->is_too_large = true;
    else
        vec_push(&u->values, *value);
    return (uint32_t)u->values.count - 1;
}

static uint32_t add_constant(struct unrolling *u, uint64_t constant)
{
    for (size_t i = 0; i < u->constants.count; i++)
        if (u->values.items[u->constants.items[i]].constant == constant)
            return u->constants.items[i];
    uint32_t added = add_value(u, &(struct value){.action = ACTION_CONSTANT, .constant = constant});
    if (!u->is_too_large)
        vec_push(&u->constants, added);
    return added;
}

static bool is_constant(const struct unrolling *u, uint32_t value)
{
    return u->values.items[value].action == ACTION_CONSTANT;
}

static bool is_number(const struct unrolling *u, uint32_t value, uint64_t number)
{
    return is_constant(u, value) && u->values.items[value].constant == number;
}

static uint32_t add_computed(struct unrolling *u, enum action action, enum scalar_function fn, const uint32_t *operands,
                             uint32_t n)
{
    uint32_t first = (uint32_t)u->operands.count;
    for (uint32_t i = 0; i < n && !u->is_too_large; i++)
        vec_push(&u->operands, operands[i]);
    return add_value(u, &(struct value){(uint8_t)action, (uint8_t)fn, first, n, 0});
}

static uint32_t unroll(struct unrolling *u, expr e);

static uint32_t value_at(const struct unrolling *u, int64_t tensor, int64_t offset)
{
    int n_inputs = u->d->n_inputs;
    return tensor < n_inputs ? u->first_of_input[tensor] + (uint32_t)offset : u->stages[tensor - n_inputs][offset];
}

static uint32_t unroll_read(struct unrolling *u, const struct expr_node *n)
{
    const struct definition *d = u->d;
    const struct type *t = definition_tensor(d, n->value);
    int64_t offset = 0;
    for (int i = 0; i < n->count; i++) {
        int64_t index = index_value(u->d, d->indices.items[n->a + (expr)i], u->variables);
        if (index < 0 || index >= t->dim[i])
            return add_constant(u, n->b == OUTSIDE_LOWEST ? lowest(u->key) : 0);
        offset = offset * t->dim[i] + index;
    }
    return value_at(u, n->value, offset);
}

static bool are_constant(const struct unrolling *u, const uint32_t *values, uint32_t n)
{
    return ALL(uint32_t, i, n, is_constant(u, values[i]));
}

static uint32_t apply_to_values(struct unrolling *u, enum scalar_function fn, const uint32_t *x)
{
    const struct value *v = u->values.items;
    int arity = function_arity(fn);
    if (are_constant(u, x, (uint32_t)arity))
        return add_constant(
            u, apply(u->key, fn, v[x[0]].constant, arity > 1 ? v[x[1]].constant : 0, arity > 2 ? v[x[2]].constant : 0));
    if (fn == FN_DIV && is_constant(u, x[1])) {
        uint32_t inverse = add_constant(u, field_inverse(v[x[1]].constant));
        return add_computed(u, ACTION_APPLY, FN_MUL, (uint32_t[]){x[0], inverse}, 2);
    }
    return add_computed(u, ACTION_APPLY, fn, x, (uint32_t)arity);
}

static uint32_t unroll_apply(struct unrolling *u, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    int arity = function_arity(fn);
    uint32_t x[3] = {unroll(u, n->a)};
    x[1] = arity > 1 ? unroll(u, n->b) : x[0];
    x[2] = arity > 2 ? unroll(u, n->c) : x[0];
    return u->is_too_large ? 0 : apply_to_values(u, fn, x);
}

// A term of a sum has two factors, of which the second is 1 where it is no product.
static void push_term(struct unrolling *u, enum scalar_function fn, uint32_t a, uint32_t b)
{
    if (u->is_too_large || u->stack.count > MAX_TAPE_OPERANDS) {
        u->is_too_large = true;
        return;
    }
    if (fn == FN_ADD && (is_number(u, a, 0) || is_number(u, b, 0)))
        return;
    vec_push(&u->stack, a);
    if (fn == FN_ADD)
        vec_push(&u->stack, b);
}

static void push_terms(struct unrolling *u, enum scalar_function fn, expr e)
{
    const struct expr_node *n = &u->d->nodes.items[e];
    if (n->kind == EXPR_REDUCE && n->fn == fn) {
        for (int64_t i = 0; i < u->d->extents.items[n->value] && !u->is_too_large; i++) {
            u->variables[n->value] = i;
            push_terms(u, fn, n->a);
        }
    } else if (fn == FN_ADD && n->kind == EXPR_APPLY && n->fn == FN_MUL) {
        uint32_t a = unroll(u, n->a);
        push_term(u, fn, a, unroll(u, n->b));
    } else {
        uint32_t a = unroll(u, e);
        push_term(u, fn, a, fn == FN_ADD ? add_constant(u, 1) : a);
    }
}

// The sum of a[i] * b[i], as a plain one where all factors b are 1.
static uint32_t add_sum(struct unrolling *u, uint32_t *factors, uint32_t n)
{
    bool is_plain = true;
    for (uint32_t i = 1; i < n; i += 2)
        is_plain = is_plain && is_number(u, factors[i], 1);
    for (uint32_t i = 0; is_plain && i < n / 2; i++)
        factors[i] = factors[2 * i];
    return add_computed(u, is_plain ? ACTION_SUM : ACTION_PRODUCT_SUM, FN_ADD, factors, is_plain ? n / 2 : n);
}

// The sum of products of constants: how many entries a window has inside, say.
static uint64_t sum_of_constants(const struct unrolling *u, const uint32_t *factors, uint32_t n)
{
    const struct value *v = u->values.items;
    uint64_t sum = 0;
    for (uint32_t i = 0; i + 1 < n; i += 2)
        sum = field_add(sum, field_mul(v[factors[i]].constant, v[factors[i + 1]].constant));
    return sum;
}

static uint64_t identity_of(const struct unrolling *u, enum scalar_function fn)
{
    return fn == FN_ADD ? 0 : fn == FN_MUL ? 1 : fn == FN_MAX ? lowest(u->key) : highest(u->key);
}

static uint32_t unroll_reduce(struct unrolling *u, expr e, enum scalar_function fn)
{
    size_t mark = u->stack.count;
    push_terms(u, fn, e);
    uint32_t n = (uint32_t)(u->stack.count - mark), result = 0;
    uint32_t *terms = n ? u->stack.items + mark : NULL;
    if (u->is_too_large)
        return 0;
    if (n == 0)
        result = add_constant(u, identity_of(u, fn));
    else if (fn == FN_ADD && are_constant(u, terms, n))
        result = add_constant(u, sum_of_constants(u, terms, n));
    else
        result = fn == FN_ADD ? add_sum(u, terms, n) : add_computed(u, ACTION_REDUCE, fn, terms, n);
    u->stack.count = mark;
    return result;
}

static uint32_t unroll(struct unrolling *u, expr e)
{
    const struct expr_node *n = &u->d->nodes.items[e];
    if (u->is_too_large)
        return 0;
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return add_constant(u, field_from_real(n->real));
    case EXPR_READ:
        return unroll_read(u, n);
    case EXPR_APPLY:
        return unroll_apply(u, n);
    case EXPR_REDUCE:
        return unroll_reduce(u, e, (enum scalar_function)n->fn);
    case EXPR_SELECT:
        return unroll(u, index_value(u->d, n->a, u->variables) >= 0 ? n->b : n->c);
    default:
        return add_constant(u, field_from_int(index_value(u->d, n->a, u->variables)));
    }
}

static void unroll_stage(struct unrolling *u, int stage)
{
    const struct stage *s = &u->d->stages[stage];
    int64_t elements = type_elements(&s->type), *index = &u->variables[s->first_variable];
    u->is_too_large = u->is_too_large || elements > MAX_TAPE_VALUES;
    if (u->is_too_large)
        return;
    u->stages[stage] = arena_array(u->scratch, uint32_t, elements);
    memset(index, 0, sizeof *index * (size_t)s->type.rank);
    for (int64_t i = 0; i < elements && !u->is_too_large; i++) {
        u->stages[stage][i] = unroll(u, s->body);
        for (int axis = s->type.rank - 1; axis >= 0 && ++index[axis] == s->type.dim[axis]; axis--)
            index[axis] = 0;
    }
}

static void add_inputs(struct unrolling *u)
{
    for (int i = 0; i < u->d->n_inputs && !u->is_too_large; i++) {
        int64_t elements = type_elements(&u->d->inputs[i]);
        u->is_too_large = elements + (int64_t)u->values.count > MAX_TAPE_VALUES;
        u->first_of_input[i] = (uint32_t)u->values.count;
        for (int64_t k = 0; k < elements && !u->is_too_large; k++)
            vec_push(&u->values, (struct value){.action = ACTION_INPUT});
    }
    u->n_inputs = (uint32_t)u->values.count;
}

// The values of `d`, in `scratch`, unless that is too large, which the unrolling says then.
static void unroll_definition(struct unrolling *u, const struct definition *d, uint64_t key, struct arena *scratch)
{
    *u = (struct unrolling){.d = d, .scratch = scratch, .key = key};
    add_inputs(u);
    u->variables = arena_array(u->scratch, int64_t, d->extents.count);
    u->stages = arena_array(u->scratch, uint32_t *, d->n_stages);
    for (int i = 0; i < d->n_stages; i++)
        unroll_stage(u, i);
}

static void unrolling_free(struct unrolling *u)
{
    vecs_free(u, values, operands, stack, constants);
}

// --- tapes -----------------------------------------------------------------------------------------------------------

// Values of one action and function that stand together.
struct run {
    uint8_t action, fn;
    uint32_t first, n;        // values
    const uint32_t *counts;   // operands of each
    const uint16_t *operands;
};
struct tape {
    uint64_t key;
    int n_inputs, n_outputs, n_runs;
    uint32_t n_values, n_constants;   // values: inputs, constants, then computed ones
    size_t input_elements[MAX_TAPE_INPUTS];
    const uint64_t *constants;
    const struct run *runs;
    const size_t *output_elements;
    const uint16_t *const *outputs;   // of every output the values of its entries
};

// --- making ----------------------------------------------------------------------------------------------------------

// The number of each value. Constants stand in front of what is computed.
static const uint16_t *number_values(const struct unrolling *u, struct arena *scratch)
{
    uint16_t *numbers = arena_array(scratch, uint16_t, u->values.count);
    uint32_t constant = u->n_inputs, computed = constant + (uint32_t)u->constants.count;
    for (uint32_t i = 0; i < u->values.count; i++) {
        enum action action = (enum action)u->values.items[i].action;
        numbers[i] = (uint16_t)(action == ACTION_INPUT ? i : action == ACTION_CONSTANT ? constant++ : computed++);
    }
    return numbers;
}

static const uint16_t *numbers_of(const uint16_t *numbers, const uint32_t *values, size_t n, struct arena *arena)
{
    uint16_t *result = arena_array(arena, uint16_t, n);
    for (size_t i = 0; i < n; i++)
        result[i] = numbers[values[i]];
    return result;
}

static bool belongs_to(const struct run *r, const struct value *v)
{
    return r->action == v->action && r->fn == v->fn;
}

// Operands stand in the order of the values that they are of.
static void make_runs(const struct unrolling *u, struct tape *t, const uint16_t *numbers, struct arena *arena)
{
    const uint16_t *operands = numbers_of(numbers, u->operands.items, u->operands.count, arena);
    uint32_t *counts = arena_array(arena, uint32_t, u->values.count);
    struct run *runs = arena_array(arena, struct run, u->values.count);
    for (uint32_t i = u->n_inputs; i < u->values.count; i++) {
        const struct value *v = &u->values.items[i];
        if (v->action == ACTION_CONSTANT)
            continue;
        if (t->n_runs == 0 || !belongs_to(&runs[t->n_runs - 1], v))
            runs[t->n_runs++] = (struct run){v->action, v->fn, numbers[i], 0, counts, operands + v->first};
        runs[t->n_runs - 1].n++;
        *counts++ = v->count;
    }
    t->runs = runs;
}

static void make_constants(const struct unrolling *u, struct tape *t, struct arena *arena)
{
    uint64_t *constants = arena_array(arena, uint64_t, u->constants.count);
    for (size_t i = 0; i < u->constants.count; i++)
        constants[i] = u->values.items[u->constants.items[i]].constant;
    t->n_constants = (uint32_t)u->constants.count;
    t->constants = constants;
}

static void make_outputs(const struct unrolling *u, struct tape *t, const uint16_t *numbers, struct arena *arena)
{
    size_t *elements = arena_array(arena, size_t, t->n_outputs);
    const uint16_t **outputs = arena_array(arena, const uint16_t *, t->n_outputs);
    for (int i = 0; i < t->n_outputs; i++) {
        elements[i] = (size_t)type_elements(definition_output(u->d, i));
        outputs[i] = numbers_of(numbers, u->stages[u->d->outputs[i]], elements[i], arena);
    }
    t->output_elements = elements;
    t->outputs = outputs;
}

static const struct tape *make_tape(const struct unrolling *u, struct arena *arena)
{
    struct tape *t = arena_new(arena, struct tape);
    const uint16_t *numbers = number_values(u, u->scratch);
    *t = (struct tape){u->key, u->d->n_inputs, u->d->n_outputs, .n_values = (uint32_t)u->values.count};
    for (int i = 0; i < t->n_inputs; i++)
        t->input_elements[i] = (size_t)type_elements(&u->d->inputs[i]);
    make_constants(u, t, arena);
    make_runs(u, t, numbers, arena);
    make_outputs(u, t, numbers, arena);
    return t;
}

const struct tape *tape_make(const struct definition *d, uint64_t key, struct arena *arena)
{
    if (d->is_data_dependent || d->n_inputs > MAX_TAPE_INPUTS)
        return NULL;
    ARENA(scratch);
    struct unrolling u FREED_BY(unrolling_free);
    unroll_definition(&u, d, key, &scratch);
    const struct tape *tape = u.is_too_large ? NULL : make_tape(&u, arena);
    return tape;
}

// --- running ---------------------------------------------------------------------------------------------------------

// Factors are below 2^61, so many products fit and are reduced once. Two sums are made side by side, as an addition
// has to wait for the one before it.
static uint64_t sum_products_of(const uint16_t *o, uint32_t n, const uint64_t *v)
{
    field_wide even = 0, odd = 0;
    for (uint32_t k = 0; k + 1 < n; k += 2, o += 4) {
        even += (field_wide)v[o[0]] * v[o[1]];
        odd += (field_wide)v[o[2]] * v[o[3]];
    }
    if (n % 2)
        even += (field_wide)v[o[0]] * v[o[1]];
    return field_reduce_wide(even + odd);
}

static void sum_products(const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t sum = 0;
        for (uint32_t left = r->counts[i] / 2; left > 0;) {
            uint32_t n = left < FIELD_LAZY_PRODUCTS ? left : FIELD_LAZY_PRODUCTS;
            sum = field_add(sum, sum_products_of(o, n, v));
            o += 2 * n;
            left -= n;
        }
        v[r->first + i] = sum;
    }
}

static void sum_values(const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        field_wide lazy = 0;
        for (uint32_t k = 0; k < r->counts[i]; k++)
            lazy += v[*o++];
        v[r->first + i] = field_reduce_wide(lazy);
    }
}

static void reduce_values(const struct tape *t, const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t result = v[*o++];
        for (uint32_t k = 1; k < r->counts[i]; k++)
            result = apply(t->key, (enum scalar_function)r->fn, result, v[*o++], 0);
        v[r->first + i] = result;
    }
}

// A loop for each function, so that `apply` dissolves in it.
static void apply_to_run(const struct tape *t, const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    int arity = function_arity((enum scalar_function)r->fn), b = arity > 1, c = arity > 2 ? 2 : 0;
    switch ((enum scalar_function)r->fn) {
#define FUNCTION(enumerator, name, function_arity, c_expression, magnitude, sign, is_inside)                           \
    case FN_##enumerator:                                                                                              \
        for (uint32_t i = 0; i < r->n; i++, o += arity)                                                                \
            v[r->first + i] = apply(t->key, FN_##enumerator, v[o[0]], v[o[b]], v[o[c]]);                               \
        break;
#include "expressions/functions.def"
#undef FUNCTION
    case FN_COUNT:
        break;
    }
}

static void run(const struct tape *t, const struct run *r, uint64_t *v)
{
    if (r->action == ACTION_APPLY)
        apply_to_run(t, r, v);
    else if (r->action == ACTION_PRODUCT_SUM)
        sum_products(r, v);
    else if (r->action == ACTION_SUM)
        sum_values(r, v);
    else
        reduce_values(t, r, v);
}

void tape_run(const struct tape *t, const uint64_t *const *inputs, uint64_t *const *outputs, struct arena *scratch)
{
    ARENA_MARK(mark, scratch);
    uint64_t *v = arena_alloc(scratch, t->n_values * sizeof *v, _Alignof(uint64_t)), *at = v;
    for (int i = 0; i < t->n_inputs; at += t->input_elements[i++])
        memcpy(at, inputs[i], t->input_elements[i] * sizeof *v);
    if (t->n_constants)
        memcpy(at, t->constants, t->n_constants * sizeof *v);
    for (int i = 0; i < t->n_runs; i++)
        run(t, &t->runs[i], v);
    for (int i = 0; i < t->n_outputs; i++)
        for (size_t k = 0; k < t->output_elements[i]; k++)
            outputs[i][k] = v[t->outputs[i][k]];
}
