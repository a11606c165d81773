// Reshapes that a later one undoes, with nothing but elementwise operators between.
#pragma once
#include "graph/graph.h"

// reshape(f(reshape(x))) of the shape of x is f(x), where f reads such reshapes and single numbers only. Adds f(x) for
// `last`, which is f(reshape(x)) and is reshaped to the shape of `around`. NO_TENSOR: it has another form, or there are
// more reads of what is between than these (`reads` of every tensor; NULL: any). Holds at the graph's sizes.
tensor_id graph_add_without_reshapes(struct graph *g, tensor_id last, const struct type *around, const uint32_t *reads);
// The same for all such reshapes whose parts nothing else reads. False: there are none, no result. Shares the arena.
bool graph_leave_out_undone_reshapes(struct graph *ret_result, const struct graph *g);
