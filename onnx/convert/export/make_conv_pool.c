// Convolutions, products and pooling as ONNX nodes. A convolution takes its bias back, and a product of matrices what
// is added to it, as Gemm, which transposes its factors, too.
#include "onnx/convert/export/make_conv_pool.h"

#include "onnx/convert/export/making.h"

#include "operators/elementwise/fused_activation.h"
#include "operators/traits.h"

// ---- what takes a bias ----

static bool multiplies(const struct operator* op)
{
    return op->id == OP_MATMUL;
}

// The result of such an operator among the inputs of an addition, for nothing else to read.
static bool find_biased(const struct making *m, bool (*is_wanted)(const struct operator* op), tensor_id *ret_biased,
                        tensor_id *ret_bias)
{
    const struct graph *g = m->x->graph;
    for (int i = 0; i < 2; i++) {
        const struct node *n = graph_producer(g, m->inputs[i]);
        if (!is_wanted(n->op) || m->x->wanted.uses[m->inputs[i]] != 1)
            continue;
        *ret_biased = m->inputs[i];
        *ret_bias = behind_broadcast(g, m->inputs[1 - i]);
        return node_attribute(n, ROLE_ACTIVATION)->ints[0] == ACTIVATION_NONE;
    }
    return false;
}

static bool is_matrix_of_numbers(const struct type *t)
{
    return t->rank == 2 && (t->dtype == DTYPE_F32 || t->dtype == DTYPE_F64);
}

// A product of two matrices of numbers that Gemm is for everywhere.
static bool find_biased_product(const struct making *m, tensor_id *ret_product, tensor_id *ret_bias)
{
    const struct graph *g = m->x->graph;
    const struct type *z = output_type(m);
    return is_matrix_of_numbers(z) && find_biased(m, multiplies, ret_product, ret_bias) &&
           graph_type(g, *ret_bias)->rank <= 2 && type_equal_shape(graph_type(g, *ret_product), z) &&
           !m->x->is_constant[g->tensors.items[*ret_product].producer];
}

// Was the tensor made by no node of the model, or by one of these?
static bool is_made_by(const struct exporter *x, tensor_id tensor, const char *op_type)
{
    const struct imported_origin *origin = imported_model_find_origin(x->model, x->graph->tensors.items[tensor].value);
    return !origin || origin->node == NO_ORIGIN || onnx_string_is(&source_node(x, origin->node)->op_type, op_type);
}

// A transposition for the product alone. Of a constant it is one that the model has: others are computed.
static bool is_transposed_for_it(const struct exporter *x, tensor_id factor)
{
    const struct node *n = graph_producer(x->graph, factor);
    const struct imported_origin *origin = imported_model_find_origin(x->model, x->graph->tensors.items[factor].value);
    bool is_computed = x->is_constant[x->graph->tensors.items[factor].producer] &&
                       (!origin || origin->node == NO_ORIGIN || !is_made_by(x, factor, "Transpose"));
    return n->op->id == OP_TRANSPOSE && n->attributes[0].ints[0] == 1 && x->wanted.uses[factor] == 1 && !is_computed;
}

#define GEMM_WITHOUT_BIAS 11   // the operator set

static bool is_transposed_product(const struct making *m)
{
    return multiplies(m->node->op) && is_matrix_of_numbers(output_type(m)) && opset_of(m) >= GEMM_WITHOUT_BIAS &&
           (is_transposed_for_it(m->x, m->inputs[0]) || is_transposed_for_it(m->x, m->inputs[1]));
}

bool is_written_as_gemm(struct exporter *x, node_id node)
{
    struct making m = {x, node, &x->graph->nodes.items[node], graph_inputs(x->graph, node), NULL};
    tensor_id output = m.node->first_output, product, bias;
    return !x->is_constant[node] &&
           (m.node->op->id == OP_EWADD ? is_made_by(x, output, "Add") && find_biased_product(&m, &product, &bias)
                                       : is_transposed_product(&m) && is_made_by(x, output, "MatMul"));
}

// NO_TENSOR: without a bias.
static void emit_gemm(const struct making *m, const struct node *product, tensor_id bias, const char *output)
{
    static const char *const transposed[2] = {"transA", "transB"};
    const struct graph *g = m->x->graph;
    const char *names[3] = {NULL};
    bool is_transposed[2];
    for (int i = 0; i < 2; i++) {
        tensor_id factor = g->edges.items[product->first_input + i];
        is_transposed[i] = is_transposed_for_it(m->x, factor);
        names[i] = name_of(m->x, is_transposed[i] ? g->edges.items[graph_producer(g, factor)->first_input] : factor);
    }
    if (bias != NO_TENSOR)
        names[2] = name_of(m->x, bias);
    struct onnx_node *n = emit(m->x, "Gemm", bias == NO_TENSOR ? 2 : 3, names, output);
    for (int i = 0; i < 2; i++)
        if (is_transposed[i])
            set_int_attribute(m->x, n, transposed[i], 1);
}

