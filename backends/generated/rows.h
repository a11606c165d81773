// Loops of a step as one kernel: element-wise chains, and reductions along rows with all that stands before and behind
// them (softmax, normalizations), row by row, so that what is between stays in the nearest cache.
//
// A text knows the form of the loops alone: their code, and which entries lie side by side. Sizes and distances are
// numbers that it is told, so that steps of one form share a kernel.
//
// Functions are those of vector_text.h.
#pragma once
#include "backends/planning/plan.h"
#include <stdbool.h>
#include <stdint.h>

struct rows_kernel {
    struct words numbers;
    VEC(struct loop_access) accesses;   // addresses that it is given, in this order
};
// Defines NAMED(run) (run.h), given addresses and numbers, for vectors of so many lanes. False: the loops are not of
// this form; then what the text and the kernel have is of no use. The kernel is freed by rows_kernel_free either way.
bool rows_print(struct text *text, const struct step *step, int lanes, struct rows_kernel *ret_kernel);
void rows_kernel_free(struct rows_kernel *k);
