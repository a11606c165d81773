// The requirements of a substitution, and the scope that it makes.
#include "derivation/rules/substitute_axes.h"

#include "derivation/scopes/substitution.h"
#include "expressions/affine.h"

static bool stays_inside(const struct pool *p, const struct axis_substitution *by)
{
    return ALL(int, i, by->type.rank, index_stays_inside(&p->d, by->new_by_old[i], by->type.dim[i]));
}

static bool gives_old_axes_back(struct pool *p, const struct scope *s, const struct axis_substitution *by)
{
    struct substitution phi = {0};
    uint32_t first = pool_axes(p, &by->type);
    for (int i = 0; i < by->type.rank; i++)
        substitution_add(&phi, first + (uint32_t)i, by->new_by_old[i]);
    return ALL(int, i, s->type.rank, substitution_apply(p, &phi, by->old_by_new[i]) == scope_axis(p, s, i));
}

bool rule_substitute_axes(struct pool *p, struct scope *s, const struct axis_substitution *by)
{
    struct substitution psi = {0};
    if (!stays_inside(p, by) || !gives_old_axes_back(p, s, by))
        return false;
    for (int i = 0; i < s->type.rank; i++)
        substitution_add(&psi, s->first_axis + (uint32_t)i, by->old_by_new[i]);
    s->type = by->type;
    s->first_axis = pool_axes(p, &by->type);
    scope_substitute(p, s, &psi);
    return true;
}
