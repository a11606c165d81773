// Applications of an operator of one input to its own result.
#pragma once
#include "operators/operator.h"

// TRAIT_IDEMPOTENT and TRAIT_INVOLUTION (operators/traits.h), as far as the call, a valid one that goes entry by entry,
// has them with its attributes and element type at numbers of all kinds.
unsigned operator_repeated_traits(const struct operator_call *call, struct arena *arena);
