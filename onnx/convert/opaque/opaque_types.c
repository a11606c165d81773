// Which row types an opaque node, by its operator's name and domain; and what rows ask.
#include "onnx/convert/opaque/opaque_types.h"

#include "core/numbers/integers.h"
#include "onnx/convert/operators/converters.h"

#include <string.h>

bool has_subgraphs(const struct onnx_node *n)
{
    return ONNX_FIND(struct onnx_attribute, a, &n->attributes, a->g || a->graphs.count);
}

const struct type *known_input(const struct conversion *c, uint32_t input)
{
    tensor_id tensor = input_of(c, input);
    const struct type *t = tensor == NO_TENSOR ? NULL : type_of(c, tensor);
    return t && type_is_known(t) ? t : NULL;
}

struct type without_splits(const struct type *t)
{
    return type_make(t->dtype, t->rank, t->dim);
}

void set_type(const struct conversion *c, struct type *types, uint32_t output, struct type type)
{
    if (output < c->n_outputs)
        types[output] = type;
}

bool constant_sizes(struct conversion *c, uint32_t input, struct integers *ret_sizes)
{
    return constant_ints(c, input_of(c, input), MAX_RANK, ret_sizes) &&
           ALL(uint32_t, i, ret_sizes->count, ret_sizes->items[i] >= 0 && ret_sizes->items[i] <= MAX_ELEMENTS);
}

bool constant_size(struct conversion *c, uint32_t input, int64_t *ret_size)
{
    struct integers sizes;
    bool is_known = constant_sizes(c, input, &sizes) && sizes.count == 1;
    *ret_size = is_known ? sizes.items[0] : -1;
    return is_known;
}

// --- results that have a shape of the inputs: the first one's, a common one, or one that several say -----------------

// The element type may be an attribute.
static void as_first(struct conversion *c, const struct type *x, struct type *types)
{
    int64_t code = int_attribute(c, "dtype", int_attribute(c, "to", dtype_to_onnx(x->dtype)));
    set_type(c, types, 0, type_make(dtype_from_onnx(code), x->rank, x->dim));
}

static void as_first_of_bool(struct conversion *c, const struct type *x, struct type *types)
{
    set_type(c, types, 0, type_make(DTYPE_BOOL, x->rank, x->dim));
}

static void set_common_shape(struct conversion *c, const struct type *x, struct type *types, uint32_t second)
{
    const struct type *y = known_input(c, second);
    struct type z;
    if (y && common_shape(c, x, y, &z))
        set_type(c, types, 0, z);
}

static void broadcast(struct conversion *c, const struct type *x, struct type *types)
{
    set_common_shape(c, x, types, 1);
}

// Each operand stands with its scale and zero point.
static void broadcast_quantized(struct conversion *c, const struct type *x, struct type *types)
{
    set_common_shape(c, x, types, 3);
}

// X is (time, batch, size), with layout 1 (batch, time, size).
static void recurrent(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *weights = known_input(c, 2);
    int64_t hidden = int_attribute(c, "hidden_size", weights && weights->rank == 3 ? weights->dim[2] : -1);
    if (x->rank != 3 || hidden < 1)
        return;
    int64_t directions = text_attribute_is(c, "direction", "bidirectional", "forward") ? 2 : 1;
    bool is_batch_first = int_attribute(c, "layout", 0) == 1;
    int64_t batch = x->dim[is_batch_first ? 0 : 1], time = x->dim[is_batch_first ? 1 : 0];
    int64_t all[2][4] = {{time, directions, batch, hidden}, {batch, time, directions, hidden}};
    int64_t last[2][3] = {{directions, batch, hidden}, {batch, directions, hidden}};
    set_type(c, types, 0, type_make(x->dtype, 4, all[is_batch_first]));
    set_type(c, types, 1, type_make(x->dtype, 3, last[is_batch_first]));
    set_type(c, types, 2, type_make(x->dtype, 3, last[is_batch_first]));
}

static void gather(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *indices = known_input(c, 1);
    int axis;
    if (!indices || !normalize_axis(c, int_attribute(c, "axis", 0), x->rank, &axis) ||
        x->rank - 1 + indices->rank > MAX_RANK)
        return;
    struct type z = type_make(x->dtype, axis, x->dim);
    for (int i = 0; i < indices->rank; i++)
        z.dim[z.rank++] = indices->dim[i];
    for (int i = axis + 1; i < x->rank; i++)
        z.dim[z.rank++] = x->dim[i];
    set_type(c, types, 0, z);
}

