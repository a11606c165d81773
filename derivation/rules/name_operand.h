// A factor becomes a tensor of its own, laid out as its reader likes it: what operator matching asks for (EinNet, 5.1).
//
//     L x sum y [g] T[tau(x,y)] h(x,y)   =   L x sum y { L z [g'] T[psi(z)] } [phi(x,y)] h(x,y)
//
// Requirements, checked by the normal form of indices:
//     psi(phi(x,y)) = tau(x,y), and g'(phi(x,y)) = g(x,y) for each of the guards
//     phi stays inside of the new tensor, but on axes that are axes of T itself, of the same size: there both are 0
#pragma once
#include "derivation/scopes/scope.h"

struct named_operand {
    struct type type;                 // of the new tensor
    expr read_at[MAX_RANK];           // phi: an index for each of its axes
    expr entry_of[MAX_RANK];          // psi: an index for each axis of T, in variables of the new axes
    unsigned guards;                  // those of the scope that the operand takes, one bit each
    expr entry_guards[MOST_GUARDS];   // g' of those, in variables of the new axes
};
// Names the operand that is read at this place of a scope that was taken apart. False: a requirement is not met.
bool rule_name_operand(struct pool *p, struct scope *s, int read, const struct named_operand *as);
