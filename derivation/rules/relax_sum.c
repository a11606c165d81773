// The terms that come in are looked at by an iterator of their own.
#include "derivation/rules/relax_sum.h"

#include "derivation/scopes/substitution.h"

static bool is_zero_beyond(struct pool *p, struct scope *s, uint32_t sum, int64_t added)
{
    expr fresh = pool_variable(p, scope_new_sum(p, s, added));
    struct substitution beyond = {0};
    substitution_add(&beyond, sum, pool_index_add(p, fresh, pool_integer(p, variable_extent(p, sum))));
    return ANY(int, i, s->n_reads, read_is_outside(p, substitution_apply(p, &beyond, s->reads[i])));
}

bool rule_relax_sum(struct pool *p, struct scope *s, int sum, int64_t extent)
{
    struct substitution wider = {0};
    int64_t added = sum < s->n_sums ? extent - variable_extent(p, s->sums[sum]) : 0;
    if (added <= 0 || !is_zero_beyond(p, s, s->sums[sum], added))
        return false;
    uint32_t relaxed = scope_new_sum(p, s, extent);
    substitution_add(&wider, s->sums[sum], pool_variable(p, relaxed));
    s->sums[sum] = relaxed;
    scope_substitute(p, s, &wider);
    return true;
}