// Queries that attend to values: (batch, heads, places, entries), or (batch, places, heads times entries).
static void attention(struct conversion *c, const struct type *queries, struct type *types)
{
    const struct type *values = known_input(c, 2);
    if (!values || queries->rank != values->rank || (queries->rank != 3 && queries->rank != 4))
        return;
    bool is_flat = queries->rank == 3;
    int64_t heads = is_flat ? int_attribute(c, "q_num_heads", 0) : 1;
    int64_t heads_of_values = is_flat ? int_attribute(c, "kv_num_heads", 0) : 1;
    int last = queries->rank - 1;
    struct type z = without_splits(queries);
    if (heads < 1 || heads_of_values < 1 || values->dim[last] % heads_of_values ||
        __builtin_mul_overflow(values->dim[last] / heads_of_values, heads, &z.dim[last]))
        return;
    set_type(c, types, 0, z);
}

// The sum of both inputs is the fourth output.
static void normalized_sum(struct conversion *c, const struct type *x, struct type *types)
{
    for (uint32_t i = 0; i <= 3; i += 3)
        set_type(c, types, i, without_splits(x));
}

// --- images: windows that slide over them, regions of them, and places in them ---

// A region of the image of its place in the batch for each row of the second input.
static void roi_align(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *regions = known_input(c, 1);
    int64_t height = int_attribute(c, "output_height", 1), width = int_attribute(c, "output_width", 1);
    if (regions && x->rank == 4 && regions->rank == 2 && height > 0 && width > 0)
        set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){regions->dim[0], x->dim[1], height, width}));
}

// The offsets have a place for each entry that is made.
static void deform_conv(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *k = known_input(c, 1), *offsets = known_input(c, 2);
    if (!k || !offsets || x->rank != 4 || k->rank != 4 || offsets->rank != 4)
        return;
    set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){x->dim[0], k->dim[0], offsets->dim[2], offsets->dim[3]}));
}

static void global_pool(struct conversion *c, const struct type *x, struct type *types)
{
    bool is_channels_last = int_attribute(c, "channels_last", 0) != 0;
    if (x->rank < 3)
        return;
    struct type z = without_splits(x);
    for (int i = is_channels_last ? 1 : 2; i < x->rank - is_channels_last; i++)
        z.dim[i] = 1;
    set_type(c, types, 0, z);
}

static void grid_sample(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *grid = known_input(c, 1);
    if (!grid || x->rank != grid->rank || x->rank < 3)
        return;
    struct type z = without_splits(x);
    for (int i = 2; i < x->rank; i++)
        z.dim[i] = grid->dim[i - 1];
    set_type(c, types, 0, z);
}

// --- sizes that are constants or attributes --------------------------------------------------------------------------

static void top_k(struct conversion *c, const struct type *x, struct type *types)
{
    int64_t k;
    int axis;
    if (!constant_size(c, 1, &k) || !normalize_axis(c, int_attribute(c, "axis", -1), x->rank, &axis))
        return;
    struct type z = without_splits(x);
    z.dim[axis] = k;
    set_type(c, types, 0, z);
    z.dtype = DTYPE_I64;
    set_type(c, types, 1, z);
}

static void scale_all(struct conversion *c, const struct type *x, struct type *types, uint32_t input)
{
    struct reals scales;
    int places[MAX_RANK];
    if (!constant_reals(c, input_of(c, input), MAX_RANK, &scales) || !axes_of_list(c, x->rank, scales.count, places))
        return;
    struct type z = without_splits(x);
    for (uint32_t i = 0; i < scales.count; i++)
        if ((z.dim[places[i]] = scaled_size(x->dim[places[i]], scales.items[i])) < 0)
            return;
    set_type(c, types, 0, z);
}

static void upsample(struct conversion *c, const struct type *x, struct type *types)
{
    if (c->opset >= 9)
        scale_all(c, x, types, 1);
}

static void size_all(struct conversion *c, const struct type *x, struct type *types, uint32_t input)
{
    struct integers sizes;
    int places[MAX_RANK];
    if (!constant_sizes(c, input, &sizes) || !axes_of_list(c, x->rank, sizes.count, places))
        return;
    struct type z = without_splits(x);
    for (uint32_t i = 0; i < sizes.count; i++)
        z.dim[places[i]] = sizes.items[i];
    set_type(c, types, 0, z);
}

