// One stage of a definition as a kernel: a sum of products of entries, 0 where a guard does not hold or an index leaves
// its tensor, or the relu of all that.
//
//     rows of the result, cut among threads, each by phases of its last axis in memory: at q it stands at D q + phase,
//     with D so that quotients and remainders of that are linear in q. Guards and bounds are an interval of q, for each
//     term of the sum, in which products are added to the row, entry by entry, without any branch.
//
// A text has all sizes in it. Tensors are of f32; the result fills its memory.
#pragma once
#include "expressions/definition.h"

// Defines NAMED(run) (run.h), given the addresses of all inputs, and the result. `strides`: of each input, and of the
// result behind them, how far neighbours on each axis are apart, in entries; NULL, for one or all: row by row. False:
// the definition is not of this form, or its rows are too long and cannot be cut.
bool stage_kernel_print(struct text *text, const struct definition *d, const int64_t *const *strides,
                        struct arena *scratch);
