// reducesum, reducemean, reducemax, reducemin, reduceprod: one function over all entries along some axes.
//     z[i] = sum(j, k) x[i,j,k]            the axes are dropped, or kept with size 1
// The axes are listed in ascending order; no axis listed: nothing is reduced.
#include "operators/operator.h"
#include "operators/reductions/reduction.h"

enum { AXES, KEEPDIMS };
enum reduce_kind { KIND_SUM, KIND_MEAN, KIND_MAX, KIND_MIN, KIND_PROD };

static bool read_axes(struct definition *d, const struct operator_call *call, uint32_t *ret_axes)
{
    const struct attribute_value *axes = &call->attributes[AXES];
    int64_t previous = -1;
    *ret_axes = 0;
    for (uint32_t i = 0; i < axes->count; i++) {
        if (axes->ints[i] <= previous || axes->ints[i] >= call->inputs[0].rank)
            return refuse(d, "%s needs axes of its input, in ascending order", call->op->name);
        previous = axes->ints[i];
        *ret_axes |= 1u << previous;
    }
    return true;
}

static expr body_of_reduce(struct definition *d, const struct reduction *r, enum reduce_kind kind)
{
    static const enum scalar_function functions[] = {
        [KIND_SUM] = FN_ADD, [KIND_MAX] = FN_MAX, [KIND_MIN] = FN_MIN, [KIND_PROD] = FN_MUL};
    expr entry = scalar_read(d, 0, r->index);
    return kind == KIND_MEAN ? reduction_mean(d, r, entry) : reduction_finish(d, r, functions[kind], entry);
}

static bool define_reduce(struct definition *d, const struct operator_call *call)
{
    enum reduce_kind kind = (enum reduce_kind)call->op->variant;
    const struct type *x = &call->inputs[0];
    int64_t keepdims = call_int(call, KEEPDIMS), dim[MAX_RANK];
    uint32_t axes;
    if (!dtype_is_number(x->dtype))
        return refuse(d, "%s needs numbers", call->op->name);
    if (keepdims != 0 && keepdims != 1)
        return refuse(d, "keepdims of %s is 0 or 1", call->op->name);
    if (!read_axes(d, call, &axes))
        return false;
    enum reduced_axes reduced = keepdims ? REDUCED_AXES_KEPT : REDUCED_AXES_DROPPED;
    int rank = reduced_shape(x, axes, reduced, dim);
    int z = output_add(d, x->dtype, rank, dim);
    struct reduction r = reduction_begin(d, z, x, axes, reduced);
    if (r.places == 0 && !dtype_is_float(x->dtype) && (kind == KIND_MEAN || kind == KIND_MAX || kind == KIND_MIN))
        return refuse(d, "%s of no integer has no value", call->op->name);
    stage_set_body(d, z, body_of_reduce(d, &r, kind));
    return true;
}

#define REDUCE(enumerator, label, what, onnx_name, text)                                                               \
    const struct operator operator_##label = {                                                                         \
        .id = OP_##enumerator,                                                                                         \
        .name = #label,                                                                                                \
        .onnx = onnx_name,                                                                                             \
        .summary = text,                                                                                               \
        .min_inputs = 1,                                                                                               \
        .attributes =                                                                                                  \
            {[AXES] = {.name = "axes", .kind = ATTRIBUTE_INTS, .role = ROLE_AXES},                                     \
             [KEEPDIMS] = {.name = "keepdims", .kind = ATTRIBUTE_INT, .role = ROLE_KEEPDIMS, .standard = 1}},          \
        .variant = KIND_##what,                                                                                        \
        .define = define_reduce,                                                                                       \
    };
REDUCE(REDUCESUM, reducesum, SUM, "ReduceSum", "sum along axes")
REDUCE(REDUCEMEAN, reducemean, MEAN, "ReduceMean", "mean along axes")
REDUCE(REDUCEMAX, reducemax, MAX, "ReduceMax", "maximum along axes")
REDUCE(REDUCEMIN, reducemin, MIN, "ReduceMin", "minimum along axes")
REDUCE(REDUCEPROD, reduceprod, PROD, "ReduceProd", "product along axes")
