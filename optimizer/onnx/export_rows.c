// One row per operator of the graph: how it is written as new ONNX nodes. Operators whose nodes are always constant, or
// never made by a rewrite, have none.
#include "operators/activation.h"
#include "optimizer/onnx/exporter.h"

#include <math.h>
#include <string.h>

struct making {
    struct exporter *x;
    node_id id;
    const struct node *node;
    const tensor_id *inputs;
    const char *output;   // name of the first output
};
struct row {
    const char *onnx;
    int64_t first_opset;
    bool (*make)(struct making *m, const struct row *row);
};

static int64_t opset_of(const struct making *m)
{
    return m->x->model->opset;
}

static const struct attribute_value *attribute_of(const struct making *m, const char *name)
{
    return &m->node->attributes[operator_find_attribute(m->node->op, name)];
}

static int64_t int_of(const struct making *m, const char *name)
{
    return attribute_of(m, name)->ints[0];
}

static double real_of(const struct making *m, const char *name)
{
    return real_from_bits(int_of(m, name));
}

static const struct type *input_type(const struct making *m, uint32_t input)
{
    return graph_type(m->x->graph, m->inputs[input]);
}

static const struct type *output_type(const struct making *m)
{
    return graph_type(m->x->graph, m->node->first_output);
}

static const char *input_name(const struct making *m, uint32_t input)
{
    return name_of(m->x, m->inputs[input]);
}

static const char *list_initializer(const struct making *m, uint32_t count, const int64_t *values)
{
    int64_t n = count;
    return int_initializer(m->x, 1, &n, values);
}

// A node that reads all inputs of the operator.
static struct onnx_node *emit_plain(const struct making *m, const char *op_type, const char *output)
{
    const char *names[MAX_OUTPUTS];
    uint32_t n = m->node->n_inputs < MAX_OUTPUTS ? m->node->n_inputs : MAX_OUTPUTS;
    for (uint32_t i = 0; i < n; i++)
        names[i] = input_name(m, i);
    return emit(m->x, op_type, n, names, output);
}

// ---- activations ----

static bool has_relu(const struct making *m)
{
    return int_of(m, "act") == ACTIVATION_RELU;
}

// Where the result goes before its activation.
static const char *inner_output(const struct making *m)
{
    return has_relu(m) ? fresh_name(m->x, m->node->op->name) : m->output;
}

static bool finish_with_activation(const struct making *m, const char *inner)
{
    if (has_relu(m))
        emit(m->x, "Relu", 1, &inner, m->output);
    return true;
}

// ---- broadcasts: ONNX does them by itself ----

static tensor_id behind_broadcast(const struct graph *g, tensor_id tensor)
{
    const struct node *n = graph_producer(g, tensor);
    return n->op->id == OP_BROADCAST ? g->edges.items[n->first_input] : tensor;
}

// Does numpy's rule make exactly the wanted shape of these?
static bool broadcast_to_shape(const struct graph *g, uint32_t n, const tensor_id *tensors, const struct type *wanted)
{
    for (int axis = 0; axis < wanted->rank; axis++) {
        int64_t size = 1;
        for (uint32_t i = 0; i < n; i++) {
            const struct type *t = graph_type(g, tensors[i]);
            int own = axis - (wanted->rank - t->rank);
            if (own >= 0 && t->dim[own] != 1)
                size = t->dim[own];
        }
        if (size != wanted->dim[axis])
            return false;
    }
    return true;
}

// The inputs with as many broadcasts left away as the shape of the result allows.
static void strip_broadcasts(const struct making *m, uint32_t n, tensor_id *ret_inputs)
{
    const struct graph *g = m->x->graph;
    for (uint32_t i = 0; i < n; i++)
        ret_inputs[i] = m->inputs[i];
    for (uint32_t i = 0; i < n; i++) {
        ret_inputs[i] = behind_broadcast(g, m->inputs[i]);
        if (!broadcast_to_shape(g, n, ret_inputs, output_type(m)))
            ret_inputs[i] = m->inputs[i];
    }
}

