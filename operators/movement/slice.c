// slice: every step-th entry of a range, on each axis (steps may be negative).
//     z[i...] = x[start + i * step ...]
#include "operators/operator.h"

enum { START, SIZE, STEP };

static bool is_range_inside(int64_t start, int64_t size, int64_t step, int64_t limit)
{
    if (size == 0)
        return true;
    if (start < 0 || start >= limit)
        return false;
    int64_t room = step > 0 ? limit - 1 - start : start;
    return size - 1 <= room / (step > 0 ? step : -step);
}

static bool define_slice(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    const struct attribute_value *start = &call->attributes[START], *size = &call->attributes[SIZE],
                                 *step = &call->attributes[STEP];
    uint32_t rank = (uint32_t)x->rank;
    if (start->count != rank || size->count != rank || (step->count != rank && step->count != 0))
        return refuse(d, "slice needs start, size and step for each of %d axes", x->rank);
    for (uint32_t i = 0; i < rank; i++) {
        int64_t s = step->count ? step->ints[i] : 1, limit = x->dim[i];
        if (size->ints[i] < 0 || size->ints[i] > limit || s == 0 || s > MAX_ELEMENTS || s < -MAX_ELEMENTS)
            return refuse(d, "slice has a bad size or step on axis %u", i);
        if (!is_range_inside(start->ints[i], size->ints[i], s, limit))
            return refuse(d, "slice leaves the tensor on axis %u", i);
    }
    int z = output_add(d, x->dtype, x->rank, size->ints);
    expr index[MAX_RANK];
    for (int i = 0; i < x->rank; i++) {
        expr place = index_mul(d, stage_index(d, z, i), step->count ? step->ints[i] : 1);
        index[i] = index_offset(d, place, size->ints[i] > 0 ? start->ints[i] : 0);
    }
    stage_set_body(d, z, scalar_read(d, 0, index));
    return true;
}

const struct operator operator_slice = {
    .id = OP_SLICE,
    .name = "slice",
    .onnx = "Slice",
    .summary = "a regular range on each axis",
    .min_inputs = 1,
    .flags = OPERATOR_KEEPS_RANK,
    .attributes = {[START] = {.name = "start", .kind = ATTRIBUTE_INTS, .role = ROLE_START},
                   [SIZE] = {.name = "size", .kind = ATTRIBUTE_INTS, .role = ROLE_SIZE},
                   [STEP] = {.name = "step", .kind = ATTRIBUTE_INTS, .role = ROLE_STEP}},
    .define = define_slice,
};
