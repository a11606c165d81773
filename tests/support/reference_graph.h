// Whole graphs as the definitions of their operators say: the slow truth beside what devices compute.
#pragma once
#include "expressions/value.h"
#include "graph/graph.h"

struct error;

// The live nodes of a graph. `inputs` and `weights` are found by the `index` attribute of the leaves; a leaf whose
// value is missing or of another type is an error. `ret_outputs` has one entry per output of the graph, allocated in
// `arena`.
bool reference_run_graph(const struct graph *g, size_t n_inputs, const struct tensor_value *inputs, size_t n_weights,
                         const struct tensor_value *weights, struct tensor_value *ret_outputs, struct arena *arena,
                         struct error *error);
