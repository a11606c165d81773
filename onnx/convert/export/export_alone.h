// A graph that nobody imported, as an ONNX model in memory: for runtimes that are to run parts of models.
#pragma once
#include "graph/graph.h"
#include "onnx/format/model.h"

struct arena;
struct error;

// `g` has inputs and weights, numbered from 0 each, and no opaque nodes. Inputs are named input_0, ..., outputs
// output_0, ...; weights have made-up elements: those with one element are 2, others small. False: an operator has no
// form in that operator set.
bool export_alone(const struct graph *g, int64_t opset, struct arena *arena, struct onnx_bytes *ret_bytes,
                  struct error *error);
