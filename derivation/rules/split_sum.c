// The inner scope takes guards and all reads that mention its sums.
#include "derivation/rules/split_sum.h"

#include "derivation/scopes/substitution.h"

// The outer iterators that are axes of the inner scope.
struct boundary {
    int rank;
    uint32_t variables[MAX_RANK];
    struct type type;
};

static bool is_in(unsigned set, int i)
{
    return set >> i & 1;
}

static bool mentions_inner(const struct pool *p, const struct scope *s, unsigned inner, expr e)
{
    return ANY(int, i, s->n_sums, is_in(inner, i) && expr_mentions(p, e, s->sums[i]));
}

static void part_factors(const struct pool *p, const struct scope *s, unsigned inner, struct scope *outer,
                         struct scope *within)
{
    outer->n_reads = outer->n_guards = within->n_reads = 0;
    for (int i = 0; i < s->n_reads; i++) {
        struct scope *to = mentions_inner(p, s, inner, s->reads[i]) ? within : outer;
        to->reads[to->n_reads++] = s->reads[i];
    }
    within->factor = within->divisor = 1;
}

static bool add_boundary(const struct pool *p, const struct scope *within, uint32_t variable, struct boundary *b)
{
    if (!scope_mentions(p, within, variable))
        return true;
    if (b->rank == MAX_RANK)
        return false;
    b->type.dim[b->rank] = variable_extent(p, variable);
    b->variables[b->rank++] = variable;
    return true;
}

static void part_sums(const struct scope *s, unsigned inner, struct scope *outer, struct scope *within)
{
    outer->n_sums = within->n_sums = 0;
    for (int i = 0; i < s->n_sums; i++) {
        struct scope *to = is_in(inner, i) ? within : outer;
        to->sums[to->n_sums++] = s->sums[i];
    }
}

// The entry of the inner scope, over axes of its own.
static int make_inner(struct pool *p, const struct scope *within, struct boundary *b)
{
    struct scope made = *within;
    struct substitution axes = {0};
    b->type = type_make(within->type.dtype, b->rank, b->type.dim);
    made.type = b->type;
    made.first_axis = pool_axes(p, &b->type);
    for (int i = 0; i < b->rank; i++)
        substitution_add(&axes, b->variables[i], scope_axis(p, &made, i));
    scope_substitute(p, &made, &axes);
    return scope_make(p, &made);
}

int rule_split_sum(struct pool *p, int tensor, unsigned inner)
{
    struct scope s, outer, within;
    struct boundary b = {0};
    expr index[MAX_RANK];
    if (!scope_take(p, tensor, &s) || (inner &= (1u << s.n_sums) - 1) == 0 || inner == (1u << s.n_sums) - 1)
        return NO_SCOPE;
    outer = within = s;
    part_sums(&s, inner, &outer, &within);
    part_factors(p, &s, inner, &outer, &within);
    for (int axis = 0; axis < s.type.rank; axis++)
        if (s.type.dim[axis] > 1 && !add_boundary(p, &within, s.first_axis + (uint32_t)axis, &b))
            return NO_SCOPE;
    for (int i = 0; i < outer.n_sums; i++)
        if (!add_boundary(p, &within, outer.sums[i], &b))
            return NO_SCOPE;
    int scope = make_inner(p, &within, &b);
    for (int i = 0; i < b.rank; i++)
        index[i] = pool_variable(p, b.variables[i]);
    if (scope == NO_SCOPE || outer.n_reads == MOST_READS)
        return NO_SCOPE;
    outer.reads[outer.n_reads++] = pool_read(p, scope, index, OUTSIDE_NEVER);
    return scope_make(p, &outer);
}
