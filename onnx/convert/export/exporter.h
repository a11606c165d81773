// The exporter's state, and what rows of its table use to make nodes. Private to onnx.
#pragma once
#include "core/memory/key_set.h"
#include "onnx/convert/export/export.h"

struct emitted {
    node_id order;   // the node of the graph that it belongs to: nodes are written in this order
    struct onnx_node *node;
    bool is_made;
};
// A list of sizes at the first probe, and the value that is it.
struct made_size {
    uint32_t count;
    const int64_t *sizes;
    const char *name;
};
// Names that are taken.
struct export_names {
    struct key_set values;        // of the new model
    struct key_set nodes;         // of nodes
    struct key_set original;      // all names of the model, those inside of subgraphs too
    struct key_set stems;         // of fresh names
    VEC(unsigned) stem_numbers;   // of every stem: the next one to try
};
// The parts of the graph and of the model that are to be written.
struct export_wanted {
    bool *nodes;      // of every node of the graph
    bool *tensors;    // of every tensor
    uint32_t *uses;   // of every tensor: reads by such nodes, and outputs
    bool *weights;    // of every weight
};
struct exporter {
    struct imported_model *model;
    const struct graph *graph;
    struct error *error;
    struct arena *arena;   // of the result
    struct export_wanted wanted;
    bool *is_constant;           // of every node: depends on weights only
    const char **tensor_names;   // of every tensor; NULL: none yet
    node_id *divided_by;   // of every tensor: the split that is written as a part of the one that makes it, NO_NODE
    const char **weight_names;   // of every weight; NULL: none yet
    struct export_names names;
    VEC(struct emitted) nodes;
    VEC(struct onnx_tensor *) initializers;   // new ones
    VEC(struct made_size) sizes;              // that nodes make of the inputs' shapes
    node_id current;                          // the node of the graph that is being written
    bool failed;                              // sticky, with *error set
};

// The node that was kept.
static inline const struct imported_opaque *opaque_of(const struct exporter *x, const struct node *node)
{
    return &x->model->opaques.items[node->attributes[0].ints[0]];
}
