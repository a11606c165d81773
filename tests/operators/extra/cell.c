// cell: a step of a recurrence, with more inputs than most operators and two outputs.
//     c[i] = sigmoid(f[i]) * old[i] + sigmoid(n[i]) * tanh(g[i])      h[i] = sigmoid(o[i] + p[i] * c[i]) * tanh(c[i])
#include "operators/extra_operators.h"

enum { FORGET, NEW, GATE, OLD, OUTPUT, PEEPHOLE, BIAS, N_INPUTS };

static bool define_cell(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    for (int i = 0; i < N_INPUTS; i++)
        if (!dtype_is_float(x->dtype) || !type_equal(&call->inputs[i], x))
            return refuse(d, "cell needs inputs of one floating-point type");
    int c = output_add(d, x->dtype, x->rank, x->dim), h = output_add(d, x->dtype, x->rank, x->dim);
    expr kept = scalar_mul(d, scalar_unary(d, FN_SIGMOID, scalar_read_same(d, FORGET, c)), scalar_read_same(d, OLD, c));
    expr gate = scalar_unary(d, FN_TANH, scalar_read_same(d, GATE, c));
    stage_set_body(d, c,
                   scalar_add(d, kept, scalar_mul(d, scalar_unary(d, FN_SIGMOID, scalar_read_same(d, NEW, c)), gate)));
    expr now = scalar_read_same(d, c, h);
    expr peep = scalar_add(d, scalar_mul(d, scalar_read_same(d, PEEPHOLE, h), now), scalar_read_same(d, BIAS, h));
    expr open = scalar_unary(d, FN_SIGMOID, scalar_add(d, scalar_read_same(d, OUTPUT, h), peep));
    stage_set_body(d, h, scalar_mul(d, open, scalar_unary(d, FN_TANH, now)));
    return true;
}

extern const struct operator operator_cell;
const struct operator operator_cell = {
    .id = OP_CELL,
    .name = "cell",
    .summary = "a step of a recurrence",
    .min_inputs = N_INPUTS,
    .flags = OPERATOR_IS_ELEMENTWISE,
    .define = define_cell,
};
