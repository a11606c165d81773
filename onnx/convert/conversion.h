// The state that converters work with: one `struct conversion` per ONNX node. Private to onnx.
//
// A converter reads the node's inputs and attributes, builds graph nodes, and gives the outputs; when it cannot, it
// says why, and the node becomes opaque. Building is monadic: an application of NO_TENSOR, or one that is refused, is
// NO_TENSOR, so a converter checks once, at `give`.
#pragma once
#include "onnx/convert/imported_model.h"

struct importer;

// An earlier node, which nothing else reads, that would make a node's outputs of these inputs, of which there is one
// more than it has, or NO_TENSOR for it: export writes that node, with them. They live as long as the model.
struct origin_node {
    uint32_t node;
    const tensor_id *inputs;   // NULL: there is none
};
struct conversion {
    struct importer *importer;
    struct imported_model *model;
    const struct onnx_node *node;
    uint32_t index;   // of the node
    int64_t opset;
    const tensor_id *inputs;   // n_inputs, NO_TENSOR where omitted
    uint32_t n_inputs;
    tensor_id *outputs;   // n_outputs, to be given
    uint32_t n_outputs;
    int parameter;       // of the row: often the operator
    bool is_rewritten;   // the graph has a better form than this node: export does not restore it
    struct origin_node stands_for;
    bool is_unfit;              // its operands have shapes that do not go together
    struct type *known_types;   // of the outputs of a node that is kept; NULL: what it computes was not understood
    char reason[240];
};

// --- building --------------------------------------------------------------------------------------------------------
struct application {
    const struct operator* op;
    struct attribute_value values[MAX_ATTRIBUTES];
};
struct axes {
    bool is_nothing;   // noop_with_empty_axes
    uint32_t count;
    int64_t axis[MAX_RANK];   // ascending
};
