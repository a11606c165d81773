// Substitutions of axes that index functions suggest: all are quotients and remainders of an index.
//
//     u = index div divisor,  w = index mod divisor        where the index is  axis + rest of other axes
//
// take the place of the axis: of divisor 1, the axis is skewed by the rest (h + r); of rest 0, it is parted in tiles of
// the divisor; of both, it is the input's place and phase in a transposed convolution.
#pragma once
#include "derivation/rules/substitute_axes.h"

struct quotient {
    int axis;
    expr index;   // in variables of the scope's axes; the axis itself occurs in it once, with factor 1
    int64_t divisor;
};
// Several at once: no axis of one of them occurs in another. False: it does, there are too many axes, or an index is no
// sum of axes.
bool quotients_substitution(struct pool *p, const struct scope *s, const struct quotient *quotients, int n,
                            struct axis_substitution *ret_substitution);
