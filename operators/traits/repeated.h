// What it comes to to apply an operator of one input again to what it makes.
#pragma once
#include "operators/operator.h"

struct arena;

// TRAIT_IDEMPOTENT and TRAIT_INVOLUTION (operators/traits.h), as far as the call, a valid one that goes entry by entry,
// has them with its attributes and element type at numbers of all kinds.
unsigned operator_repeated_traits(const struct operator_call *call, struct arena *arena);
