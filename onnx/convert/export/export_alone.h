// A graph that nobody imported, as an ONNX model in memory: for runtimes that are to run parts of models.
#pragma once
#include "graph/graph.h"
#include "onnx/format/model.h"

// Elements of weights by their number. Made-up real numbers are 2 where there is one, and small ones else.
struct alone_weights {
    const void *const *elements;   // NULL, or NULL for one of them: made up
    int integer;                   // what all made-up integers are
};
// `g` has inputs and weights, numbered from 0 each, and no opaque nodes. Inputs are named input_0, ..., outputs
// output_0, ... False: an operator has no form in that operator set.
bool export_alone(const struct graph *g, int64_t opset, const struct alone_weights *weights, struct arena *arena,
                  struct onnx_bytes *ret_bytes, struct error *error);
