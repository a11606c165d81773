// Substitution: an expression is built again in the pool, with other expressions for its variables and other tensors
// for those that it reads.
#include "expressions/composition/composition.h"

#include <assert.h>

#define MOST_WORK 20000   // expressions put in place; no scope is read into another beyond that

struct substitution {
    struct composition *c;
    const struct definition *from;   // may be the pool's own
    const int *tensors;              // of the pool, for those of `from`; NULL: the same
    expr *variables;                 // what stands for each
    int depth;                       // the number of reductions around
};

void composition_init(struct composition *c, struct arena *arena, int n_inputs, const struct type *inputs)
{
    *c = (struct composition){0};
    pool_init(&c->pool, arena, n_inputs, inputs);
}

void composition_free(struct composition *c)
{
    pool_free(&c->pool);
    arena_free(&c->scratch);
}

static expr substitute(struct substitution *s, expr e);

// --- reads of scopes -------------------------------------------------------------------------------------------------

static void substitution_init(struct substitution *s, struct composition *c, const struct definition *from,
                              const int *tensors, int depth)
{
    *s = (struct substitution){c, from, tensors, arena_array(&c->scratch, expr, from->extents.count + 1), depth};
}

// The scope's expression at these indices, which are inside.
static expr inline_scope(struct composition *c, int tensor, const expr *index, int depth)
{
    const struct stage *scope = &c->pool.d.stages[tensor - c->pool.d.n_inputs];
    ARENA_MARK(mark, &c->scratch);
    struct substitution s;
    substitution_init(&s, c, &c->pool.d, NULL, depth);
    for (int axis = 0; axis < scope->type.rank; axis++)
        s.variables[scope->first_variable + (uint32_t)axis] = index[axis];
    expr body = substitute(&s, scope->body);
    return body;
}

static expr read_tensor(struct composition *c, int tensor, const expr *index, enum outside outside, int depth)
{
    struct pool *p = &c->pool;
    expr read = pool_read(p, tensor, index, outside);
    bool may_be_outside = p->d.nodes.items[read].b != OUTSIDE_NEVER;
    bool is_kept = c->keeps_scopes || c->work >= MOST_WORK || p->d.nodes.items[read].b == OUTSIDE_LOWEST;
    if (tensor < p->d.n_inputs || is_kept)
        return read;
    expr value = inline_scope(c, tensor, index, depth);
    const struct type *type = &p->d.stages[tensor - p->d.n_inputs].type;
    for (int axis = type->rank; may_be_outside && axis-- > 0;)
        value = pool_within(p, index[axis], type->dim[axis], value);
    return value;
}

// --- expressions -----------------------------------------------------------------------------------------------------

static expr substitute_read(struct substitution *s, const struct expr_node *n, expr first)
{
    expr index[MAX_RANK];
    for (int i = 0; i < n->count; i++)
        index[i] = substitute(s, s->from->indices.items[first + (expr)i]);
    int tensor = s->tensors ? s->tensors[n->value] : (int)n->value;
    return read_tensor(s->c, tensor, index, (enum outside)n->b, s->depth);
}

static expr substitute_reduce(struct substitution *s, const struct expr_node *n)
{
    struct pool *p = &s->c->pool;
    expr around = s->variables[n->value];
    uint32_t variable = pool_reduction(p, s->depth, s->from->extents.items[n->value]);
    s->variables[n->value] = pool_variable(p, variable);
    s->depth++;
    expr body = substitute(s, n->a);
    s->depth--;
    s->variables[n->value] = around;
    return pool_reduce(p, (enum scalar_function)n->fn, variable, body);
}

static expr substitute_apply(struct substitution *s, const struct expr_node *n)
{
    expr operands[3] = {0};
    for (int i = 0; i < function_arity((enum scalar_function)n->fn); i++)
        operands[i] = substitute(s, n->operands[i]);
    return pool_apply(&s->c->pool, (enum scalar_function)n->fn, operands[0], operands[1], operands[2]);
}

static expr substitute_select(struct substitution *s, const struct expr_node *n)
{
    expr index = substitute(s, n->a), first = substitute(s, n->b);
    return pool_select(&s->c->pool, index, first, substitute(s, n->c));
}

