// One row per operator of the graph: how it is written as new ONNX nodes. Operators whose nodes are always constant, or
// never made by a rewrite, have none.
#include "onnx/convert/export/making.h"

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
    [OP_SHRINK] = {"Shrink", 9, make_curve},
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
    [OP_CONCAT] = {"Concat", 7, make_concat},
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
