// Traversal merging and expression fusion (EinNet, Table 1): a scope is put in the place of its read.
//
//     L x sum y g(x,y) { L z sum w f(z,w) } [phi(x,y)]   =   L x sum y,w g(x,y) [phi(x,y) in Z] f(phi(x,y),w)
//
// Requirements: none, as products distribute over sums; the bracket stands where phi may leave Z, outside of which the
// read is 0. Copies need no rule: whatever is put in place of a tensor is read through (substitution.h).
#pragma once
#include "derivation/scopes/scope.h"

// The read of this place in the order of scope_take. NO_SCOPE: it reads an input or no sum of products, or there are
// too many sums, guards or reads.
int rule_merge_scopes(struct pool *p, int tensor, int read);