// A bias is one number per channel and nothing else: (C, 1, 1) or (1, C, 1, 1) beside (N, C, H, W).
static bool varies_along_channels(const struct type *bias, const struct type *image)
{
    int channel = 1 - (image->rank - bias->rank);
    return channel >= 0 && bias->dim[channel] == image->dim[1] &&
           ALL(int, i, bias->rank, i == channel || bias->dim[i] == 1);
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

static void emit_conv(const struct making *m, const struct node *conv, const char *bias, const char *output)
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
}

void make_sum(struct making *m, const struct row *row)
{
    tensor_id biased = NO_TENSOR, bias = NO_TENSOR;
    const struct type *z = output_type(m);
    if (find_biased_product(m, &biased, &bias))
        emit_gemm(m, graph_producer(m->x->graph, biased), bias, m->output);
    else if (find_biased(m, operator_convolves, &biased, &bias) &&
             varies_along_channels(graph_type(m->x->graph, bias), z) &&
             m->x->is_constant[m->x->graph->tensors.items[bias].producer])
        emit_conv(m, graph_producer(m->x->graph, biased), name_of_bias(m, bias, z->dim[1]), m->output);
    else
        make_elementwise(m, row);
}

void make_conv(struct making *m, const struct row *row)
{
    const char *inner = inner_output(m);
    emit_conv(m, m->node, NULL, inner);
    finish_with_activation(m, inner);
}

void make_matmul(struct making *m, const struct row *row)
{
    const char *inner = inner_output(m);
    if (is_transposed_product(m))
        emit_gemm(m, m->node, NO_TENSOR, inner);
    else
        emit_plain(m, row->onnx, inner);
    finish_with_activation(m, inner);
}

// ---- pooling ----

static bool is_global(const struct making *m)
{
    const struct type *x = input_type(m, 0), *z = output_type(m);
    const struct attribute_value *kernel = attribute_of(m, "kernel"), *pad = attribute_of(m, "pad");
    return ALL(int, i, x->rank - 2, kernel->ints[i] == x->dim[2 + i] && z->dim[2 + i] == 1) &&
           ALL(uint32_t, i, pad->count, !pad->ints[i]);
}

static bool has_known_size(const struct making *m)
{
    const struct attribute_value *kernel = attribute_of(m, "kernel");
    return ALL(uint32_t, i, kernel->count, !sizes_varies(&m->x->model->symbols.sizes, kernel->ints[i]));
}

static bool is_dilated(const struct making *m)
{
    const struct attribute_value *dilation = attribute_of(m, "dilation");
    return ANY(uint32_t, i, dilation->count, dilation->ints[i] != 1);
}

void make_pool(struct making *m, const struct row *row)
{
    bool is_average = m->node->op->id == OP_POOLAVG;
    const char *inner = inner_output(m);
    if (is_global(m) && dtype_is_float(output_type(m)->dtype)) {
        emit_plain(m, is_average ? "GlobalAveragePool" : "GlobalMaxPool", inner);
        finish_with_activation(m, inner);
        return;
    }
    if (!has_known_size(m))
        cannot_export(m->x, "%s of windows whose size is not known", row->onnx);
    if (is_dilated(m) && opset_of(m) < (is_average ? 19 : 10))
        cannot_export(m->x, "%s with dilation needs a newer operator set", row->onnx);
    struct onnx_node *n = emit_plain(m, row->onnx, inner);
    if (is_average && int_of(m, "padding"))
        set_int_attribute(m->x, n, "count_include_pad", 1);
    if (is_dilated(m))
        set_ints_attribute(m->x, n, "dilations", attribute_of(m, "dilation")->count, attribute_of(m, "dilation")->ints);
    set_ints_attribute(m->x, n, "kernel_shape", attribute_of(m, "kernel")->count, attribute_of(m, "kernel")->ints);
    set_ints_attribute(m->x, n, "pads", attribute_of(m, "pad")->count, attribute_of(m, "pad")->ints);
    set_ints_attribute(m->x, n, "strides", attribute_of(m, "stride")->count, attribute_of(m, "stride")->ints);
    finish_with_activation(m, inner);
}
