// Operators that apply one scalar function to the entries at each place. All inputs have one shape: broadcasting is an
// operator of its own.
#include "operators/operator.h"

enum elementwise_kind { KIND_VALUE, KIND_TEST, KIND_CHOOSE };

static bool have_agreeing_types(struct definition *d, const struct operator_call *call, enum elementwise_kind kind)
{
    const struct type *in = call->inputs;
    for (int i = 1; i < call->n_inputs; i++) {
        if (!type_equal_shape(&in[0], &in[i]))
            return refuse(d, "%s needs inputs of one shape", call->op->name);
        if (in[i].dtype != in[kind == KIND_CHOOSE ? 1 : 0].dtype)
            return refuse(d, "%s needs inputs of one element type", call->op->name);
    }
    if (kind == KIND_CHOOSE && in[0].dtype != DTYPE_BOOL)
        return refuse(d, "%s chooses by a bool tensor", call->op->name);
    return true;
}

static enum dtype result_dtype(const struct operator_call *call, enum elementwise_kind kind)
{
    return kind == KIND_TEST ? DTYPE_BOOL : call->inputs[kind == KIND_CHOOSE ? 1 : 0].dtype;
}

static bool define_elementwise(struct definition *d, const struct operator_call *call, enum scalar_function fn,
                               enum elementwise_kind kind)
{
    if (!have_agreeing_types(d, call, kind))
        return false;
    int z = output_add(d, result_dtype(call, kind), call->inputs[0].rank, call->inputs[0].dim);
    expr operand[3] = {0};
    for (int i = 0; i < call->n_inputs; i++)
        operand[i] = scalar_read_same(d, i, z);
    stage_set_body(d, z, scalar_apply(d, fn, operand[0], operand[1], operand[2]));
    return true;
}

#define ELEMENTWISE(enumerator, label, fn, arity, kind, extra_flags, onnx_name)                                        \
    static bool define_##label(struct definition *d, const struct operator_call *call)                                 \
    {                                                                                                                  \
        return define_elementwise(d, call, FN_##fn, KIND_##kind);                                                      \
    }                                                                                                                  \
    extern const struct operator operator_##label;                                                                     \
    const struct operator operator_##label = {                                                                         \
        .id = OP_##enumerator,                                                                                         \
        .name = #label,                                                                                                \
        .onnx = onnx_name,                                                                                             \
        .summary = "z[i] = " #label " of the inputs at i",                                                             \
        .min_inputs = arity,                                                                                           \
        .max_inputs = arity,                                                                                           \
        .flags = OPERATOR_IS_ELEMENTWISE | (extra_flags),                                                              \
        .define = define_##label,                                                                                      \
    };
#include "operators/elementwise.def"
#undef ELEMENTWISE
