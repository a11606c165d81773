// The guard is one remainder with a negative factor, and at most a number that is smaller than the factor.
#include "derivation/rules/solve_sum.h"

#include "derivation/scopes/substitution.h"
#include "expressions/affine.h"
#include <string.h>

bool guard_of_remainder(const struct pool *p, expr guard, expr *ret_index, int64_t *ret_divisor)
{
    struct affine_form f;
    if (!affine_form_of(&p->d, guard, &f) || f.n != 1 || f.base < 0 || f.terms[0].factor >= -f.base)
        return false;
    const struct expr_node *n = &p->d.nodes.items[f.terms[0].atom];
    *ret_index = n->a;
    *ret_divisor = n->value;
    return n->kind == EXPR_INDEX_MOD;
}

// index = rest + factor * sum, where the rest does not mention the sum and the factor is 1 or -1.
static bool part_from_sum(struct pool *p, expr index, uint32_t sum, expr *ret_rest, int64_t *ret_factor)
{
    struct affine_form f;
    expr variable = pool_variable(p, sum);
    *ret_factor = 0;
    for (int i = 0; affine_form_of(&p->d, index, &f) && i < f.n; i++)
        if (f.terms[i].atom == variable)
            *ret_factor = f.terms[i].factor;
    *ret_rest = pool_index_add(p, index, pool_index_mul(p, variable, -*ret_factor));
    return (*ret_factor == 1 || *ret_factor == -1) && !expr_mentions(p, *ret_rest, sum);
}

// The number n by the new sum, written so that index becomes the divisor times something: n is that less the rest.
static expr solution(struct pool *p, expr which, int64_t extent, int64_t divisor, expr rest, int64_t factor)
{
    expr phase = pool_index_mod(p, rest, divisor);
    expr whole = pool_index_mul(p, which, factor * divisor);
    int64_t from = factor > 0 ? 0 : extent - divisor;
    if (factor > 0) {
        expr up = pool_index_div(p, pool_index_add(p, rest, pool_integer(p, divisor - 1)), divisor);
        phase = pool_index_add(p, pool_index_mul(p, up, divisor), pool_index_mul(p, rest, -1));
    }
    return pool_index_add(p, pool_index_add(p, whole, pool_integer(p, from)), phase);
}

bool rule_solve_sum(struct pool *p, struct scope *s, int sum, int guard)
{
    struct substitution by = {0};
    expr index, rest;
    int64_t divisor, factor;
    if (sum >= s->n_sums || guard >= s->n_guards || !guard_of_remainder(p, s->guards[guard], &index, &divisor) ||
        !part_from_sum(p, index, s->sums[sum], &rest, &factor))
        return false;
    int64_t extent = variable_extent(p, s->sums[sum]);
    if (extent % divisor != 0)
        return false;
    uint32_t which = scope_new_sum(p, s, extent / divisor);
    substitution_add(&by, s->sums[sum], solution(p, pool_variable(p, which), extent, divisor, rest, factor));
    memmove(&s->guards[guard], &s->guards[guard + 1], (size_t)(--s->n_guards - guard) * sizeof *s->guards);
    if (extent > divisor)
        s->sums[sum] = which;
    else
        s->sums[sum] = s->sums[--s->n_sums];
    scope_substitute(p, s, &by);
    return true;
}
