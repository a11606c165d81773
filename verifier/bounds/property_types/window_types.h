// Are both sides of a property well-typed together, and of equal sizes, whatever strides, pads, dilations and kernels
// are?
//
// Tests try small ones. What operators of windows ask of types is written down as polynomials of sizes and attributes
// instead: a window fits when its room is at least 0. What one side asks for must follow from what the other side and
// the guards do (docs/theory/bounds.md, section 3).
#pragma once
#include "verifier/instances/equation.h"
#include "verifier/polynomials/polynomial.h"

// Why that is not argued; NULL: it is, or the equation is none of windows. Clears the pool.
const char *window_types_find_doubt(const struct equation *eq, struct polynomial_pool *pool);
