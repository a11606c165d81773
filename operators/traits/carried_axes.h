// Is an operator the same at other ranks and sizes, as theorems assume (docs/theory/soundness.md)?
#pragma once
#include "operators/operator.h"

struct arena;
// Axes that the operator does not name, by the roles of its attributes and its traits (operators/traits.h): at each
// place of one it is what it is of tensors without the axis. Tried with numbers, at places of each such axis.
// `call` is the application, whose attributes are explicit, that `d` defines.
bool operator_carries_axes(const struct definition *d, const struct operator_call *call, struct arena *scratch);
// Does it apply the same functions when all sizes are larger? True where it is of no larger ones, or an axis has one
// place.
bool operator_keeps_functions(const struct definition *d, const struct operator_call *call, struct arena *scratch);