static void resize(struct conversion *c, const struct type *x, struct type *types)
{
    if (!text_attribute_is(c, "keep_aspect_ratio_policy", "stretch", "stretch"))
        return;
    if (input_of(c, 3) == NO_TENSOR)
        scale_all(c, x, types, c->opset < 11 ? 1 : 2);
    else
        size_all(c, x, types, 3);
}

static void pad(struct conversion *c, const struct type *x, struct type *types)
{
    struct integers list;
    if (input_of(c, 3) != NO_TENSOR || (c->opset >= 11 && !is_weight(c, input_of(c, 1))) ||
        !list_of(c, "pads", 1, &list) || list.count != 2 * (uint32_t)x->rank)
        return;
    const int64_t *pads = list.items;
    struct type z = without_splits(x);
    for (int i = 0; i < x->rank; i++) {
        if (pads[i] < 0 || pads[i] > MAX_ELEMENTS || pads[x->rank + i] < 0 || pads[x->rank + i] > MAX_ELEMENTS)
            return;
        z.dim[i] += pads[i] + pads[x->rank + i];
    }
    set_type(c, types, 0, z);
}

// Indices of rank q whose last axis addresses the first axes of x.
static void gather_nd(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *indices = known_input(c, 1);
    int64_t batch = int_attribute(c, "batch_dims", 0);
    if (!indices || indices->rank == 0 || batch < 0 || batch > x->rank)
        return;
    int64_t addressed = batch + indices->dim[indices->rank - 1];
    if (addressed > x->rank || indices->rank - 1 + x->rank - addressed > MAX_RANK)
        return;
    struct type z = type_make(x->dtype, indices->rank - 1, indices->dim);
    for (int64_t i = addressed; i < x->rank; i++)
        z.dim[z.rank++] = x->dim[i];
    set_type(c, types, 0, z);
}

// A range of integers.
static void range(struct conversion *c, const struct type *x, struct type *types)
{
    int64_t ends[3], length;
    if (!dtype_is_integer(x->dtype) || !ALL(uint32_t, i, 3, constant_int(c, input_of(c, i), &ends[i])) ||
        ends[2] == 0 || ends[2] == INT64_MIN || __builtin_sub_overflow(ends[0], ends[1], &length) ||
        length == INT64_MIN)
        return;
    length = ends[2] > 0 ? -floor_quotient(length, ends[2]) : -floor_quotient(-length, -ends[2]);
    if (length <= MAX_ELEMENTS)
        set_type(c, types, 0, type_make(x->dtype, 1, (int64_t[]){length > 0 ? length : 0}));
}

static void random_numbers(struct conversion *c, const struct type *x, struct type *types)
{
    struct integers shape = ints_attribute(c, "shape");
    enum dtype dtype = dtype_from_onnx(int_attribute(c, "dtype", dtype_to_onnx(DTYPE_F32)));
    if (has_attribute(c, "shape") && shape.count <= MAX_RANK)
        set_type(c, types, 0, type_make(dtype, (int)shape.count, shape.items));
}

// A real one has a last axis of one entry, a complex one of two. One side of a transform stands for all of a real
// signal's, which the inverse makes of it.
static void fourier(struct conversion *c, const struct type *x, struct type *types)
{
    int64_t where = int_attribute(c, "axis", c->opset < 20 ? 1 : -2);
    int axis;
    bool is_half = int_attribute(c, "onesided", 0) != 0, is_to_real = is_half && int_attribute(c, "inverse", 0);
    if ((input_of(c, 2) != NO_TENSOR && !constant_int(c, input_of(c, 2), &where)) ||
        !normalize_axis(c, where, x->rank, &axis) || axis == x->rank - 1 || (is_to_real && x->dim[x->rank - 1] != 2))
        return;
    struct type z = without_splits(x);
    if (is_to_real)
        z.dim[axis] = 2 * (z.dim[axis] - 1);
    if ((input_of(c, 1) != NO_TENSOR && !constant_size(c, 1, &z.dim[axis])) || z.dim[axis] < 1)
        return;
    z.dim[axis] = is_half && !is_to_real ? z.dim[axis] / 2 + 1 : z.dim[axis];
    z.dim[x->rank - 1] = is_to_real ? 1 : 2;
    set_type(c, types, 0, z);
}

