// Arithmetic of shapes that is one function of all sizes.
#pragma once
#include "onnx/convert/symbolic/lockstep.h"

// Is what the node at hand makes of known values the same function of the symbols at all bindings?
bool is_arithmetic_of_shapes(struct lockstep *l);
bool makes_integers(const struct lockstep *l);   // its first output
// Is this, by its values at the probes, a function of the symbols that is below zero at no sizes?
bool is_never_negative(struct lockstep *l, const int64_t *at);
