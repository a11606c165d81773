// Two models as one graph, so that what they have in common is one node.
//
//   input leaves    the models' inputs, paired by name, or by position where the names are not the same
//   weight leaves   numbered by content: equal elements of equal type are one leaf
//   opaque nodes    numbered by what the node does (meaning.h), so that one that reads equal
//                   tensors makes equal ones; what draws random numbers equals nothing but its counterpart in the order
//   other nodes     hash-consed by operator, attributes and inputs
#pragma once
#include "onnx/convert/imported_model.h"

struct common_side {
    struct imported_model *model;
    tensor_id *tensors;   // of every live tensor of the model's graph: where it is here; NO_TENSOR for others
    tensor_id *outputs;   // n_outputs
    uint32_t n_random;    // opaque nodes so far that draw random numbers
    bool *is_live;        // of the first n_nodes nodes of the common graph: does an output of this model need it?
};
struct content {
    uint64_t hash;
    const void *bytes;
    size_t size;
    struct tensor_value value;   // of a weight; without data where its elements are no numbers known to us
    bool is_computed;            // of a weight: at import
};
typedef VEC(struct content) content_list;
struct common_graph {
    struct arena arena;
    struct graph graph;
    struct common_side sides[2];
    size_t n_inputs, n_outputs, n_nodes;   // n_nodes: the models'; what is added by rules stands behind
    tensor_id *class_of;                   // of every tensor: the first of those that are known to be equal
    bool has_other_names;                  // inputs or outputs are paired by position
    content_list weights, opaques;
    struct table weight_by_content, opaque_by_content;
};
// Which tensors both models have, or one of equal value.
struct shared_classes {
    bool *is_shared;   // of every tensor of the common graph
    size_t n_tensors;
    size_t count;
};

// False: the models cannot be compared (EXIT_UNSUPPORTED: other numbers or types of inputs or outputs), or a weight
// cannot be read. The models must outlive the graph.
bool common_graph_make(struct common_graph *c, struct imported_model *a, struct imported_model *b, struct error *error);
void common_graph_free(struct common_graph *c);
static inline bool common_tensors_are_equal(const struct common_graph *c, tensor_id a, tensor_id b)
{
    return c->class_of[a] == c->class_of[b];
}
bool common_outputs_are_equal(const struct common_graph *c);
void shared_classes_init(struct shared_classes *ret_shared, const struct common_graph *c);
void shared_classes_free(struct shared_classes *shared);
// The name that a model gives to a tensor that it has; NULL: none.
const char *common_graph_name(const struct common_graph *c, int side, tensor_id t);
// The name of the operator of a node that it has: of one that it keeps as it is, as ONNX does.
const char *common_graph_operator(const struct common_graph *c, int side, node_id n);
// A deterministic name of the k-th output, for messages.
const char *common_graph_output_name(const struct common_graph *c, size_t output);