// A transform of each frame of a signal, (batch, time, 1 or 2).
static void fourier_of_frames(struct conversion *c, const struct type *x, struct type *types)
{
    const struct type *window = known_input(c, 2);
    int64_t step, length = window && window->rank == 1 ? window->dim[0] : -1;
    if (x->rank != 3 || !constant_size(c, 1, &step) || (input_of(c, 3) != NO_TENSOR && !constant_size(c, 3, &length)) ||
        step < 1 || length < 0 || length > x->dim[1])
        return;
    int64_t bins = int_attribute(c, "onesided", 1) ? length / 2 + 1 : length;
    set_type(c, types, 0, type_make(x->dtype, 4, (int64_t[]){x->dim[0], (x->dim[1] - length) / step + 1, bins, 2}));
}

static const struct typing typings_of_shapes[] = {
    {"Attention", attention},
    {"BitShift BitwiseAnd BitwiseOr BitwiseXor Mod StringConcat", broadcast},
    {"Bernoulli Cast Clip CumProd Dropout EyeLike Hardmax LpNormalization MeanVarianceNormalization RandomNormalLike "
     "RandomUniformLike ReverseSequence RotaryEmbedding Scatter ScatterElements ScatterND Shrink "
     "SimplifiedLayerNormalization TensorScatter Trilu",
     as_first},
    {"DFT", fourier},
    {"DeformConv", deform_conv},
    {"Gather", gather},
    {"GatherND", gather_nd},
    {"GlobalLpPool", global_pool},
    {"GridSample", grid_sample},
    {"GRU LSTM RNN", recurrent},
    {"IsInf RegexFullMatch", as_first_of_bool},
    {"Pad", pad},
    {"RandomNormal RandomUniform", random_numbers, .needs_no_input = true},
    {"Range", range},
    {"Resize", resize},
    {"RoiAlign", roi_align},
    {"STFT", fourier_of_frames},
    {"TopK", top_k},
    {"Upsample", upsample},
    {"BiasGelu FastGelu QLinearLeakyRelu QLinearSigmoid QLinearSoftmax QuickGelu", as_first, MICROSOFT},
    {"QLinearAdd QLinearMul", broadcast_quantized, MICROSOFT},
    {"QLinearGlobalAveragePool", global_pool, MICROSOFT},
    {"SkipLayerNormalization SkipSimplifiedLayerNormalization", normalized_sum, MICROSOFT},
    {0},
};

// --- rows ------------------------------------------------------------------------------------------------------------

// A row may say that it cannot, which is no reason for anything.
static void infer_by_rows(enum typing_domain domain, struct conversion *c, struct type *ret_types)
{
    static const struct typing *const tables[] = {typings_of_shapes, typings_of_subgraphs};
    const struct type *x = known_input(c, 0);
    char reason[sizeof c->reason];
    memcpy(reason, c->reason, sizeof reason);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const struct typing *row = tables[i]; row->names; row++)
            if (row->domain == domain && (x || row->needs_no_input) &&
                onnx_words_have(row->names, c->node->op_type.text))
                row->infer(c, x, ret_types);
    memcpy(c->reason, reason, sizeof reason);
}

// Operators of ONNX Runtime that have the name of one of ONNX's that works entry by entry do so, too.
static bool is_called_as_a_function_of_entries(const struct onnx_node *node)
{
    const struct converter *same = converter_find(node->op_type.text);
    const struct operator* op = !same || same->parameter >= OP_COUNT ? NULL : operators[same->parameter];
    return op && op->flags & OPERATOR_IS_ELEMENTWISE && operator_most_inputs(op) == 1;
}

// A function of the model may have the name of a runtime's operator.
void infer_opaque_types(struct conversion *c, struct type *ret_types)
{
    if (onnx_node_has_standard_domain(c->node))
        infer_by_rows(STANDARD, c, ret_types);
    else if (onnx_string_is(&c->node->domain, "com.microsoft") &&
             !onnx_function_called_by(c->model->file->model, c->node)) {
        infer_by_rows(MICROSOFT, c, ret_types);
        const struct type *x = is_called_as_a_function_of_entries(c->node) ? known_input(c, 0) : NULL;
        if (x)
            set_type(c, ret_types, 0, without_splits(x));
    }
}
