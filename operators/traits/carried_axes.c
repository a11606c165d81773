// An application, the same at one place of an axis, and one of tensors without that axis, evaluated in the prime field;
// and one of tensors that have the axis twice.
#include "operators/traits/carried_axes.h"

#include "core/memory/arena.h"
#include "operators/traits.h"
#include "operators/traits/application.h"
#include <string.h>

// --- which axes ------------------------------------------------------------------------------------------------------

static bool has_entry(const struct operator_call *call, enum attribute_role role, int64_t entry)
{
    const struct attribute_value *value = &call->attributes[operator_find_role(call->op, role)];
    return ANY(uint32_t, i, value->count, value->ints[i] == entry);
}

static bool is_of_images(const struct operator* op)
{
    return operator_has_windows(op) || operator_enlarges(op) || operator_merges_groups(op);
}

static bool is_carried(const struct definition *d, const struct operator_call *call, int axis)
{
    const struct operator* op = call->op;
    unsigned traits = definition_traits(d);
    if (call->n_inputs == 0 || operator_has_role(op, ROLE_SHAPE))
        return false;
    if (is_of_images(op))
        return axis >= 2 && call->inputs[0].rank > 3;
    if (operator_has_role(op, ROLE_AXIS))
        return (traits & TRAIT_KEEPS_RANK) && !has_entry(call, ROLE_AXIS, axis);
    if (operator_has_role(op, ROLE_AXES))
        return !has_entry(call, ROLE_AXES, axis) && call->attributes[operator_find_role(op, ROLE_AXES)].count > 0;
    if (traits & TRAIT_CONTRACTS)
        return axis < call->inputs[0].rank - 2;
    return operator_permutes(op) || (traits & TRAIT_ENTRY_BY_ENTRY);
}

static void set_entry(struct application *a, enum attribute_role role, uint32_t entry, int64_t value)
{
    int attribute = operator_find_role(a->call.op, role);
    if (attribute >= 0 && entry < a->attributes[attribute].count)
        a->ints[attribute][entry] = value;
}

// Along the axis the window becomes that of one entry, so that nothing but the place itself is read.
static void narrow_window(struct application *a, int axis)
{
    uint32_t spatial = (uint32_t)axis - 2, n = (uint32_t)a->inputs[0].rank - 2;
    if (operator_has_windows(a->call.op) && !operator_has_role(a->call.op, ROLE_KERNEL) && a->call.n_inputs == 2)
        a->inputs[1].dim[axis] = 1;
    set_entry(a, ROLE_KERNEL, spatial, operator_enlarges(a->call.op) ? a->inputs[0].dim[axis] : 1);
    set_entry(a, ROLE_STRIDE, spatial, 1);
    set_entry(a, ROLE_WINDOW_PADS, spatial, 0);
    set_entry(a, ROLE_WINDOW_PADS, spatial + n, 0);
}

// --- without one -----------------------------------------------------------------------------------------------------

static void drop_entry(struct application *a, int attribute, uint32_t entry)
{
    struct attribute_value *value = &a->attributes[attribute];
    int64_t *ints = a->ints[attribute];
    if (entry >= value->count)
        return;
    memmove(&ints[entry], &ints[entry + 1], (value->count - entry - 1) * sizeof *ints);
    value->count--;
}

static void drop_of_attribute(struct application *a, int attribute, int axis)
{
    struct attribute_value *value = &a->attributes[attribute];
    enum attribute_role role = a->call.op->attributes[attribute].role;
    int64_t *ints = a->ints[attribute];
    if (role == ROLE_WINDOW_PADS)
        drop_entry(a, attribute, (uint32_t)(axis - 2 + a->inputs[0].rank - 1));
    if (attribute_roles[role].is_of_window)
        drop_entry(a, attribute, (uint32_t)axis - 2);
    if (role == ROLE_PERMUTATION)
        for (uint32_t i = 0; i < value->count; i++)
            if (ints[i] == axis)
                drop_entry(a, attribute, i);
    if (role == ROLE_AXIS || role == ROLE_AXES || role == ROLE_PERMUTATION)
        for (uint32_t i = 0; i < value->count; i++)
            ints[i] -= ints[i] > axis;
}

static void drop_axis(struct application *a, int axis, int rank)
{
    for (int i = 0; i < a->call.n_inputs; i++)
        if (a->inputs[i].rank == rank) {
            memmove(&a->inputs[i].dim[axis], &a->inputs[i].dim[axis + 1], (size_t)(rank - axis - 1) * sizeof(int64_t));
            a->inputs[i].rank--;
        }
    for (int i = 0; i < operator_n_attributes(a->call.op); i++)
        drop_of_attribute(a, i, axis);
}

// --- with it twice ---------------------------------------------------------------------------------------------------

// An entry of a list once more.
static void repeat_entry(struct application *a, int attribute, uint32_t entry)
{
    struct attribute_value *list = &a->attributes[attribute];
    int64_t *ints = a->ints[attribute];
    if (entry >= list->count || list->count == MOST_ATTRIBUTE_ENTRIES)
        return;
    memmove(&ints[entry + 1], &ints[entry], (list->count - entry) * sizeof *ints);
    list->count++;
}

