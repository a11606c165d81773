// The exporter's state, and what rows of its table use to make nodes: names, nodes, attributes and initializers.
// Private to onnx.
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

// ---- names of values and weights of the new model ----

// Names in use, each once.
bool name_set_has(const struct key_set *s, const char *name);
bool name_set_add(struct key_set *s, const char *name);   // false: it is there already
void collect_original_names(struct exporter *x);
const char *fresh_name(struct exporter *x, const char *stem);   // the stem outlives the exporter
// The name of a tensor or weight; asking for it means that it must be written.
const char *name_of(struct exporter *x, tensor_id tensor);
const char *name_of_weight(struct exporter *x, size_t index);

// ---- nodes, attributes and initializers ----

const struct onnx_graph *source_of(const struct exporter *x);
const struct onnx_node *source_node(const struct exporter *x, uint32_t index);
// An original node, with lists of inputs and outputs of its own, added to the new nodes.
struct onnx_node *copy_node(struct exporter *x, uint32_t index);
void set_name(struct onnx_string *s, const char *name);
// Adds one to a list that began empty.
void add_message(struct exporter *x, struct onnx_list *list, const void *message);
struct onnx_node *emit(struct exporter *x, const char *op_type, uint32_t n_inputs, const char *const *inputs,
                       const char *output);
void add_output(struct exporter *x, struct onnx_node *n, const char *name);
void set_int_attribute(struct exporter *x, struct onnx_node *n, const char *name, int64_t value);
void set_float_attribute(struct exporter *x, struct onnx_node *n, const char *name, double value);
void set_text_attribute(struct exporter *x, struct onnx_node *n, const char *name, const char *value);
void set_ints_attribute(struct exporter *x, struct onnx_node *n, const char *name, uint32_t count,
                        const int64_t *values);
// New initializers; give the name.
const char *int_initializer(struct exporter *x, int rank, const int64_t *dim, const int64_t *values);
const char *real_initializer(struct exporter *x, enum dtype dtype, double value);   // of rank 0
const char *data_initializer(struct exporter *x, const struct type *type, const void *data, const char *name);
// The elements of a constant tensor under another shape, as an initializer; NULL (failed) when it cannot be computed.
const char *computed_initializer(struct exporter *x, tensor_id tensor, int rank, const int64_t *dim, const char *name);
const char *cannot_export(struct exporter *x, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Names of the nodes that were made, each once, and the rules that made them as metadata.
void name_made_nodes(struct exporter *x);
