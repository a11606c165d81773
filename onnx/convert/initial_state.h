// A recurrence begins at zero where nothing else is said: an initial state of zeros may be left out.
#pragma once
#include "onnx/convert/imported_model.h"

// Is `tensor` of `g`, whose weights are the model's, zero, and does input `place` of the node say where it begins?
bool initial_state_is_zero(struct imported_model *m, const struct graph *g, const struct onnx_node *n, uint32_t place,
                           tensor_id tensor);
