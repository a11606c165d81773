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
struct exporter {
    struct imported_model *model;
    const struct graph *graph;
    struct error *error;
    struct arena *arena;         // of the result
    bool *live;                  // of every node of the graph
    bool *is_constant;           // of every node: depends on weights only
    uint32_t *uses;              // of every tensor: reads by live nodes, and outputs
    bool *is_wanted;             // of every tensor
    const char **tensor_names;   // of every tensor; NULL: none yet
    node_id *divided_by;      // of every tensor: the split that is written as a part of the one that makes it, NO_NODE
    bool *is_weight_wanted;   // of every weight
    const char **weight_names;    // of every weight; NULL: none yet
    struct key_set taken;         // names of the new model
    struct key_set node_names;    // taken, of nodes
    struct key_set original;      // all names of the model, those inside of subgraphs too
    struct key_set stems;         // of fresh names
    VEC(unsigned) stem_numbers;   // of every stem: the next one to try
    VEC(struct emitted) nodes;
    VEC(struct onnx_tensor *) initializers;   // new ones
    VEC(struct made_size) sizes;              // that nodes make of the inputs' shapes
    node_id current;                          // the node of the graph that is being written
    bool failed;                              // sticky, with *error set
};

// --- export.c --------------------------------------------------------------------------------------------------------
const struct imported_opaque *opaque_of(const struct exporter *x, const struct node *node);   // that was kept

// --- value_names.c ---------------------------------------------------------------------------------------------------
// Names in use, each once.
bool name_set_has(const struct key_set *s, const char *name);
bool name_set_add(struct key_set *s, const char *name);   // false: it is there already
void collect_original_names(struct exporter *x);
const char *fresh_name(struct exporter *x, const char *stem);   // the stem outlives the exporter
// The name of a tensor or weight; asking for it means that it must be written.
const char *name_of(struct exporter *x, tensor_id tensor);
const char *name_of_weight(struct exporter *x, size_t index);

// --- export_match.c --------------------------------------------------------------------------------------------------
// Is what the graph has at `tensor` still what import made of the node that `origin` names? Then ret_inputs (one per
// input of that node) has the graph's tensor for each input that is no weight; NO_TENSOR for weights and omitted ones.
bool match_origin(const struct exporter *x, tensor_id tensor, const struct imported_origin *origin,
                  tensor_id *ret_inputs);

// --- export_nodes.c: all strings are copied or live in the arena -----------------------------------------------------
const struct onnx_graph *source_of(const struct exporter *x);
const struct onnx_node *source_node(const struct exporter *x, uint32_t index);
// An original node, with lists of inputs and outputs of its own, added to the new nodes.
struct onnx_node *copy_node(struct exporter *x, uint32_t index);
void set_name(struct onnx_string *s, const char *name);
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

// --- node_names.c ----------------------------------------------------------------------------------------------------
void name_made_nodes(struct exporter *x);

// --- export_model.c: everything around the nodes ---------------------------------------------------------------------
struct onnx_model *assemble_model(struct exporter *x);

// --- export_rows.c: writes a node of the graph as new ONNX nodes. ----------------------------------------------------
bool make_nodes(struct exporter *x, node_id node);
bool is_divided_further(const struct exporter *x, node_id split);    // (make_concat_split.c)
bool divides_part(const struct exporter *x, node_id node);           // is it written as one with the split before it?
bool joins_concatenations(const struct exporter *x, node_id node);   // and with concatenations before it?
bool is_written_as_gemm(struct exporter *x, node_id node);           // (make_conv_pool.c)
