#include "verifier/symbolic.h"

#include "core/arena.h"
#include <assert.h>

struct evaluation {
    const struct definition *d;
    struct polynomial_pool *pool;
    struct arena *arena;
    const polynomial **data;   // of every tensor, inputs then stages
    int64_t *variables;
};

static int64_t evaluate_index(const struct evaluation *ev, expr e)
{
    const struct expr_node *n = &ev->d->nodes.items[e];
    int64_t a, quotient;
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        return n->value;
    case EXPR_VARIABLE:
        return ev->variables[n->value];
    case EXPR_INDEX_ADD:
        return evaluate_index(ev, n->a) + evaluate_index(ev, n->b);
    case EXPR_INDEX_MUL:
        return evaluate_index(ev, n->a) * n->value;
    case EXPR_INDEX_DIV:
    case EXPR_INDEX_MOD:
        a = evaluate_index(ev, n->a);
        quotient = a / n->value - (a % n->value < 0);
        return n->kind == EXPR_INDEX_DIV ? quotient : a - n->value * quotient;
    default:
        assert(!"an index that depends on data");
        return 0;
    }
}

static polynomial evaluate_scalar(struct evaluation *ev, expr e);

static polynomial evaluate_read(const struct evaluation *ev, const struct expr_node *n)
{
    const struct type *type = stage_type((struct definition *)ev->d, (int)n->value);
    int64_t offset = 0;
    for (int i = 0; i < n->count; i++) {
        int64_t place = evaluate_index(ev, ev->d->indices.items[n->a + (expr)i]);
        if (place < 0 || place >= type->dim[i]) {
            assert(n->b != OUTSIDE_NEVER);
            return n->b == OUTSIDE_LOWEST ? POLYNOMIAL_LOWEST : POLYNOMIAL_ZERO;
        }
        offset = offset * type->dim[i] + place;
    }
    ev->pool->work++;
    return ev->data[n->value][offset];
}

static polynomial identity_of(enum scalar_function fn)
{
    return fn == FN_ADD   ? POLYNOMIAL_ZERO
           : fn == FN_MUL ? POLYNOMIAL_ONE
           : fn == FN_MAX ? POLYNOMIAL_LOWEST
                          : POLYNOMIAL_HIGHEST;
}

static polynomial evaluate_reduce(struct evaluation *ev, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    int64_t extent = ev->d->extents.items[n->value];
    struct arena_mark mark = arena_mark(ev->arena);
    polynomial *values = arena_array(ev->arena, polynomial, extent + 1), result = identity_of(fn);
    for (int64_t t = 0; t < extent; t++) {
        ev->variables[n->value] = t;
        values[t] = evaluate_scalar(ev, n->a);
    }
    if (fn == FN_ADD)
        result = polynomial_sum(ev->pool, values, (size_t)extent);
    else
        for (int64_t t = 0; t < extent; t++)
            result = polynomial_apply(ev->pool, fn, result, values[t], 0);
    arena_release(ev->arena, mark);
    return result;
}

static polynomial evaluate_apply(struct evaluation *ev, const struct expr_node *n)
{
    enum scalar_function fn = (enum scalar_function)n->fn;
    int arity = function_arity(fn);
    polynomial a = evaluate_scalar(ev, n->a);
    polynomial b = arity > 1 ? evaluate_scalar(ev, n->b) : 0;
    polynomial c = arity > 2 ? evaluate_scalar(ev, n->c) : 0;
    return polynomial_apply(ev->pool, fn, a, b, c);
}

static polynomial evaluate_scalar(struct evaluation *ev, expr e)
{
    const struct expr_node *n = &ev->d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
        return polynomial_from_real(ev->pool, n->real);
    case EXPR_READ:
        return evaluate_read(ev, n);
    case EXPR_APPLY:
        return evaluate_apply(ev, n);
    case EXPR_REDUCE:
        return evaluate_reduce(ev, n);
    case EXPR_SELECT:
        return evaluate_scalar(ev, evaluate_index(ev, n->a) >= 0 ? n->b : n->c);
    case EXPR_SCALAR_OF:
        return polynomial_from_real(ev->pool, (double)evaluate_index(ev, n->a));
    default:
        assert(!"not a scalar expression");
        return POLYNOMIAL_ZERO;
    }
}

static void evaluate_stage(struct evaluation *ev, const struct stage *s, polynomial *result)
{
    int64_t elements = type_elements(&s->type);
    int64_t *place = &ev->variables[s->first_variable];
    for (int i = 0; i < s->type.rank; i++)
        place[i] = 0;
    for (int64_t linear = 0; linear < elements && !ev->pool->has_overflowed; linear++) {
        result[linear] = evaluate_scalar(ev, s->body);
        for (int i = s->type.rank - 1; i >= 0 && ++place[i] == s->type.dim[i]; i--)
            place[i] = 0;
    }
}

static polynomial *result_of_stage(struct evaluation *ev, int stage, polynomial *const *outputs)
{
    for (int i = 0; i < ev->d->n_outputs; i++)
        if (ev->d->outputs[i] == stage)
            return outputs[i];
    return arena_array(ev->arena, polynomial, type_elements(&ev->d->stages[stage].type) + 1);
}

bool evaluate_symbolic(const struct definition *d, struct polynomial_pool *pool, const polynomial *const *inputs,
                       polynomial *const *outputs, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    struct evaluation ev = {.d = d, .pool = pool, .arena = scratch};
    if (d->is_data_dependent)
        return false;
    ev.variables = arena_array(scratch, int64_t, d->extents.count + 1);
    ev.data = arena_array(scratch, const polynomial *, d->n_inputs + d->n_stages);
    for (int i = 0; i < d->n_inputs; i++)
        ev.data[i] = inputs[i];
    for (int i = 0; i < d->n_stages; i++) {
        polynomial *result = result_of_stage(&ev, i, outputs);
        evaluate_stage(&ev, &d->stages[i], result);
        ev.data[d->n_inputs + i] = result;
    }
    arena_release(scratch, mark);
    return true;
}