static struct onnx_node *emit_elementwise(const struct making *m, const char *op_type)
{
    tensor_id inputs[3];
    const char *names[3];
    uint32_t n = m->node->n_inputs;
    strip_broadcasts(m, n, inputs);
    for (uint32_t i = 0; i < n; i++)
        names[i] = name_of(m->x, inputs[i]);
    return emit(m->x, op_type, n, names, m->output);
}

static bool make_elementwise(struct making *m, const struct row *row)
{
    emit_elementwise(m, row->onnx);
    return true;
}

static bool make_fmod(struct making *m, const struct row *row)
{
    set_int_attribute(m->x, emit_elementwise(m, row->onnx), "fmod", 1);
    return true;
}

// ---- a convolution takes its bias ----

// The convolution among the inputs of an addition whose result nothing else reads.
static bool find_biased_conv(const struct making *m, tensor_id *ret_conv, tensor_id *ret_bias)
{
    const struct graph *g = m->x->graph;
    for (int i = 0; i < 2; i++) {
        const struct node *n = graph_producer(g, m->inputs[i]);
        if (n->op->id != OP_CONV || m->x->uses[m->inputs[i]] != 1)
            continue;
        *ret_conv = m->inputs[i];
        *ret_bias = behind_broadcast(g, m->inputs[1 - i]);
        return n->attributes[operator_find_attribute(n->op, "act")].ints[0] == ACTIVATION_NONE;
    }
    return false;
}

// One number per channel and nothing else: (C, 1, 1) or (1, C, 1, 1) beside (N, C, H, W).
static bool varies_along_channels(const struct type *bias, const struct type *image)
{
    int channel = 1 - (image->rank - bias->rank);
    if (channel < 0 || bias->dim[channel] != image->dim[1])
        return false;
    for (int i = 0; i < bias->rank; i++)
        if (i != channel && bias->dim[i] != 1)
            return false;
    return true;
}

// The vector that was reshaped to stand along the channels, or the constant computed as a vector.
static const char *name_of_bias(const struct making *m, tensor_id bias, int64_t channels)
{
    const struct graph *g = m->x->graph;
    const struct node *n = graph_producer(g, bias);
    if (n->op->id == OP_RESHAPE && graph_type(g, g->edges.items[n->first_input])->rank == 1)
        return name_of(m->x, g->edges.items[n->first_input]);
    return computed_initializer(m->x, bias, 1, &channels, NULL);
}

static struct onnx_node *emit_conv(const struct making *m, const struct node *conv, const char *bias,
                                   const char *output)
{
    struct making c = *m;
    c.node = conv;
    c.inputs = m->x->graph->edges.items + conv->first_input;
    const char *names[3] = {input_name(&c, 0), input_name(&c, 1), bias};
    const struct type *k = input_type(&c, 1);
    struct onnx_node *n = emit(m->x, "Conv", bias ? 3 : 2, names, output);
    set_ints_attribute(m->x, n, "dilations", attribute_of(&c, "dilation")->count, attribute_of(&c, "dilation")->ints);
    set_int_attribute(m->x, n, "group", int_of(&c, "group"));
    set_ints_attribute(m->x, n, "kernel_shape", (uint32_t)k->rank - 2, &k->dim[2]);
    set_ints_attribute(m->x, n, "pads", attribute_of(&c, "pad")->count, attribute_of(&c, "pad")->ints);
    set_ints_attribute(m->x, n, "strides", attribute_of(&c, "stride")->count, attribute_of(&c, "stride")->ints);
    return n;
}

static bool make_sum(struct making *m, const struct row *row)
{
    tensor_id conv = NO_TENSOR, bias = NO_TENSOR;
    const struct type *image = output_type(m);
    if (!find_biased_conv(m, &conv, &bias) || !varies_along_channels(graph_type(m->x->graph, bias), image) ||
        !m->x->is_constant[m->x->graph->tensors.items[bias].producer])
        return make_elementwise(m, row);
    const char *name = name_of_bias(m, bias, image->dim[1]);
    if (name)
        emit_conv(m, graph_producer(m->x->graph, conv), name, m->output);
    return name != NULL;
}

