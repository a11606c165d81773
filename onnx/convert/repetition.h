// Constants that say the same many times: an expanded vector, or what is computed of one, entry by entry.
#pragma once
#include "onnx/convert/importer.h"

// Has a constant more entries than all weights that it is computed of? And are all of these moved entries of the
// weights?
bool constant_grows(const struct graph *g, tensor_id tensor, bool *ret_is_moved);
// Moves what is left to the front where all entries along some axes are the same: of a type that is broadcast to the
// former one. False: there are none, and the elements stay where they are.
bool elements_without_repetition(const struct type *type, void *data, struct type *ret_type);
