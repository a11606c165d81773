// Definitions as text, complete: types and formulas.
//
//     x0 f32[2,3]
//     x1 f32[3,4]
//     z[i,j] f32[2,4] = sum(k < 3) (x0[i,k] * x1[k,j])
//
// A line is an input (x0, x1, ... in order) or a stage: an output (z, or z0, z1, ...) or a tensor in between, t and the
// number of the stage. It gives the element type, the size of each axis, and, of a stage, the value of each entry:
//
//     scalar    1.5   x0[index,...]   x0[index or 0]   x0[index or lowest]   f(scalar,...)   scalar(index)
//               scalar + scalar   - * /   sum(k < 3) scalar   product max min   if index >= 0 then scalar else scalar
//     index     7   i   index + index   index - index   index * 7   index / 7   index mod 7   index(scalar)
//
// Variables are single letters, or a letter and a number, and have one range in the whole text. Signs bind as
// usual; what follows `sum(...)`, `then` and `else` is one operand.
#pragma once
#include "expressions/definition.h"

void definition_print(struct text *out, const struct definition *d, const char *const *input_names);   // formulas alone
void definition_print_typed(struct text *out, const struct definition *d);