static bool make_conv(struct making *m, const struct row *row)
{
    const char *inner = inner_output(m);
    emit_conv(m, m->node, NULL, inner);
    return finish_with_activation(m, inner);
}

static bool make_matmul(struct making *m, const struct row *row)
{
    const char *inner = inner_output(m);
    emit_plain(m, row->onnx, inner);
    return finish_with_activation(m, inner);
}

// ---- pooling ----

static bool is_global(const struct making *m)
{
    const struct type *x = input_type(m, 0), *z = output_type(m);
    const struct attribute_value *kernel = attribute_of(m, "kernel"), *pad = attribute_of(m, "pad");
    for (int i = 2; i < x->rank; i++)
        if (kernel->ints[i - 2] != x->dim[i] || z->dim[i] != 1)
            return false;
    for (uint32_t i = 0; i < pad->count; i++)
        if (pad->ints[i])
            return false;
    return true;
}

static bool is_dilated(const struct making *m)
{
    const struct attribute_value *dilation = attribute_of(m, "dilation");
    for (uint32_t i = 0; i < dilation->count; i++)
        if (dilation->ints[i] != 1)
            return true;
    return false;
}

static bool make_pool(struct making *m, const struct row *row)
{
    bool is_average = m->node->op->id == OP_POOLAVG;
    const char *inner = inner_output(m);
    if (is_global(m)) {
        emit_plain(m, is_average ? "GlobalAveragePool" : "GlobalMaxPool", inner);
        return finish_with_activation(m, inner);
    }
    if (is_dilated(m) && opset_of(m) < (is_average ? 19 : 10))
        return cannot_export(m->x, "%s with dilation needs a newer operator set", row->onnx);
    struct onnx_node *n = emit_plain(m, row->onnx, inner);
    if (is_average && int_of(m, "padding"))
        set_int_attribute(m->x, n, "count_include_pad", 1);
    if (is_dilated(m))
        set_ints_attribute(m->x, n, "dilations", attribute_of(m, "dilation")->count, attribute_of(m, "dilation")->ints);
    set_ints_attribute(m->x, n, "kernel_shape", attribute_of(m, "kernel")->count, attribute_of(m, "kernel")->ints);
    set_ints_attribute(m->x, n, "pads", attribute_of(m, "pad")->count, attribute_of(m, "pad")->ints);
    set_ints_attribute(m->x, n, "strides", attribute_of(m, "stride")->count, attribute_of(m, "stride")->ints);
    return finish_with_activation(m, inner);
}

// ---- element-wise formulas ----

// Real attributes have the same names in ONNX.
static bool make_curve(struct making *m, const struct row *row)
{
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    for (int i = 0; i < operator_n_attributes(m->node->op); i++)
        set_float_attribute(m->x, n, m->node->op->attributes[i].name, real_from_bits(m->node->attributes[i].ints[0]));
    return true;
}

static bool make_gelu(struct making *m, const struct row *row)
{
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    if (int_of(m, "approximate"))
        set_text_attribute(m->x, n, "approximate", "tanh");
    return true;
}

static bool make_silu(struct making *m, const struct row *row)
{
    const char *x = input_name(m, 0), *gate = fresh_name(m->x, "sigmoid");
    emit(m->x, "Sigmoid", 1, &x, gate);
    emit(m->x, "Mul", 2, (const char *[]){x, gate}, m->output);
    return true;
}

static bool make_clip(struct making *m, const struct row *row)
{
    double low = real_of(m, "min"), high = real_of(m, "max");
    enum dtype dtype = output_type(m)->dtype;
    const char *names[3] = {input_name(m, 0), NULL, NULL};
    if (opset_of(m) < 11) {
        struct onnx_node *n = emit(m->x, row->onnx, 1, names, m->output);
        if (!isinf(high))
            set_float_attribute(m->x, n, "max", high);
        if (!isinf(low))
            set_float_attribute(m->x, n, "min", low);
        return true;
    }
    names[1] = isinf(low) ? NULL : real_initializer(m->x, dtype, low);
    names[2] = isinf(high) ? NULL : real_initializer(m->x, dtype, high);
    emit(m->x, row->onnx, names[2] ? 3 : names[1] ? 2 : 1, names, m->output);
    return true;
}

