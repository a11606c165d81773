// The places that tensors of an imported graph came from.
#pragma once
#include "onnx/convert/import.h"

// The origin of a tensor with this value key; NULL when it is none of the model's.
const struct imported_origin *imported_model_find_origin(const struct imported_model *m, uint64_t value);
// An output of a node of the model, or a leaf (NO_ORIGIN), unless the value has an origin already.
void origin_remember(struct imported_model *m, tensor_id tensor, const char *name, uint32_t node, uint32_t output);
