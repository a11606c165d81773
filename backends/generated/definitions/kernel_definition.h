// Kernels from an operator's definition: one for each stage, one thread for each of its entries.
#pragma once
#include "backends/generated/kernels.h"

// The definition of the operator that a step serves, over operands and results that stand in any way, with the step's
// epilogue. False: an element type without numbers, or too many tensors.
bool kernels_from_definition(const struct definition *d, const struct step *step, const char *prelude,
                             struct arena *arena, struct generated_kernels *ret_kernels);
// Are its values reals of single precision (so that epilogues can follow)?
bool definition_is_in_single_precision(const struct definition *d);