// ---- reductions and normalizations ----

static bool make_reduce(struct making *m, const struct row *row)
{
    const struct attribute_value *axes = attribute_of(m, "axes");
    const char *names[2] = {input_name(m, 0), NULL};
    bool is_input = opset_of(m) >= (m->node->op->id == OP_REDUCESUM ? 13 : 18);
    if (axes->count == 0) {
        emit(m->x, "Identity", 1, names, m->output);
        return true;
    }
    if (is_input)
        names[1] = list_initializer(m, axes->count, axes->ints);
    struct onnx_node *n = emit(m->x, row->onnx, is_input ? 2 : 1, names, m->output);
    if (!is_input)
        set_ints_attribute(m->x, n, "axes", axes->count, axes->ints);
    set_int_attribute(m->x, n, "keepdims", int_of(m, "keepdims"));
    return true;
}

static bool make_arg_reduce(struct making *m, const struct row *row)
{
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    set_int_attribute(m->x, n, "axis", int_of(m, "axis"));
    set_int_attribute(m->x, n, "keepdims", int_of(m, "keepdims"));
    if (int_of(m, "ties") && opset_of(m) < 12)
        return cannot_export(m->x, "%s of the last index needs operator set 12", row->onnx);
    if (int_of(m, "ties"))
        set_int_attribute(m->x, n, "select_last_index", 1);
    return true;
}

static bool make_cumulative_sum(struct making *m, const struct row *row)
{
    int64_t axis = int_of(m, "axis");
    const char *names[2] = {input_name(m, 0), int_initializer(m->x, 0, NULL, &axis)};
    struct onnx_node *n = emit(m->x, row->onnx, 2, names, m->output);
    set_int_attribute(m->x, n, "exclusive", int_of(m, "exclusive"));
    set_int_attribute(m->x, n, "reverse", int_of(m, "reverse"));
    return true;
}

// Before operator set 13 softmax takes all axes from its axis on for one.
static bool make_softmax(struct making *m, const struct row *row)
{
    int64_t axis = int_of(m, "axis"), rank = output_type(m)->rank, perm[MAX_RANK];
    const char *x = input_name(m, 0);
    if (opset_of(m) >= 13 || axis == rank - 1) {
        set_int_attribute(m->x, emit(m->x, row->onnx, 1, &x, m->output), "axis", axis);
        return true;
    }
    for (int64_t i = 0; i < rank; i++)
        perm[i] = i;
    perm[axis] = rank - 1;
    perm[rank - 1] = axis;
    const char *there = fresh_name(m->x, "transpose"), *result = fresh_name(m->x, "softmax");
    set_ints_attribute(m->x, emit(m->x, "Transpose", 1, &x, there), "perm", (uint32_t)rank, perm);
    set_int_attribute(m->x, emit(m->x, row->onnx, 1, &there, result), "axis", rank - 1);
    set_ints_attribute(m->x, emit(m->x, "Transpose", 1, &result, m->output), "perm", (uint32_t)rank, perm);
    return true;
}

static bool make_last_axes_norm(struct making *m, const struct row *row)
{
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    set_int_attribute(m->x, n, "axis", int_of(m, "axis"));
    set_float_attribute(m->x, n, "epsilon", real_of(m, "epsilon"));
    return true;
}

static bool make_channel_norm(struct making *m, const struct row *row)
{
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    set_float_attribute(m->x, n, "epsilon", real_of(m, "epsilon"));
    if (m->node->op->id == OP_GROUPNORM)
        set_int_attribute(m->x, n, "num_groups", int_of(m, "groups"));
    return true;
}

