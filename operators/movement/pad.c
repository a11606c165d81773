// pad: a tensor with entries put around it (a negative pad cuts).
//     constant   z[i] = x[i - begin]   or the value
// Pads are a list of begins, then of ends, for every axis.
#include "operators/operator.h"
#include <math.h>

enum { PADS, VALUE };

static expr inside_or_value(struct definition *d, int z, const int64_t *begin, double value)
{
    const struct type *x = &d->inputs[0];
    expr index[MAX_RANK];
    for (int i = 0; i < x->rank; i++)
        index[i] = index_offset(d, stage_index(d, z, i), -begin[i]);
    expr body = scalar_read_or(d, 0, index, OUTSIDE_ZERO);
    if (value == 0 && !signbit(value))
        return body;
    expr outside = scalar_real(d, value);
    for (int i = 0; i < x->rank; i++) {
        expr room = index_offset(d, index_mul(d, index[i], -1), x->dim[i] - 1);
        body = scalar_select(d, index[i], scalar_select(d, room, body, outside), outside);
    }
    return body;
}

static bool define_pad(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *pads = &call->attributes[PADS];
    if (pads->count != 2 * (uint32_t)x->rank)
        return refuse(d, "pad needs %d pads", 2 * x->rank);
    struct type shape = *x;
    for (int i = 0; i < x->rank; i++) {
        int64_t begin = pads->ints[i], end = pads->ints[x->rank + i];
        if (begin > MAX_ELEMENTS || end > MAX_ELEMENTS || begin < -MAX_ELEMENTS || end < -MAX_ELEMENTS ||
            x->dim[i] + begin + end < 0)
            return refuse(d, "pad leaves nothing of axis %d", i);
        shape.dim[i] = x->dim[i] + begin + end;
    }
    int z = output_add(d, x->dtype, x->rank, shape.dim);
    stage_set_body(d, z, inside_or_value(d, z, pads->ints, call_real(call, VALUE)));
    return true;
}

const struct operator operator_pad = {
    .id = OP_PAD,
    .name = "pad",
    .onnx = "Pad (constant)",
    .summary = "a tensor with a constant around it",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[PADS] = {.name = "pads", .kind = ATTRIBUTE_INTS, .role = ROLE_PADS, .is_required = true},
                   [VALUE] = {.name = "value", .kind = ATTRIBUTE_REAL}},
    .define = define_pad,
};
