// A sum of which a guard leaves one term in so many, as each phase of a transposed convolution has: a sum over these.
//
//     L x sum y, n < N  [(e + n) mod d = 0] f(n)   =   L x sum y, a < N / d  f(d a + (-e) mod d)
//     L x sum y, n < N  [(e - n) mod d = 0] f(n)   =   L x sum y, a < N / d  f(N - d - d a + e mod d)
//
// Requirements: the guard says that what is divided leaves 0, d divides N, and e does not mention n. Each n is d a + r
// with one a and one r < d, and of these r one leaves 0. In the second form a runs the other way, so that what is read
// at -n is read at a.
#pragma once
#include "derivation/scopes/scope.h"

// Changes a scope that was taken apart: the sum and the guard of these places. False: a requirement is not met.
bool rule_solve_sum(struct pool *p, struct scope *s, int sum, int guard);
// The divisor of a guard that says that a remainder is 0, and what is divided. False: it says something else.
bool guard_of_remainder(const struct pool *p, expr guard, expr *ret_index, int64_t *ret_divisor);
