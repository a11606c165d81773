// Is an operator the same at larger sizes, as proofs assume (docs/theory/symbolic.md, A1)? All axes are made larger,
// and those of one size alone, where the inputs still fit then.
#pragma once
#include "operators/operator.h"

// `call` is the application, whose attributes are explicit, that `d` defines.
bool operator_keeps_functions(const struct definition *d, const struct operator_call *call, struct arena *scratch);
// Numbers that depend on sizes are counted where they divide the sum over as many places, as in a mean. Are there no
// others? What places of windows are counted by is a number of attributes.
bool operator_keeps_numbers(const struct definition *d, const struct operator_call *call, struct arena *scratch);
// Does it take inputs all of whose sizes are larger, up to a thousand times?
bool operator_takes_larger(const struct operator_call *call, struct arena *scratch);
