// Adding zeros, or multiplying by ones, changes nothing: one model may have such constants where another has none.
#pragma once
#include "compare/constants.h"

// Unites what such an application makes with what it leaves as it is. Only constants that are exactly these numbers
// count, and that stand so in a model or were moved at most. Needs a clean e-graph, and leaves one. False: nothing was
// united.
bool neutral_join(const struct constants *k);
