// Factors of the inner scope, at the indices of the read.
#include "derivation/rules/merge_scopes.h"

#include "derivation/scopes/substitution.h"
#include "expressions/affine.h"

static bool add_guard(struct scope *s, expr guard)
{
    if (s->n_guards == MOST_GUARDS)
        return false;
    s->guards[s->n_guards++] = guard;
    return true;
}

static bool add_bracket(struct pool *p, struct scope *s, expr index, int64_t size)
{
    if (index_stays_inside(&p->d, index, size))
        return true;
    expr to_end = pool_index_add(p, pool_index_mul(p, index, -1), pool_integer(p, size - 1));
    return add_guard(s, index) && add_guard(s, to_end);
}

static bool add_sums(struct pool *p, struct scope *s, const struct scope *inner, struct substitution *phi)
{
    for (int i = 0; i < inner->n_sums; i++) {
        uint32_t sum = scope_new_sum(p, s, variable_extent(p, inner->sums[i]));
        if (s->n_sums == MOST_SUMS)
            return false;
        s->sums[s->n_sums++] = sum;
        substitution_add(phi, inner->sums[i], pool_variable(p, sum));
    }
    return true;
}

static bool add_factors(struct pool *p, struct scope *s, const struct scope *inner, const struct substitution *phi)
{
    if (s->n_reads + inner->n_reads > MOST_READS)
        return false;
    for (int i = 0; i < inner->n_reads; i++)
        s->reads[s->n_reads++] = substitution_apply(p, phi, inner->reads[i]);
    for (int i = 0; i < inner->n_guards; i++)
        if (!add_guard(s, substitution_apply(p, phi, inner->guards[i])))
            return false;
    s->factor *= inner->factor;
    s->divisor *= inner->divisor;
    return inner->factor == 1 && inner->divisor == 1;
}

int rule_merge_scopes(struct pool *p, int tensor, int read)
{
    struct scope s, inner;
    struct substitution phi = {0};
    if (!scope_take(p, tensor, &s) || read >= s.n_reads || !scope_take(p, read_tensor_of(p, s.reads[read]), &inner))
        return NO_SCOPE;
    expr merged = s.reads[read];
    s.reads[read] = s.reads[--s.n_reads];
    for (int axis = 0; axis < inner.type.rank; axis++) {
        expr index = read_indices(p, merged)[axis];
        substitution_add(&phi, inner.first_axis + (uint32_t)axis, index);
        if (!add_bracket(p, &s, index, inner.type.dim[axis]))
            return NO_SCOPE;
    }
    return !add_sums(p, &s, &inner, &phi) || !add_factors(p, &s, &inner, &phi) ? NO_SCOPE : scope_make(p, &s);
}
