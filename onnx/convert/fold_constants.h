// Computing what depends on weights only, by the reference backend (what the operators' definitions say, every
// intermediate tensor rounded to its element type as a runtime would) or by what the model's owner has put in its
// place.
#pragma once
#include "onnx/convert/importer.h"

// May a constant of so many elements still be computed at import?
bool folding_has_room(const struct importer *im, int64_t n_elements);
// May all that the tensor is computed of be computed at import? The operations count as done when it is true.
bool folding_take_room_for(struct importer *im, const struct graph *g, tensor_id tensor);
// The value of a tensor that depends on weights only, computed: elements in the arena (or the model's, of a weight as
// it is), or NULL when it cannot be, or is not finite where the weights are: a runtime may compute it otherwise.
const void *evaluate_constant(struct imported_model *m, const struct graph *g, tensor_id tensor,
                              struct arena *arena_of_result);
