// Images whose sizes conditions name, read by windows that have few places: those are enumerated (T10; bounds.md, 2.3).
#include "verifier/bounds/windows/windows.h"

#include "operators/traits.h"
#include "verifier/bounds/text/same_sizes.h"
#include <string.h>

// Strides are tried at 1, at 2 and beyond: those beyond 2 are alike where no window can move by more than that.
#define LARGEST_ROOM 2
#define NOT_NAMED INT64_MIN

// Are all values of the attribute tried, however many there are? Strides that are computed are none of those that are
// tried: 5 less a stride of 3 is 2.
static bool is_tried(const struct attribute *a, const struct attribute_term *t)
{
    return a->kind == ATTRIBUTE_CHOICE || a->role == ROLE_AXIS || (a->role == ROLE_STRIDE && t->kind == TERM_VARIABLE);
}

// May attributes be something else in other instances, apart from choices, axes and strides?
static bool has_variable_windows(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++) {
                const struct attribute_term *t = p->nodes.items[n].attributes[i].terms[j];
                if (!is_tried(&p->nodes.items[n].op->attributes[i], t) && attribute_variables_of_term(t))
                    return true;
            }
    return false;
}

static int64_t entry_of_list(const struct typed_call *call, enum attribute_role role, int i, int64_t otherwise)
{
    int attribute = operator_find_role(call->op, role);
    return attribute >= 0 && (uint32_t)i < call->attributes[attribute].count ? call->attributes[attribute].ints[i]
                                                                             : otherwise;
}

static int64_t named_size_of_variable(const struct equation *eq, uint32_t variable, int axis)
{
    struct same_sizes same = same_sizes_of(eq);
    int64_t size = size_by_text(&same, variable, axis);
    return size ? size : NOT_NAMED;
}

// The size of a spatial axis of a kernel, where a condition or the constant's shape names it.
static int64_t named_size_of_kernel(const struct analysis *an, term_id term, int axis)
{
    const struct pattern *p = an->in->equation->pattern;
    const struct term *t = &p->terms.items[term];
    if (t->is_variable)
        return named_size_of_variable(an->in->equation, t->index, axis);
    const struct pattern_node *node = &p->nodes.items[t->index];
    if (operator_joins(node->op) && entry_of_list(an->in->calls[t->index], ROLE_AXIS, 0, axis) != axis)
        return named_size_of_kernel(an, node->inputs[0], axis);
    int shape = operator_find_role(node->op, ROLE_SHAPE);
    bool is_named = node->n_inputs == 0 && shape >= 0 && (uint32_t)axis < node->attributes[shape].count &&
                    node->attributes[shape].terms[axis]->kind == TERM_INTEGER;
    return is_named ? node->attributes[shape].terms[axis]->value : NOT_NAMED;
}

// How far windows reach, less what is padded.
static int64_t reach_of_node(const struct analysis *an, uint32_t node, int axis)
{
    const struct typed_call *call = an->in->calls[node];
    int pad = operator_find_role(call->op, ROLE_WINDOW_PADS), spatial = axis - 2;
    int axes = pad >= 0 ? (int)call->attributes[pad].count / 2 : 0;
    int64_t kernel = operator_convolves(call->op)
                         ? named_size_of_kernel(an, an->in->equation->pattern->nodes.items[node].inputs[1], axis)
                         : entry_of_list(call, ROLE_KERNEL, spatial, NOT_NAMED);
    if (kernel == NOT_NAMED)
        return NOT_NAMED;
    return (kernel - 1) * entry_of_list(call, ROLE_DILATION, spatial, 1) + 1 -
           entry_of_list(call, ROLE_WINDOW_PADS, spatial, 0) - entry_of_list(call, ROLE_WINDOW_PADS, axes + spatial, 0);
}

// The largest size that a spatial axis can have at any strides: that with all of them 1.
static int64_t largest_size(const struct analysis *an, term_id term, int axis)
{
    const struct equation *eq = an->in->equation;
    const struct term *t = &eq->pattern->terms.items[term];
    if (t->is_variable)
        return named_size_of_variable(eq, t->index, axis);
    const struct pattern_node *node = &eq->pattern->nodes.items[t->index];
    bool is_alike = operator_works_entry_by_entry(node->op) || operator_joins(node->op) || operator_splits(node->op);
    if (node->n_inputs == 0 || (!is_alike && !operator_has_windows(node->op)))
        return NOT_NAMED;
    int along = (int)entry_of_list(an->in->calls[t->index], ROLE_AXIS, 0, -1);
    if (is_alike && along == axis)
        return NOT_NAMED;
    int64_t size = largest_size(an, node->inputs[0], axis);
    if (size == NOT_NAMED || is_alike)
        return size;
    int64_t reach = reach_of_node(an, t->index, axis);
    return reach == NOT_NAMED ? NOT_NAMED : size - reach + 1;
}

// No stride of the node makes another difference than those that are tried.
static bool has_little_room(const struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    type_id type = instance_term_type(an->in, n->inputs[0]);
    for (int axis = 2; axis < typing_type(an->in->typing, type)->rank; axis++) {
        int64_t size = largest_size(an, n->inputs[0], axis), reach = reach_of_node(an, node, axis);
        if (size == NOT_NAMED || reach == NOT_NAMED || size - reach > LARGEST_ROOM)
            return false;
    }
    return true;
}

bool windows_are_fixed(struct analysis *an, uint16_t of_windows)
{
    const struct equation *eq = an->in->equation;
    if (an->n_windows == 0 || eq->is_strong || has_variable_windows(eq->pattern))
        return false;
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        for (int axis = 0; an->in->types[v] && axis < an->in->types[v]->rank; axis++)
            if ((an->class_flags[classes_find(an, v * MAX_RANK + (uint32_t)axis)] & of_windows) &&
                named_size_of_variable(eq, v, axis) == NOT_NAMED)
                return false;
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if (operator_has_windows(eq->pattern->nodes.items[n].op) && !has_little_room(an, n))
            return false;
    return true;
}
