// Boundary relaxing of a sum (EinNet, Table 1): more terms, all of them 0.
//
//     L x sum y < Y f(x,y)   =   L x sum y < Y' f(x,y)
//
// Requirement: for all y from Y to Y' - 1 a factor of f is 0, because it is a read whose index is outside of its tensor
// whatever the other iterators are. That read is 0 outside from then on.
#pragma once
#include "derivation/scopes/scope.h"

// Changes a scope that was taken apart: the sum of this place gets this extent. False: the requirement is not met.
bool rule_relax_sum(struct pool *p, struct scope *s, int sum, int64_t extent);
