// A graph, rewritten or not, back as an ONNX model.
//
// Each tensor that is needed is written in the most natural way that still says what the graph says:
//   as it was       the original node, when the graph around this tensor still is what import made of that node
//   as a constant   computed, when it depends on weights only
//   as made         new nodes of the standard operators, when a rewrite changed something
// Names, types, documentation and metadata of inputs, outputs and kept nodes stay; broadcasts are left to ONNX, and a
// convolution takes its bias back.
#pragma once
#include "onnx/convert/export/read_back.h"

// `g` has the leaves and opaque nodes of m->graph, and as many outputs. Everything is allocated in m->arena, views of
// the file included, and large constants are computed when they are written: write it with onnx_model_write before `m`
// or `g` is freed. False (EXIT_UNSUPPORTED) when an operator of a new node has no form in the model's operator set.
// The purpose of ret_types (NULL: it is not wanted) is told by read_back.h.
bool export_model(struct imported_model *m, const struct graph *g, struct onnx_model **ret_model,
                  struct exported_types *ret_types, struct error *error);
// The type of ONNX that a new node of this operator has, mostly; NULL: it has none.
const char *exported_operator_name(enum operator_id op);
