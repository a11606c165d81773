// Operators are taken, by the roles of their attributes and by what they sum over, for ones that join, cut, reduce,
// have windows, or multiply matrices. What proofs know of axes then is what such a one in operators/ does with them.
#pragma once
#include "operators/operator.h"

struct arena;
// `call` is the application, whose attributes are explicit, that `d` defines. NULL: it is of no such kind.
const struct operator* operator_reference(const struct definition *d, const struct operator_call *call);
// Is the reference well-typed, of the first inputs and the attributes of the same roles, with results of their sizes?
// Poolings may be of windows that a maximum refuses, as they stand beside the image.
bool operator_is_typed_like(const struct operator* reference, const struct operator_call *call, struct arena *scratch);
