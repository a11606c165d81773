// Operators that apply one scalar function to the entries at each place. All inputs have one shape: broadcasting is an
// operator of its own.
#include "operators/operator.h"

enum elementwise_kind { KIND_NUMBER, KIND_FLOAT, KIND_ORDER, KIND_SAMENESS, KIND_TEST, KIND_LOGIC, KIND_CHOOSE };

static const struct kind_info {
    bool is_dtype[4];   // may the inputs be floating-point, integer, bool, other?
    bool makes_bool;
    const char *wants;
} kinds[] = {
    [KIND_NUMBER] = {{true, true, false, false}, false, "numbers"},
    [KIND_FLOAT] = {{true, false, false, false}, false, "floating-point numbers"},
    [KIND_ORDER] = {{true, true, false, false}, true, "numbers"},
    [KIND_SAMENESS] = {{true, true, true, false}, true, "numbers or bools"},
    [KIND_TEST] = {{true, false, false, false}, true, "floating-point numbers"},
    [KIND_LOGIC] = {{false, false, true, false}, true, "bools"},
    [KIND_CHOOSE] = {{true, true, true, true}, false, "tensors"},
};

static int class_of(enum dtype dtype)
{
    return dtype_is_float(dtype) ? 0 : dtype_is_integer(dtype) ? 1 : dtype == DTYPE_BOOL ? 2 : 3;
}

static bool have_agreeing_types(struct definition *d, const struct operator_call *call, enum elementwise_kind kind)
{
    const struct type *in = call->inputs;
    int first = kind == KIND_CHOOSE ? 1 : 0;
    if (kind == KIND_CHOOSE && in[0].dtype != DTYPE_BOOL)
        return refuse(d, "%s chooses by a bool tensor", call->op->name);
    if (!kinds[kind].is_dtype[class_of(in[first].dtype)])
        return refuse(d, "%s needs %s, not %s", call->op->name, kinds[kind].wants, dtype_name(in[first].dtype));
    for (int i = 1; i < call->n_inputs; i++) {
        if (!type_equal_shape(&in[0], &in[i]))
            return refuse(d, "%s needs inputs of one shape", call->op->name);
        if (in[i].dtype != in[first].dtype)
            return refuse(d, "%s needs inputs of one element type", call->op->name);
    }
    return true;
}

static enum dtype result_dtype(const struct operator_call *call, enum elementwise_kind kind)
{
    return kinds[kind].makes_bool ? DTYPE_BOOL : call->inputs[kind == KIND_CHOOSE ? 1 : 0].dtype;
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
        .flags = OPERATOR_IS_ELEMENTWISE | (extra_flags),                                                              \
        .define = define_##label,                                                                                      \
    };
#include "operators/elementwise/elementwise.def"
#undef ELEMENTWISE
