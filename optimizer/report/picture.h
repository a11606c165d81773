// Pictures of a file: where its nodes stand, from the inputs at the top to the outputs at the bottom, and which of them
// the other file has not. Work on weights alone is left out, as it is done once.
#pragma once
#include "core/memory/key_set.h"
#include "onnx/format/model.h"
#include "optimizer/report/graph_steps.h"

#define PICTURE_BOX_WIDTH 132
#define PICTURE_BOX_HEIGHT 36

struct exported_types;
struct report;

// An input of the model or a node; the other is NULL.
struct picture_node {
    const struct onnx_value_info *input;
    const struct onnx_node *node;
    bool is_changed;   // the other file has no such node
    uint32_t layer;    // one below the lowest of what it reads
    double x, y;       // of the box's upper left corner
    double seconds;    // of the step that ends with it; 0: none does, or that is not known
};
struct picture_edge {
    uint32_t from, to;   // in `nodes`
};
struct picture {
    VEC(struct picture_node) nodes;
    VEC(struct picture_edge) edges;
    double width, height;
    double most_seconds;   // of any node
    size_t n_changed;
    const struct exported_types *types;   // of values, by these names; NULL: none are known
    struct key_set named;
    VEC(uint32_t) type_of_name;
};
// A picture of the original (0) or of what was written (1); of no file it is empty.
void picture_make(struct picture *ret_picture, const struct report *r, int which);
void picture_free(struct picture *p);

// The value that a box is called by: the input, or the node's first output; empty where it has none.
const struct onnx_string *picture_output(const struct picture_node *shown);
// "batch x 3 x 224 x 224", "scalar", or "?".
void picture_print_shape(struct text *out, const struct picture *p, const struct onnx_string *name);
// "x: f32, batch x 3 x 224 x 224"
void picture_print_value(struct text *out, const struct picture *p, const struct onnx_string *name);
