// Summation splitting (EinNet, Table 1): a part of a sum becomes a scope of its own.
//
//     L x sum y,z f(x,y,z) g(x,y)   =   L x sum y g(x,y) { L x,y sum z f(x,y,z) } [x,y]
//
// Requirements: none, as sums of finitely many reals may be taken in any order and distribute over factors without z.
// Axes of which the inner scope knows nothing are not among its own.
#pragma once
#include "derivation/scopes/scope.h"

// The sums of `inner`, one bit each in the order of scope_take, become the inner scope. NO_SCOPE: none of the sums or
// all are inner, or the inner scope has more axes than tensors have.
int rule_split_sum(struct pool *p, int tensor, unsigned inner);
