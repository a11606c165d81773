// Is what a side computes a product of what each axis contributes, so that axes are argued for one by one
// (docs/theory/bounds.md, sections 2.1 and 2.3)? The text of an equation says so.
#pragma once
#include "verifier/instances/equation.h"

// May a coefficient of a side be no product of what each axis contributes? A variable may be read in two ways, numbers
// be computed of constants, or 0 be one of several things where windows stand beside the image on either axis.
bool equation_is_no_product(const struct equation *eq);
