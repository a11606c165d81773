// A remainder whose last values leave nothing, as where reshaping shifts the rows of a band: it begins anew only there,
// so that the quotient is one of iterators.
//
//     f(e div d, e mod d)   =   [r >= 0] f(q, r)        e = d q + r,  l - d < r < d
//
// Requirements: r is in its bounds for all values of the iterators, and f is 0 where the remainder is above l. So it is
// where an index is outside, the remainder or a quotient of it; l is the last multiple of n where a guard leaves these
// alone. Where r is not negative it is the remainder, and q the quotient; where it is, the remainder is r + d, above l.
#pragma once
#include "derivation/scopes/scope.h"

// Changes a scope that was taken apart. False: a requirement is not met.
bool rule_unwrap(struct pool *p, struct scope *s, expr remainder);