static void repeat_of_attribute(struct application *a, int attribute, int axis)
{
    struct attribute_value *value = &a->attributes[attribute];
    enum attribute_role role = a->call.op->attributes[attribute].role;
    int64_t *ints = a->ints[attribute];
    uint32_t spatial = (uint32_t)axis - 2, n = (uint32_t)a->inputs[0].rank - 2;
    if (role == ROLE_AXIS || role == ROLE_AXES || role == ROLE_PERMUTATION)
        for (uint32_t i = 0; i < value->count; i++)
            ints[i] += ints[i] > axis;
    for (uint32_t i = 0; role == ROLE_PERMUTATION && i < value->count; i++)
        if (ints[i] == axis) {
            repeat_entry(a, attribute, i);
            ints[i + 1] = axis + 1;
            break;
        }
    if (role == ROLE_WINDOW_PADS)
        repeat_entry(a, attribute, spatial + n);
    if (attribute_roles[role].is_of_window)
        repeat_entry(a, attribute, spatial);
}

static void repeat_axis(struct application *a, int axis, int rank)
{
    for (int i = 0; i < operator_n_attributes(a->call.op); i++)
        repeat_of_attribute(a, i, axis);
    for (int i = 0; i < a->call.n_inputs; i++)
        if (a->inputs[i].rank == rank) {
            memmove(&a->inputs[i].dim[axis + 1], &a->inputs[i].dim[axis], (size_t)(rank - axis) * sizeof(int64_t));
            a->inputs[i].rank++;
        }
}

static bool takes_it_twice(const struct operator_call *call, int axis, struct arena *scratch)
{
    struct application higher FREED_BY(application_free) = {0};
    int rank = call->inputs[0].rank;
    if (rank == MAX_RANK || !application_copy(&higher, call))
        return true;
    repeat_axis(&higher, axis, rank);
    return application_define(&higher, scratch);
}

// --- values ----------------------------------------------------------------------------------------------------------

// The axis of the outputs that this one of the input becomes.
static int axis_of_output(const struct application *a, int axis)
{
    int perm = operator_find_role(a->call.op, ROLE_PERMUTATION), axes = operator_find_role(a->call.op, ROLE_AXES);
    int at = axis;
    for (uint32_t i = 0; perm >= 0 && i < a->attributes[perm].count; i++)
        at = a->ints[perm][i] == axis ? (int)i : at;
    bool drops = axes >= 0 && definition_output(&a->d, 0)->rank < a->inputs[0].rank;
    for (int before = 0; drops && before < axis; before++)
        at -= has_entry(&a->call, ROLE_AXES, before);
    return at;
}

// A tensor at one place of an axis, as one without it.
static uint64_t *values_at(const uint64_t *values, const struct type *t, int axis, int64_t place, struct arena *scratch)
{
    int64_t inner = 1, all = type_elements(t);
    for (int i = axis + 1; i < t->rank; i++)
        inner *= t->dim[i];
    uint64_t *at = arena_array(scratch, uint64_t, all + 1);
    for (int64_t i = 0; t->dim[axis] > 0 && i < all / t->dim[axis]; i++)
        at[i] = values[(i / inner * t->dim[axis] + place) * inner + i % inner];
    return at;
}

static bool are_equal_at(const struct application *a, const struct application_values *v,
                         const struct application *lower, int axis, int64_t place, struct arena *scratch)
{
    struct application_values of_lower;
    int rank = a->inputs[0].rank, at = axis_of_output(a, axis);
    for (int i = 0; i < a->call.n_inputs; i++) {
        bool has_axis = a->inputs[i].rank == rank;
        int64_t own = a->inputs[i].dim[axis] > place ? place : 0;
        of_lower.inputs[i] = has_axis ? values_at(v->inputs[i], &a->inputs[i], axis, own, scratch) : v->inputs[i];
    }
    application_evaluate(lower, &of_lower, scratch);
    for (int i = 0; i < a->d.n_outputs; i++) {
        const struct type *z = definition_output(&a->d, i), *y = definition_output(&lower->d, i);
        if (at >= z->rank || z->dim[at] != a->inputs[0].dim[axis] ||
            type_elements(y) * z->dim[at] != type_elements(z) ||
            memcmp(values_at(v->outputs[i], z, at, place, scratch), of_lower.outputs[i],
                   (size_t)type_elements(y) * sizeof(uint64_t)) != 0)
            return false;
    }
    return true;
}

static bool is_same_without(struct application *a, int axis, struct arena *scratch)
{
    struct application lower FREED_BY(application_free);
    struct application_values v;
    if (!application_copy(&lower, &a->call))
        return true;
    drop_axis(&lower, axis, a->inputs[0].rank);
    if (!application_define(&lower, scratch) || !application_is_small(a))
        return true;
    application_make_inputs(a, &v, scratch);
    application_evaluate(a, &v, scratch);
    return are_equal_at(a, &v, &lower, axis, a->inputs[0].dim[axis] - 1, scratch);
}

static bool carries(const struct operator_call *call, int axis, struct arena *scratch)
{
    struct application a FREED_BY(application_free);
    if (!application_copy(&a, call))
        return true;
    if (is_of_images(call->op))
        narrow_window(&a, axis);
    return !application_define(&a, scratch) || a.d.is_data_dependent || is_same_without(&a, axis, scratch);
}

typedef bool ask_fn(const struct operator_call *call, int axis, struct arena *scratch);

static bool is_so_of_all(const struct definition *d, const struct operator_call *call, ask_fn *ask,
                         struct arena *scratch)
{
    bool is_so = true;
    for (int axis = 0; call->n_inputs && axis < call->inputs[0].rank && is_so; axis++)
        if (call->inputs[0].dim[axis] > 0 && is_carried(d, call, axis))
            is_so = ask(call, axis, scratch);
    return is_so;
}

bool operator_carries_axes(const struct definition *d, const struct operator_call *call, struct arena *scratch)
{
    return is_so_of_all(d, call, carries, scratch);
}

bool operator_takes_axes_twice(const struct definition *d, const struct operator_call *call, struct arena *scratch)
{
    return is_so_of_all(d, call, takes_it_twice, scratch);
}
