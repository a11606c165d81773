// Pads behind the last window are read by none: models that differ in them alone are given one application.
#pragma once
#include "operators/operator.h"

// The attributes of the call, a valid one, with the least pads at the ends of a window's axes that define the same
// tensor, in `arena` where some are less.
const struct attribute_value *attributes_without_unread_pads(struct arena *arena, const struct operator_call *call);
