// Bilinear factorization: where two operands meet at few places, fewer products of sums of their entries are enough.
//
//     L x sum y,z f(x,y) X[.. w(z) ..] K[.. r(z) ..]   =   L x sum_p A[t(z),p] { L x,p sum y f(x,y) U[..,p] V[..,p] }
//     U[..,p] = sum_w B[p,w] X[.. w ..]     V[..,p] = sum_r C[p,r] / divisor K[.. r ..]
//
// (bilinear.h; z are iterators of x or sums).
//
// Requirements:
//     A, B and C are what the table says, which is checked in rationals
//     the iterators z have the algorithm's extents; those of its result are axes, the others sums, and no guard has one
//     X at the places that w tells is X, and K at those that r tells is K, by the normal form of indices
#pragma once
#include "derivation/rules/bilinear.h"
#include "derivation/scopes/scope.h"

struct factorization {
    const struct bilinear *algorithm;
    uint32_t iterators[MOST_STRUCTURE];   // variables of the scope
    int first;                            // the place of X among its two reads
};
// A tensor with the entries of a scope that was taken apart. NO_SCOPE: a requirement is not met, or there are too many
// axes.
int rule_factorize(struct pool *p, const struct scope *s, const struct factorization *by);