static bool make_local_response(struct making *m, const struct row *row)
{
    struct onnx_node *n = emit_plain(m, row->onnx, m->output);
    set_float_attribute(m->x, n, "alpha", real_of(m, "alpha"));
    set_float_attribute(m->x, n, "beta", real_of(m, "beta"));
    set_float_attribute(m->x, n, "bias", real_of(m, "bias"));
    set_int_attribute(m->x, n, "size", int_of(m, "size"));
    return true;
}

// ---- shapes ----

static bool make_with_axis(struct making *m, const struct row *row)
{
    const char **names = arena_array(m->x->arena, const char *, m->node->n_inputs + 1);
    for (uint32_t i = 0; i < m->node->n_inputs; i++)
        names[i] = input_name(m, i);
    set_int_attribute(m->x, emit(m->x, row->onnx, m->node->n_inputs, names, m->output), "axis", int_of(m, "axis"));
    return true;
}

static bool make_split(struct making *m, const struct row *row)
{
    const struct attribute_value *sizes = attribute_of(m, "sizes");
    bool is_input = opset_of(m) >= 13;
    const char *names[2] = {input_name(m, 0), NULL};
    if (is_input)
        names[1] = list_initializer(m, sizes->count, sizes->ints);
    struct onnx_node *n = emit(m->x, row->onnx, is_input ? 2 : 1, names, NULL);
    for (uint32_t i = 0; i < m->node->n_outputs; i++)
        add_output(m->x, n, name_of(m->x, m->node->first_output + i));
    set_int_attribute(m->x, n, "axis", int_of(m, "axis"));
    if (!is_input)
        set_ints_attribute(m->x, n, "split", sizes->count, sizes->ints);
    return true;
}

static bool make_transpose(struct making *m, const struct row *row)
{
    const struct attribute_value *perm = attribute_of(m, "perm");
    set_ints_attribute(m->x, emit_plain(m, row->onnx, m->output), "perm", perm->count, perm->ints);
    return true;
}

// A target shape with a zero keeps that dimension by being allowed to, or by the zero standing at its own place.
static bool make_reshape(struct making *m, const struct row *row)
{
    const struct attribute_value *shape = attribute_of(m, "shape");
    const struct type *x = input_type(m, 0);
    bool has_zero = false, is_at_place = true;
    for (uint32_t i = 0; i < shape->count; i++) {
        has_zero |= shape->ints[i] == 0;
        is_at_place &= shape->ints[i] != 0 || (i < (uint32_t)x->rank && x->dim[i] == 0);
    }
    if (has_zero && !is_at_place && opset_of(m) < 14)
        return cannot_export(m->x, "a reshape to a shape with a zero needs operator set 14");
    const char *names[2] = {input_name(m, 0), list_initializer(m, shape->count, shape->ints)};
    struct onnx_node *n = emit(m->x, row->onnx, 2, names, m->output);
    if (has_zero && !is_at_place)
        set_int_attribute(m->x, n, "allowzero", 1);
    return true;
}

static bool make_broadcast(struct making *m, const struct row *row)
{
    const struct attribute_value *shape = attribute_of(m, "shape");
    const char *names[2] = {input_name(m, 0), list_initializer(m, shape->count, shape->ints)};
    emit(m->x, row->onnx, 2, names, m->output);
    return true;
}

// Where a range ends: one step beyond the last entry, and for a negative step beyond the first a number that means it.
static int64_t end_of(int64_t start, int64_t size, int64_t step)
{
    int64_t end = start + size * step;
    return step < 0 && end < 0 ? -MAX_ELEMENTS : end;
}

