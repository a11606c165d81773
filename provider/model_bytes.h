// Nodes of a graph of ONNX Runtime as an ONNX model of their own, in a file without a name: inputs are what they read
// and do not make, outputs what anybody else reads of what they make, both as the graph calls them. Constant
// initializers are part of the model.
#pragma once
#include "core/memory/arena.h"
#include "core/memory/vec.h"
#include "library/memory_file.h"
#include "provider/graph_view.h"

struct onnx_value_info;

struct model_value {
    const char *name;
    struct tensor_form form;
    const char *symbols[MOST_AXES];   // of an input's dims that are not known: equal names are equal sizes
};
struct model_bytes {
    struct memory_file file;
    VEC(struct model_value) inputs, outputs;   // names and all else in the arena
    int64_t likely_length;                     // of texts; the caller may change it
};
#define LIKELY_LENGTH 128
// A model of the view's nodes with these numbers, in ascending order. False: error; also where a value is no tensor of
// known rank.
bool model_bytes_make(struct model_bytes *ret_model, const struct runtime *r, const struct graph_view *view,
                      const size_t *nodes, size_t n_nodes, struct arena *arena, struct error *error);
// A size of an input's axis, where it is not known: that of the first axis with the same symbol, as of a single image
// or text, with sizes that are likely.
int64_t model_bytes_likely_size(const struct model_bytes *m, const struct model_value *input, int axis);
// A shape as the option --shape has it: of inputs that have symbols, or NULL. `dims` has all of the input's.
const char *model_value_shape(const struct model_value *v, const int64_t *dims, struct arena *arena);
// The value with its type, and its shape where that is wanted; names are the value's.
struct onnx_value_info *model_value_info(const struct model_value *v, bool has_shape, struct arena *arena);
void model_bytes_free(struct model_bytes *m);
