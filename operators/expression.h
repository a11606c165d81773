// An operator that nobody wrote down, as attributes: the one stage of a definition as a list of integers, in prefix
// order. What does not read as one expression, or has indices out of all bounds, is refused.
//
//     index     0 value | 1 variable | 2 index index (sum) | 3 factor index | 4 divisor index | 5 divisor index (mod)
//     scalar    6 bits of a double | 7 input index ... (one for each axis; 0 outside) | 8 function scalar ...
//               9 function extent scalar (reduction) | 10 index scalar scalar (the first where it is not negative)
//
// Variables are the axes of the result in order, then those of the reductions around the place, the outermost first.
// Functions are numbered as in functions.def; of reductions they are add and mul, max and min.
#pragma once
#include "operators/operator.h"

// The attributes of an `expression` whose inputs are these tensors of `d`, and that computes what one of its stages
// does, allocated in `a`. False: it reads others, or is the lowest value outside of one, has indices made of data, or
// not one floating-point type.
bool expression_attributes(const struct definition *d, int tensor, int n_inputs, const int *inputs, struct arena *a,
                           struct attribute_value ret_values[MAX_ATTRIBUTES]);
