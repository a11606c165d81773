// Unrolls definitions into scalar computations, with constants computed on the way.
#include "expressions/evaluation/tape_unroll.h"

#include "core/memory/arena.h"
#include "expressions/field_functions.h"
#include <string.h>

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

static uint32_t value_outside(struct unrolling *u, const struct expr_node *read)
{
    return add_constant(u, read->b == OUTSIDE_LOWEST ? lowest(u->key) : 0);
}

static uint32_t unroll_read(struct unrolling *u, const struct expr_node *n)
{
    const struct definition *d = u->d;
    const struct type *t = definition_tensor(d, n->value);
    int64_t offset = 0;
    for (int i = 0; i < n->count; i++) {
        int64_t index = index_value(u->d, d->indices.items[n->a + (expr)i], u->variables);
        if (index < 0 || index >= t->dim[i])
            return value_outside(u, n);
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

static bool is_product_in_sum(const struct expr_node *n, enum scalar_function fn)
{
    return fn == FN_ADD && n->kind == EXPR_APPLY && n->fn == FN_MUL;
}

static void push_terms(struct unrolling *u, enum scalar_function fn, expr e)
{
    const struct expr_node *n = &u->d->nodes.items[e];
    if (n->kind == EXPR_REDUCE && n->fn == fn) {
        for (int64_t i = 0; i < u->d->extents.items[n->value] && !u->is_too_large; i++) {
            u->variables[n->value] = i;
            push_terms(u, fn, n->a);
        }
    } else if (is_product_in_sum(n, fn)) {
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

void unroll_definition(struct unrolling *u, const struct definition *d, uint64_t key, struct arena *scratch)
{
    *u = (struct unrolling){.d = d, .scratch = scratch, .key = key};
    add_inputs(u);
    u->variables = arena_array(u->scratch, int64_t, d->extents.count);
    u->stages = arena_array(u->scratch, uint32_t *, d->n_stages);
    for (int i = 0; i < d->n_stages; i++)
        unroll_stage(u, i);
}

void unrolling_free(struct unrolling *u)
{
    vec_free(&u->values);
    vec_free(&u->operands);
    vec_free(&u->stack);
    vec_free(&u->constants);
}
