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
// Has a constant more entries than all weights that it is computed of? And are all of these moved entries of the
// weights?
bool constant_grows(const struct graph *g, tensor_id tensor, bool *ret_is_moved);
// Moves what is left to the front where all entries along some axes are the same: of a type that is broadcast to the
// former one. False: there are none, and the elements stay where they are.
bool elements_without_repetition(const struct type *type, void *data, struct type *ret_type);
// Is `tensor` of `g`, whose weights are the model's, zero, and does input `place` of the node say where a recurrence
// begins? It begins at zero where nothing else is said: an initial state of zeros may be left out.
bool initial_state_is_zero(struct imported_model *m, const struct graph *g, const struct onnx_node *n, uint32_t place,
                           tensor_id tensor);
