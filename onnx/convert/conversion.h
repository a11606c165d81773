// What converters work with: one `struct conversion` per ONNX node. Private to onnx.
//
// A converter reads the node's inputs and attributes, builds graph nodes, and gives the outputs; when it cannot, it
// says why, and the node becomes opaque. Building is monadic: an application of NO_TENSOR, or one that is refused, is
// NO_TENSOR, so a converter checks once, at `give`.
#pragma once
#include "onnx/convert/import.h"
#include "onnx/format/node.h"

struct importer;

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
    int parameter;         // of the row: often the operator
    bool is_rewritten;     // see keep_rewritten
    uint32_t stands_for;   // the node that it is with origin_inputs, see stand_for; these NULL: itself
    const tensor_id *origin_inputs;
    bool is_unfit;              // its operands have shapes that do not go together
    struct type *known_types;   // of the outputs of a node that is kept; NULL: what it computes was not understood
    char reason[240];
};

// Some operators are understood and yet kept as opaque nodes, since runtimes have kernels for them that nothing else
// reaches: what they compute serves to type them, to fold them, and to run them ourselves (import_options.expands).
enum keeping {
    CONVERTED,
    KEPT_UNLESS_CONSTANT,   // nor what an earlier node gives
    KEPT,                   // of constants, too: runtimes look for it behind quantized weights
    KEPT_UNREAD,            // of constants, too: what it computes is long, and opaque/ types it
};
#define ALL_INPUTS UINT32_MAX   // one at least

// A row of the table of ONNX operators (operators.def), as import sees it.
struct converter {
    const char *name;
    int64_t first_opset, last_opset;   // of the versions whose meaning the function knows
    uint32_t n_inputs;                 // that must be there, of known types; ALL_INPUTS; 0: the function asks itself
    bool (*convert)(struct conversion *c);
    int parameter;   // handed to it as c->parameter
    enum keeping keeping;
    const char *reason;   // why it is kept
};
const struct converter *converter_find(const char *name);   // operators/converters.c, which has the rows

// --- building --------------------------------------------------------------------------------------------------------
struct application {
    const struct operator* op;
    struct attribute_value values[MAX_ATTRIBUTES];
};
