// Variable substitution, with boundary relaxing (EinNet, Table 1): a scope over other axes, and a read of it.
//
//     L x in X f(x)   =   L x in X { L y in Y f(psi(y)) } [phi(x)]
//
// Requirements, checked by the normal form of indices and their ranges:
//     phi(x) is in Y for all x in X
//     psi(phi(x)) = x for all x in X, so that phi is one to one; entries of Y that it does not reach are relaxed:
//     nobody reads them, and reads of f that leave their tensor there are 0
#pragma once
#include "derivation/scopes/scope.h"

struct axis_substitution {
    struct type type;            // Y
    expr old_by_new[MAX_RANK];   // psi: each old axis, in variables of Y's axes (pool_axes)
    expr new_by_old[MAX_RANK];   // phi: each new axis, in variables of X's axes
};
// Gives the scope that is read, of one that was taken apart: its tensor, if that is made, stands for the old one as
// scope_copy(p, old type, tensor, by->new_by_old). False: a requirement is not met.
bool rule_substitute_axes(struct pool *p, struct scope *s, const struct axis_substitution *by);
