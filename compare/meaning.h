// The meaning of an ONNX node, as a text: two nodes with one text make equal tensors of equal ones. Names of values,
// nodes and graphs, what is declared of types, documentation, and in which form and place data stand are no part of it.
#pragma once
#include "onnx/format/model.h"

struct text;

// Values of outer graphs that subgraphs of the node read: `ret_read` (room for all) has which of the `captured` names,
// in the order in which the text speaks of them, and *ret_n_read how many.
struct meaning_context {
    const struct onnx_model *model;
    const char *path;   // of the model's file
    const char *const *captured;
    uint32_t n_captured;
    uint32_t *ret_read, n_read;
};
// The operator with the version of its set, attributes, subgraphs, functions of the model, and which outputs there are;
// not the node's own inputs.
void meaning_of_node(struct text *out, struct arena *arena, struct meaning_context *context, const struct onnx_node *n);
void meaning_of_tensor(struct text *out, struct arena *arena, const char *path, const struct onnx_tensor *t);
void meaning_of_sparse_tensor(struct text *out, struct arena *arena, const char *path,
                              const struct onnx_sparse_tensor *t);
// How many there are up to the last that has a name.
size_t meaning_count_named(const struct onnx_strings *names);
