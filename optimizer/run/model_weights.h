// The weights of an imported model, for backends and for graphs that were made from it.
#pragma once
#include "backends/contract/backend.h"
#include "onnx/convert/imported_model.h"

// The types of all weights that the live part of `g` reads, indexed as their leaves are; others are empty. `g` is the
// model's graph or one made from it by rewriting. Memory is the model's arena. A backend with this source takes the
// values from the model while it needs them.
const struct tensor_value *model_list_weights(struct imported_model *m, const struct graph *g);
struct weight_source model_weight_source(struct imported_model *m);
