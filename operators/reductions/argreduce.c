// argmax and argmin: the place of the largest or smallest entry along an axis; of several, the first or the last.
//     m[i] = max(k) x[i,k]
//     z[i] = min(k) where(x[i,k] = m[i], k, size)
#include "operators/operator.h"
#include "operators/reductions/reduction.h"

enum { AXIS, KEEPDIMS, TIES };
enum { TIES_FIRST, TIES_LAST };
static const char *const tie_names[] = {"first", "last", NULL};

static int add_extreme(struct definition *d, const struct type *x, uint32_t axes, enum scalar_function fn)
{
    int64_t dim[MAX_RANK];
    int rank = reduced_shape(x, axes, REDUCED_AXES_DROPPED, dim);
    int m = stage_add(d, x->dtype, rank, dim);
    struct reduction r = reduction_begin(d, m, x, axes, REDUCED_AXES_DROPPED);
    stage_set_body(d, m, reduction_finish(d, &r, fn, scalar_read(d, 0, r.index)));
    return m;
}

static expr read_extreme(struct definition *d, int m, const struct reduction *r, int rank, int64_t axis)
{
    expr index[MAX_RANK];
    for (int i = 0, n = 0; i < rank; i++)
        if (i != axis)
            index[n++] = r->index[i];
    return scalar_read(d, m, index);
}

static bool define_argreduce(struct definition *d, const struct operator_call *call)
{
    const struct type *x = &call->inputs[0];
    int64_t axis = call_int(call, AXIS), keepdims = call_int(call, KEEPDIMS), dim[MAX_RANK];
    if (!dtype_is_number(x->dtype))
        return refuse(d, "%s needs numbers", call->op->name);
    if (axis < 0 || axis >= x->rank || x->dim[axis] == 0)
        return refuse(d, "%s needs an axis with entries", call->op->name);
    if (keepdims != 0 && keepdims != 1)
        return refuse(d, "keepdims of %s is 0 or 1", call->op->name);
    uint32_t axes = 1u << axis;
    int m = add_extreme(d, x, axes, (enum scalar_function)call->op->variant);
    enum reduced_axes reduced = keepdims ? REDUCED_AXES_KEPT : REDUCED_AXES_DROPPED;
    int rank = reduced_shape(x, axes, reduced, dim);
    int z = output_add(d, DTYPE_I64, rank, dim);
    struct reduction r = reduction_begin(d, z, x, axes, reduced);
    bool is_last = call_int(call, TIES) == TIES_LAST;
    expr is_extreme = scalar_apply(d, FN_EQUAL, scalar_read(d, 0, r.index), read_extreme(d, m, &r, x->rank, axis), 0);
    expr nowhere = scalar_real(d, is_last ? -1 : (double)x->dim[axis]);
    expr place = scalar_apply(d, FN_WHERE, is_extreme, scalar_of(d, r.index[axis]), nowhere);
    stage_set_body(d, z, reduction_finish(d, &r, is_last ? FN_MAX : FN_MIN, place));
    return true;
}

#define ARGREDUCE(enumerator, label, fn, onnx_name, text)                                                              \
    const struct operator operator_##label = {                                                                         \
        .id = OP_##enumerator,                                                                                         \
        .name = #label,                                                                                                \
        .onnx = onnx_name,                                                                                             \
        .summary = text,                                                                                               \
        .min_inputs = 1,                                                                                               \
        .attributes = {[AXIS] = {.name = "axis", .kind = ATTRIBUTE_INT, .role = ROLE_AXIS, .is_required = true},       \
                       [KEEPDIMS] = {.name = "keepdims", .kind = ATTRIBUTE_INT, .role = ROLE_KEEPDIMS, .standard = 1}, \
                       [TIES] = {.name = "ties", .kind = ATTRIBUTE_CHOICE, .choices = tie_names}},                     \
        .variant = fn,                                                                                                 \
        .define = define_argreduce,                                                                                    \
    };
ARGREDUCE(ARGMAX, argmax, FN_MAX, "ArgMax", "place of the maximum along an axis")
ARGREDUCE(ARGMIN, argmin, FN_MIN, "ArgMin", "place of the minimum along an axis")
