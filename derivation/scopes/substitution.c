// Substitution by one walk; the pool's constructors bring what comes out into normal form.
#include "derivation/scopes/substitution.h"

#include <assert.h>

void substitution_add(struct substitution *s, uint32_t variable, expr by)
{
    assert(s->n < MOST_REPLACED);
    s->items[s->n++] = (struct replacement){variable, by};
}

void substitution_add_part(struct substitution *s, expr part, expr by)
{
    assert(s->n_parts < MOST_PARTS);
    s->parts[s->n_parts++] = (struct replaced_part){part, by};
}

bool scope_is_copy(const struct pool *p, int tensor)
{
    if (tensor < p->d.n_inputs)
        return false;
    const struct expr_node *body = &p->d.nodes.items[p->d.stages[tensor - p->d.n_inputs].body];
    return body->kind == EXPR_READ && body->b != OUTSIDE_LOWEST;
}

static expr replace_variable(struct pool *p, const struct substitution *s, uint32_t variable)
{
    for (int i = s->n; i-- > 0;)
        if (s->items[i].variable == variable)
            return s->items[i].by;
    return pool_variable(p, variable);
}

// The entry that the copy reads, at these of its indices.
static expr read_through_copy(struct pool *p, int copy, const expr *index)
{
    const struct stage scope = p->d.stages[copy - p->d.n_inputs];
    struct substitution axes = {0};
    for (int axis = 0; axis < scope.type.rank; axis++)
        substitution_add(&axes, scope.first_variable + (uint32_t)axis, index[axis]);
    expr value = substitution_apply(p, &axes, scope.body);
    for (int axis = scope.type.rank; axis-- > 0;)
        value = pool_within(p, index[axis], scope.type.dim[axis], value);
    return value;
}

static expr substitute_read(struct pool *p, const struct substitution *s, const struct expr_node *n)
{
    expr index[MAX_RANK];
    bool is_other = s->tensor != s->by_tensor && n->value == s->tensor;
    for (int i = 0; i < n->count; i++)
        index[i] = substitution_apply(p, s, p->d.indices.items[n->a + (expr)i]);
    if (is_other && n->b != OUTSIDE_LOWEST && scope_is_copy(p, s->by_tensor))
        return read_through_copy(p, s->by_tensor, index);
    enum outside outside = n->b == OUTSIDE_LOWEST ? OUTSIDE_LOWEST : OUTSIDE_ZERO;
    return pool_read(p, is_other ? s->by_tensor : (int)n->value, index, outside);
}

static expr substitute_apply(struct pool *p, const struct substitution *s, const struct expr_node *n)
{
    expr operands[3] = {0};
    for (int i = 0; i < function_arity((enum scalar_function)n->fn); i++)
        operands[i] = substitution_apply(p, s, n->operands[i]);
    return pool_apply(p, (enum scalar_function)n->fn, operands[0], operands[1], operands[2]);
}

static expr substitute_index(struct pool *p, const struct substitution *s, const struct expr_node *n)
{
    expr a = substitution_apply(p, s, n->a);
    switch ((enum expr_kind)n->kind) {
    case EXPR_INDEX_ADD:
        return pool_index_add(p, a, substitution_apply(p, s, n->b));
    case EXPR_INDEX_MUL:
        return pool_index_mul(p, a, n->value);
    case EXPR_INDEX_DIV:
        return pool_index_div(p, a, n->value);
    case EXPR_INDEX_MOD:
        return pool_index_mod(p, a, n->value);
    default:
        return pool_index_of(p, a);
    }
}

static expr substitute_select(struct pool *p, const struct substitution *s, const struct expr_node *n)
{
    expr index = substitution_apply(p, s, n->a), one = substitution_apply(p, s, n->b);
    return pool_select(p, index, one, substitution_apply(p, s, n->c));
}

expr substitution_apply(struct pool *p, const struct substitution *s, expr e)
{
    const struct expr_node n = p->d.nodes.items[e];   // nodes may move
    for (int i = 0; i < s->n_parts; i++)
        if (s->parts[i].part == e)
            return s->parts[i].by;
    switch ((enum expr_kind)n.kind) {
    case EXPR_INTEGER:
    case EXPR_REAL:
        return e;
    case EXPR_VARIABLE:
        return replace_variable(p, s, (uint32_t)n.value);
    case EXPR_READ:
        return substitute_read(p, s, &n);
    case EXPR_APPLY:
        return substitute_apply(p, s, &n);
    case EXPR_SELECT:
        return substitute_select(p, s, &n);
    case EXPR_REDUCE:
        return pool_reduce(p, (enum scalar_function)n.fn, (uint32_t)n.value, substitution_apply(p, s, n.a));
    case EXPR_SCALAR_OF:
        return pool_scalar_of(p, substitution_apply(p, s, n.a));
    default:
        return substitute_index(p, s, &n);
    }
}
