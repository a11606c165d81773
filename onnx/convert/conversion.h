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
    int parameter;              // of the row: often the operator
    bool is_rewritten;          // see keep_rewritten
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

// Refuses: `return cannot(c, "mode %s", mode);`
bool cannot(struct conversion *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Gives an output; false when it is NO_TENSOR.
bool give(struct conversion *c, uint32_t output, tensor_id tensor);
// The graph has a better form than this node: export does not restore it.
void keep_rewritten(struct conversion *c);

tensor_id input_of(const struct conversion *c, uint32_t input);   // NO_TENSOR when omitted
bool wants_output(const struct conversion *c, uint32_t output);   // does anything use it?
const struct type *type_of(const struct conversion *c, tensor_id tensor);
// Are the first n inputs there, and all that are there of known type? Otherwise cannot.
bool has_known_inputs(struct conversion *c, uint32_t n);

// Attributes of the node (node.h), with the standard value.
int64_t int_attribute(const struct conversion *c, const char *name, int64_t standard);
double float_attribute(const struct conversion *c, const char *name, double standard);
bool has_attribute(const struct conversion *c, const char *name);
// A list: its items (NULL and 0 when absent).
const int64_t *ints_attribute(const struct conversion *c, const char *name, uint32_t *ret_count);
// A list of n items, each of them `standard` when it is absent; refused when it has others, or one that is out of
// range.
bool list_within(struct conversion *c, const char *name, int n, int64_t standard, int64_t low, int64_t high,
                 int64_t *ret_items);
bool text_attribute_is(const struct conversion *c, const char *name, const char *text, const char *standard);

// The numbers of a constant input: false when it is no constant (or larger than `limit`).
bool constant_ints(struct conversion *c, tensor_id tensor, size_t limit, const int64_t **ret_items,
                   uint32_t *ret_count);
bool constant_reals(struct conversion *c, tensor_id tensor, size_t limit, const double **ret_items,
                    uint32_t *ret_count);
bool is_filled_with(struct conversion *c, tensor_id tensor, double value);   // a constant: all entries are this number
// A list that older operator sets have as an attribute and newer ones as a constant input; *ret_items NULL when absent.
bool list_of(struct conversion *c, const char *attribute, uint32_t input, const int64_t **ret_items,
             uint32_t *ret_count);
bool is_weight(const struct conversion *c, tensor_id tensor);
bool is_constant(struct conversion *c, tensor_id tensor);   // depends on weights only

// --- building --------------------------------------------------------------------------------------------------------
struct application {
    const struct operator* op;
    struct attribute_value values[MAX_ATTRIBUTES];
};
struct application application_of(struct conversion *c, enum operator_id op);
void set_int(struct conversion *c, struct application *a, const char *name, int64_t value);
void set_real(struct conversion *c, struct application *a, const char *name, double value);
void set_ints(struct conversion *c, struct application *a, const char *name, uint32_t count, const int64_t *values);
tensor_id apply(struct conversion *c, const struct application *a, uint32_t n, const tensor_id *inputs);
node_id apply_node(struct conversion *c, const struct application *a, uint32_t n, const tensor_id *inputs);
tensor_id apply1(struct conversion *c, const struct application *a, tensor_id x);
tensor_id apply2(struct conversion *c, const struct application *a, tensor_id x, tensor_id y);
// The convolution at these places, in the node's groups.
struct window_places {
    int n;   // spatial axes
    const int64_t *stride, *pad, *dilation;
};
tensor_id convolve_at(struct conversion *c, const struct window_places *p, tensor_id x, tensor_id kernel);
tensor_id unary(struct conversion *c, enum operator_id op, tensor_id x);
tensor_id binary(struct conversion *c, enum operator_id op, tensor_id x, tensor_id y);   // equal shapes
tensor_id broadcast_to(struct conversion *c, tensor_id x, int rank, const int64_t *dim);
tensor_id reshape_to(struct conversion *c, tensor_id x, int rank, const int64_t *dim);   // x itself if it has the shape
tensor_id transpose_by(struct conversion *c, tensor_id x, const int64_t *perm);
tensor_id cast_to(struct conversion *c, tensor_id x, enum dtype dtype);
// In which stages are computed whose results may be too large for tensors of the type: f32 for halves, or itself.
enum dtype dtype_of_stages(enum dtype dtype);
tensor_id scalar_constant(struct conversion *c, enum dtype dtype, double value);   // a weight of rank 0
tensor_id constant_like(struct conversion *c, tensor_id like, double value);       // broadcast to its shape
tensor_id add_scalar(struct conversion *c, tensor_id x, double value);
tensor_id scale_by(struct conversion *c, tensor_id x, double value);   // x itself when value is 1
// A vector as a tensor of `like`'s shape that varies along `axis` only.
tensor_id spread_along(struct conversion *c, tensor_id vector, int axis, tensor_id like);
tensor_id real_weight(struct conversion *c, enum dtype dtype, int rank, const int64_t *dim, const double *values);
tensor_id int_weight(struct conversion *c, int rank, const int64_t *dim, const int64_t *values);   // i64
// Numpy's common shape of two tensors; false (cannot) when there is none.
bool common_shape(struct conversion *c, const struct type *a, const struct type *b, int *ret_rank, int64_t *ret_dim);
bool normalize_axis(struct conversion *c, int64_t axis, int rank, int *ret_axis);   // from -rank .. rank - 1
// Which axes a list of n entries is for: those that the attribute `axes` names, each once, or all.
bool axes_of_list(struct conversion *c, int rank, uint32_t n, int *ret_axes);
tensor_id matrix_product(struct conversion *c, tensor_id x, tensor_id y);   // as MatMul does; convert_matmul.c
// By the node's strides, pads, dilations and groups; and a bias for each channel of an image, NO_TENSOR for none;
// convert_conv_pool.c.
tensor_id convolve(struct conversion *c, tensor_id x, tensor_id kernel);
tensor_id add_to_channels(struct conversion *c, tensor_id image, tensor_id bias);
// The convolution that makes an input, which nothing else reads, with its channels times factors plus offsets (NULL:
// none), which weights of it can do. False: there is none such; fold_into_conv.c.
bool give_normalized_conv(struct conversion *c, uint32_t input, uint32_t n_channels, const double *factors,
                          const double *offsets);
bool give_scaled_conv(struct conversion *c, uint32_t input, uint32_t factors);   // these are an input, too
bool give_shifted_conv(struct conversion *c, uint32_t input, uint32_t offsets);
// The same of a product with a constant matrix, column by column; fold_into_product.c.
bool give_scaled_product(struct conversion *c, uint32_t input, uint32_t factors);
// Are the products of weights with factors, each of which is for `run` in a row, numbers of their element type, and
// those of halves as precise as themselves? What is not, or is not seen to be, is left to the runtime; factors_fit.c.
bool factors_fit_weights(struct conversion *c, tensor_id weights, uint32_t n_factors, const double *factors,
                         uint32_t run);
bool numbers_fit(enum dtype dtype, uint32_t n, const double *numbers);   // none becomes infinite
// From `start` on `size` entries of one axis; convert_parts.c.
tensor_id part_of(struct conversion *c, tensor_id x, int axis, int64_t start, int64_t size);
tensor_id clip_between(struct conversion *c, tensor_id x, double low, double high);   // convert_elementwise.c
// The tensor padded with its own entries, as the node's mode says (edge, reflect, wrap); convert_resample.c.
tensor_id pad_by_entries(struct conversion *c, tensor_id x, const int64_t *pads);
// A size times a scale, rounded down; -1: it is out of range, or single precision, which runtimes use, has another one.
int64_t scaled_size(int64_t size, double scale);   // convert_resample.c
