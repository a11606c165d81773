// The forms of places at which operators read that are the same at all sizes.
//
//     whole axis       i, or the variable of a sum over the axis; 0, on an axis of one place
//     window           i * stride + r * dilation - pad, of an axis of the image
//     part             i + sizes of the parts before;  i - sizes of the inputs before, where i is compared with those
//     groups           f / (F / G) * (C / G) + c, of channels;  c - (f / (F / G)) mod count * C, of a merged kernel
//     middle           i - (R' - R) / 2, of an enlarged kernel
//     view             all entries in their order: those of an operator that is flagged as one
// And two indices may be compared for equality, or one with the middle of an axis.
#pragma once
#include "operators/operator.h"

// `call` is the application that `d` defines, with what was left to the input types made explicit.
bool index_forms_are_plain(const struct definition *d, const struct operator_call *call);
