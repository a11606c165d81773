// The requirements of a substitution of sums, and the scope that it makes.
#include "derivation/rules/substitute_sums.h"

#include "derivation/scopes/substitution.h"
#include "expressions/affine.h"

static bool stays_inside(const struct pool *p, const struct sum_substitution *by)
{
    return ALL(int, i, by->n_new, index_stays_inside(&p->d, by->new_by_old[i], variable_extent(p, by->new[i])));
}

static bool gives_old_back(struct pool *p, const struct sum_substitution *by)
{
    struct substitution phi = {0};
    for (int i = 0; i < by->n_new; i++)
        substitution_add(&phi, by->new[i], by->new_by_old[i]);
    return ALL(int, i, by->n_old, substitution_apply(p, &phi, by->old_by_new[i]) == pool_variable(p, by->old[i]));
}

static bool has_as_many(const struct pool *p, const struct sum_substitution *by)
{
    int64_t old = 1, new = 1;
    for (int i = 0; i < by->n_old; i++)
        old = index_saturated_product(old, variable_extent(p, by->old[i]));
    for (int i = 0; i < by->n_new; i++)
        new = index_saturated_product(new, variable_extent(p, by->new[i]));
    return old == new &&old < INDEX_UNBOUNDED;
}

// False: what is to be replaced is no sum of the scope, or there are too many.
static bool exchange_sums(const struct pool *p, struct scope *s, const struct sum_substitution *by)
{
    for (int i = 0; i < by->n_old; i++) {
        int place = PLACE_OF(int, k, s->n_sums, s->sums[k] == by->old[i]);
        if (place < 0)
            return false;
        s->sums[place] = s->sums[--s->n_sums];
    }
    if (s->n_sums + by->n_new > MOST_SUMS)
        return false;
    for (int i = 0; i < by->n_new; i++)
        if (variable_extent(p, by->new[i]) > 1)
            s->sums[s->n_sums++] = by->new[i];
    return true;
}

bool rule_substitute_sums(struct pool *p, struct scope *s, const struct sum_substitution *by)
{
    struct substitution psi = {0};
    if (!stays_inside(p, by) || !gives_old_back(p, by) || !has_as_many(p, by) || !exchange_sums(p, s, by))
        return false;
    for (int i = 0; i < by->n_old; i++)
        substitution_add(&psi, by->old[i], by->old_by_new[i]);
    scope_substitute(p, s, &psi);
    return true;
}
