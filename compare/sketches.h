// Sketches of constants: a few entries of each, at places that depend on its type alone. An entry of what rules made is
// worked out by itself, from the weights that it depends on, so that most constants, which equal no other one, never
// have to be computed. A sketch is a hint and proves nothing.
#pragma once
#include "compare/constants.h"

#define SKETCH_ENTRIES 8

// SKETCH_ENTRIES numbers of the class of an e-node with floating-point ones. NULL: that takes too much.
const double *constant_sketch(struct constants *k, enode_id n);
// What computing all entries of a class of floating-point numbers takes, as operations; infinity: it has no meaning.
double constant_cost(struct constants *k, eclass_id c);
// Could two constants of one type be equal, but for rounding?
bool sketches_are_near(const struct type *type, const double *a, const double *b);
// Could a constant with this sketch be the part of a known one somewhere on an axis?
bool sketch_is_of_part(const struct type *part, const double *sketch, const struct tensor_value *whole, int axis);
