// Laws of exponentials and logarithms, for equations that are one formula at all places (T13 of
// docs/theory/soundness.md): e^x e^y = e^(x + y), 1 / e^x = e^-x, log(e^x + e^y) = x + log(1 + e^(y - x)).
#pragma once
#include "verifier/polynomials/polynomial.h"

// The same with at most one exponential in each of its products.
polynomial exponentials_merge(struct polynomial_pool *p, polynomial a);
// The logarithm of what has been merged. Of a sum of exponentials the one is taken out that leaves the polynomial of
// the lowest number, so that it does not matter which one was taken out before.
polynomial exponentials_logarithm(struct polynomial_pool *p, polynomial a);