static bool make_slice(struct making *m, const struct row *row)
{
    const struct attribute_value *start = attribute_of(m, "start"), *size = attribute_of(m, "size"),
                                 *step = attribute_of(m, "step");
    uint32_t rank = start->count;
    int64_t ends[MAX_RANK], axes[MAX_RANK], steps[MAX_RANK];
    bool has_steps = false;
    for (uint32_t i = 0; i < rank; i++) {
        axes[i] = i;
        steps[i] = step->count ? step->ints[i] : 1;
        ends[i] = end_of(start->ints[i], size->ints[i], steps[i]);
        has_steps |= steps[i] != 1;
    }
    if (opset_of(m) < 10) {
        if (has_steps)
            return cannot_export(m->x, "a slice with steps needs operator set 10");
        struct onnx_node *n = emit_plain(m, row->onnx, m->output);
        set_ints_attribute(m->x, n, "axes", rank, axes);
        set_ints_attribute(m->x, n, "ends", rank, ends);
        set_ints_attribute(m->x, n, "starts", rank, start->ints);
        return true;
    }
    const char *names[5] = {input_name(m, 0), list_initializer(m, rank, start->ints), list_initializer(m, rank, ends),
                            list_initializer(m, rank, axes), list_initializer(m, rank, steps)};
    emit(m->x, row->onnx, has_steps ? 5 : 4, names, m->output);
    return true;
}

static bool emit_pad(struct making *m, uint32_t count, const int64_t *pads, double value)
{
    const char *names[3] = {input_name(m, 0), NULL, NULL};
    if (opset_of(m) < 11) {
        struct onnx_node *n = emit(m->x, "Pad", 1, names, m->output);
        set_ints_attribute(m->x, n, "pads", count, pads);
        set_float_attribute(m->x, n, "value", value);
        return true;
    }
    names[1] = list_initializer(m, count, pads);
    names[2] = value == 0 ? NULL : real_initializer(m->x, output_type(m)->dtype, value);
    emit(m->x, "Pad", names[2] ? 3 : 2, names, m->output);
    return true;
}

static bool make_pad(struct making *m, const struct row *row)
{
    const struct attribute_value *pads = attribute_of(m, "pads");
    return emit_pad(m, pads->count, pads->ints, real_of(m, "value"));
}

static bool make_enlarge(struct making *m, const struct row *row)
{
    const struct type *x = input_type(m, 0), *z = output_type(m);
    int64_t pads[2 * MAX_RANK] = {0};
    for (int i = 2; i < x->rank; i++)
        pads[i] = pads[x->rank + i] = (z->dim[i] - x->dim[i]) / 2;
    return emit_pad(m, 2 * (uint32_t)x->rank, pads, 0);
}

static bool make_cast(struct making *m, const struct row *row)
{
    set_int_attribute(m->x, emit_plain(m, row->onnx, m->output), "to", dtype_to_onnx((enum dtype)int_of(m, "to")));
    return true;
}

static bool make_trilu(struct making *m, const struct row *row)
{
    int64_t k = int_of(m, "k");
    const char *names[2] = {input_name(m, 0), int_initializer(m->x, 0, NULL, &k)};
    set_int_attribute(m->x, emit(m->x, row->onnx, 2, names, m->output), "upper", int_of(m, "part") == 0);
    return true;
}

static bool make_one_hot(struct making *m, const struct row *row)
{
    int64_t depth = int_of(m, "depth");
    const char *names[3] = {input_name(m, 0), int_initializer(m->x, 0, NULL, &depth), input_name(m, 1)};
    set_int_attribute(m->x, emit(m->x, row->onnx, 3, names, m->output), "axis", int_of(m, "axis"));
    return true;
}

// ---- the table ----

static const struct row elementwise_rows[OP_COUNT] = {
#define ELEMENTWISE(enumerator, name, fn, arity, kind, flags, onnx) [OP_##enumerator] = {onnx, 7, make_elementwise},
#include "operators/elementwise.def"
#undef ELEMENTWISE
};