static expr substitute(struct substitution *s, expr e)
{
    const struct expr_node n = s->from->nodes.items[e];   // the pool's nodes may move
    struct pool *p = &s->c->pool;
    s->c->work++;
    switch ((enum expr_kind)n.kind) {
    case EXPR_INTEGER:
        return pool_integer(p, n.value);
    case EXPR_VARIABLE:
        return s->variables[n.value];
    case EXPR_INDEX_ADD: {
        expr a = substitute(s, n.a);
        return pool_index_add(p, a, substitute(s, n.b));
    }
    case EXPR_INDEX_MUL:
        return pool_index_mul(p, substitute(s, n.a), n.value);
    case EXPR_INDEX_DIV:
        return pool_index_div(p, substitute(s, n.a), n.value);
    case EXPR_INDEX_MOD:
        return pool_index_mod(p, substitute(s, n.a), n.value);
    case EXPR_INDEX_OF:
        return pool_index_of(p, substitute(s, n.a));
    case EXPR_REAL:
        return pool_real(p, n.real);
    case EXPR_READ:
        return substitute_read(s, &n, n.a);
    case EXPR_APPLY:
        return substitute_apply(s, &n);
    case EXPR_REDUCE:
        return substitute_reduce(s, &n);
    case EXPR_SELECT:
        return substitute_select(s, &n);
    case EXPR_SCALAR_OF:
        return pool_scalar_of(p, substitute(s, n.a));
    }
    assert(!"not an expression");
    return 0;
}

// --- scopes ----------------------------------------------------------------------------------------------------------

static int add_scope(struct composition *c, const struct definition *from, const int *tensors,
                     const struct stage *scope)
{
    ARENA_MARK(mark, &c->scratch);
    uint32_t first = pool_axes(&c->pool, &scope->type);
    struct substitution s;
    substitution_init(&s, c, from, tensors, 0);
    for (int axis = 0; axis < scope->type.rank; axis++)
        s.variables[scope->first_variable + (uint32_t)axis] = pool_variable(&c->pool, first + (uint32_t)axis);
    expr body = substitute(&s, scope->body);
    return pool_scope(&c->pool, &scope->type, body);
}

void composition_add(struct composition *c, const struct definition *part, const int *inputs, int *ret_outputs)
{
    LOCAL_ARRAY(int, tensors, part->n_inputs + part->n_stages + 1);
    for (int i = 0; i < part->n_inputs; i++)
        tensors[i] = inputs[i];
    for (int i = 0; i < part->n_stages; i++)
        tensors[part->n_inputs + i] = add_scope(c, part, tensors, &part->stages[i]);
    for (int i = 0; i < part->n_outputs; i++)
        ret_outputs[i] = tensors[part->n_inputs + part->outputs[i]];
}

int composition_scope_of(struct composition *c, int tensor)
{
    struct pool *p = &c->pool;
    const struct type *type = definition_tensor(&p->d, tensor);
    expr index[MAX_RANK];
    if (tensor >= p->d.n_inputs)
        return tensor;
    for (int axis = 0; axis < type->rank; axis++)
        index[axis] = pool_variable(p, pool_axes(p, type) + (uint32_t)axis);
    return pool_scope(p, type, pool_read(p, tensor, index, OUTSIDE_NEVER));
}

// --- extracts --------------------------------------------------------------------------------------------------------

// Which scopes does one need? A read stands behind the scope that it reads, and what a node is made of before it.
static void mark_needed(const struct definition *d, int scope, bool *ret_scopes)
{
    LOCAL_ZEROS(bool, nodes, d->nodes.count + 1);
    ret_scopes[scope] = nodes[d->stages[scope].body] = true;
    for (expr e = (expr)d->nodes.count; e-- > 0;) {
        struct operands below = nodes[e] ? expr_operands(d, e) : (struct operands){0};
        for (uint32_t i = 0; i < below.n; i++)
            nodes[below.items[i]] = true;
        int64_t read = d->nodes.items[e].value - d->n_inputs;
        if (nodes[e] && d->nodes.items[e].kind == EXPR_READ && read >= 0)
            ret_scopes[read] = nodes[d->stages[read].body] = true;
    }
}

static int copy_scope(struct composition *to, const struct definition *d, int scope)
{
    LOCAL_ARRAY(int, there, scope + 1);
    LOCAL_ZEROS(bool, is_needed, d->n_stages);
    mark_needed(d, scope - d->n_inputs, is_needed);
    for (int i = 0; i <= scope; i++)
        if (i < d->n_inputs)
            there[i] = i;
        else if (is_needed[i - d->n_inputs])
            there[i] = add_scope(to, d, there, &d->stages[i - d->n_inputs]);
    return there[scope];
}

void composition_extract(const struct composition *c, int scope, struct definition *ret_definition)
{
    const struct definition *d = &c->pool.d;
    struct composition part FREED_BY(composition_free);
    composition_init(&part, d->arena, d->n_inputs, d->inputs);
    part.keeps_scopes = true;
    part.pool.keeps_conditions = c->pool.keeps_conditions;
    int copy = copy_scope(&part, d, scope);
    *ret_definition = part.pool.d;
    ret_definition->outputs[ret_definition->n_outputs++] = (uint16_t)(copy - d->n_inputs);
    part.pool.d = (struct definition){0};
}
