// Boundary tightening (EinNet, Table 1): a scope without borders that are 0, which become a matter of its reads.
//
//     L x in X f(x)   =   L x in X { L x' in X' f(x' + low) } [x - low or 0]
//
// Requirement: for each x of an axis that X' leaves out a factor of f is 0, whatever the other iterators are: a guard
// is negative, or a read is outside of its tensor.
#pragma once
#include "derivation/scopes/scope.h"

enum { LONGEST_TIGHTENED = 4096 };   // axes beyond are left as they are
struct bounds {
    int64_t low[MAX_RANK], high[MAX_RANK];   // what stays of each axis: low <= x < high
};
// The tightest ones. False: nothing can be left out, or everything.
bool tightest_bounds(struct pool *p, const struct scope *s, struct bounds *ret_bounds);
// NO_SCOPE: the requirement is not met.
int rule_tighten(struct pool *p, int tensor, const struct bounds *to);