// What is more than one element-wise ONNX operator of the same inputs.
static const struct row rows[OP_COUNT] = {
    [OP_EWADD] = {"Add", 7, make_sum},
    [OP_FMOD] = {"Mod", 10, make_fmod},
    [OP_PRELU] = {"PRelu", 7, make_elementwise},
    [OP_GELU] = {"Gelu", 20, make_gelu},
    [OP_SILU] = {"Mul", 7, make_silu},
    [OP_HARDSIGMOID] = {"HardSigmoid", 7, make_curve},
    [OP_HARDSWISH] = {"HardSwish", 14, make_curve},
    [OP_LEAKYRELU] = {"LeakyRelu", 7, make_curve},
    [OP_THRESHOLDEDRELU] = {"ThresholdedRelu", 10, make_curve},
    [OP_ELU] = {"Elu", 7, make_curve},
    [OP_SELU] = {"Selu", 7, make_curve},
    [OP_CELU] = {"Celu", 12, make_curve},
    [OP_SOFTPLUS] = {"Softplus", 7, make_curve},
    [OP_SOFTSIGN] = {"Softsign", 7, make_curve},
    [OP_MISH] = {"Mish", 18, make_curve},
    [OP_CLIP] = {"Clip", 7, make_clip},
    [OP_SMUL] = {"Mul", 7, make_elementwise},
    [OP_MATMUL] = {"MatMul", 7, make_matmul},
    [OP_CONV] = {"Conv", 7, make_conv},
    [OP_ENLARGE] = {"Pad", 7, make_enlarge},
    [OP_POOLAVG] = {"AveragePool", 7, make_pool},
    [OP_POOLMAX] = {"MaxPool", 7, make_pool},
    [OP_REDUCESUM] = {"ReduceSum", 7, make_reduce},
    [OP_REDUCEMEAN] = {"ReduceMean", 7, make_reduce},
    [OP_REDUCEMAX] = {"ReduceMax", 7, make_reduce},
    [OP_REDUCEMIN] = {"ReduceMin", 7, make_reduce},
    [OP_REDUCEPROD] = {"ReduceProd", 7, make_reduce},
    [OP_ARGMAX] = {"ArgMax", 7, make_arg_reduce},
    [OP_ARGMIN] = {"ArgMin", 7, make_arg_reduce},
    [OP_CUMSUM] = {"CumSum", 11, make_cumulative_sum},
    [OP_SOFTMAX] = {"Softmax", 7, make_softmax},
    [OP_LOGSOFTMAX] = {"LogSoftmax", 7, make_softmax},
    [OP_LAYERNORM] = {"LayerNormalization", 17, make_last_axes_norm},
    [OP_RMSNORM] = {"RMSNormalization", 23, make_last_axes_norm},
    [OP_BATCHNORM] = {"BatchNormalization", 7, make_channel_norm},
    [OP_INSTANCENORM] = {"InstanceNormalization", 7, make_channel_norm},
    [OP_GROUPNORM] = {"GroupNormalization", 21, make_channel_norm},
    [OP_LRN] = {"LRN", 7, make_local_response},
    [OP_CONCAT] = {"Concat", 7, make_with_axis},
    [OP_SPLIT] = {"Split", 7, make_split},
    [OP_TRANSPOSE] = {"Transpose", 7, make_transpose},
    [OP_RESHAPE] = {"Reshape", 7, make_reshape},
    [OP_BROADCAST] = {"Expand", 8, make_broadcast},
    [OP_SLICE] = {"Slice", 7, make_slice},
    [OP_PAD] = {"Pad", 7, make_pad},
    [OP_CAST] = {"Cast", 7, make_cast},
    [OP_TRILU] = {"Trilu", 14, make_trilu},
    [OP_GATHER] = {"Gather", 7, make_with_axis},
    [OP_GATHERELEMENTS] = {"GatherElements", 11, make_with_axis},
    [OP_ONEHOT] = {"OneHot", 9, make_one_hot},
};

bool make_nodes(struct exporter *x, node_id node)
{
    const struct node *n = &x->graph->nodes.items[node];
    const struct row *row = rows[n->op->id].make ? &rows[n->op->id] : &elementwise_rows[n->op->id];
    struct making m = {x, node, n, graph_inputs(x->graph, node), NULL};
    if (!row->make)
        return cannot_export(x, "the operator %s cannot be written as ONNX", n->op->name);
    if (x->model->opset < row->first_opset)
        return cannot_export(x, "the operator %s needs operator set %d", n->op->name, (int)row->first_opset);
    if (n->n_outputs == 1)
        m.output = name_of(x, n->first_output);
    return row->make(&m, row) && !x->failed;
}
