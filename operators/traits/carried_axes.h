// Is an operator the same at other ranks, as proofs assume (docs/theory/symbolic.md, A1)?
#pragma once
#include "operators/operator.h"

// Axes that the operator does not name, by the roles of its attributes and its traits (operators/traits.h): at each
// place of one it is what it is of tensors without the axis. Tried with numbers, at places of each such axis.
// `call` is the application, whose attributes are explicit, that `d` defines.
bool operator_carries_axes(const struct definition *d, const struct operator_call *call, struct arena *scratch);
// Does it take tensors that have such an axis twice, one beside the other?
bool operator_takes_axes_twice(const struct definition *d, const struct operator_call *call, struct arena *scratch);
