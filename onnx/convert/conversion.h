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
    KEPT_UNLESS_CONSTANT,
    KEPT,          // of constants, too: runtimes look for it behind quantized weights
    KEPT_UNREAD,   // of constants, too: what it computes is long, and opaque/ types it
};
// One row of the table of ONNX operators (operators.def), as import sees it.
struct converter {
    const char *name;
    int64_t first_opset, last_opset;   // of the versions whose meaning the function knows
    bool (*convert)(struct conversion *c);
    int parameter;   // handed to it as c->parameter
    enum keeping keeping;
    const char *reason;   // why it is kept
};
const struct converter *converter_find(const char *name);

// --- building --------------------------------------------------------------------------------------------------------
struct application {
    const struct operator* op;
    struct attribute_value values[MAX_ATTRIBUTES];
};
// The convolution at these places, in the node's groups.
struct window_places {
    int n;   // spatial axes
    const int64_t *stride, *pad, *dilation;
};
tensor_id convolve_at(struct conversion *c, const struct window_places *p, tensor_id x, tensor_id kernel);
// In which stages are computed whose results may be too large for tensors of the type: f32 for halves, or itself.
enum dtype dtype_of_stages(enum dtype dtype);
tensor_id matrix_product(struct conversion *c, tensor_id x, tensor_id y);   // as MatMul does; convert_matmul.c
// By the node's strides, pads, dilations and groups; and a bias for each channel of an image, NO_TENSOR for none;
// convert_conv_pool.c.
tensor_id convolve(struct conversion *c, tensor_id x, tensor_id kernel);
tensor_id add_to_channels(struct conversion *c, tensor_id image, tensor_id bias);
// Are the products of weights with factors, each of which is for `run` in a row, numbers of their element type, and
// those of halves as precise as themselves? What is not, or is not seen to be, is left to the runtime; factors_fit.c.
bool factors_fit_weights(struct conversion *c, tensor_id weights, uint32_t n_factors, const double *factors,
                         uint32_t run);
bool sum_fits(struct conversion *c, tensor_id a, tensor_id b);           // of constants, as far as bounds of them tell
bool numbers_fit(enum dtype dtype, uint32_t n, const double *numbers);   // none becomes infinite
// From `start` on `size` entries of one axis; convert_parts.c.
tensor_id part_of(struct conversion *c, tensor_id x, int axis, int64_t start, int64_t size);
tensor_id clip_between(struct conversion *c, tensor_id x, double low, double high);   // convert_elementwise.c
// The tensor padded with its own entries, as the node's mode says (edge, reflect, wrap); convert_resample.c.
tensor_id pad_by_entries(struct conversion *c, tensor_id x, const int64_t *pads);
// A size times a scale, rounded down; -1: it is out of range, or single precision, which runtimes use, has another one.
int64_t scaled_size(int64_t size, double scale);   // convert_resample.c
