// Equality of what is one formula at all places (T13 of docs/theory/soundness.md), by more laws than normal forms know,
// and by cases: where a maximum says which of two is the greater one, each may be.
//
// Normal forms know that relu x is max(x, 0), and nothing of what relu(x + relu x) is. Here the difference of the
// members of a maximum is taken to be positive or zero, then negative or zero, and every maximum whose members differ
// by a multiple of it is what it is then. Two polynomials that are equal in all cases have equal values everywhere;
// where they are not, nothing is said.
#pragma once
#include "verifier/polynomials/polynomial.h"

bool signs_make_equal(struct polynomial_pool *p, polynomial a, polynomial b);
