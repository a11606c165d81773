// Windows are paired along the ways from the outputs, level by level; kernels of one entry are none (T10; bounds.md,
// 2.3).
#include "substitutions/pattern.h"
#include "verifier/bounds/windows/windows.h"

#include "operators/traits.h"
#include "operators/window.h"
#include "verifier/bounds/classes/same_terms.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/instances/size_ranges.h"
#include <string.h>

// --- windows that are alike ------------------------------------------------------------------------------------------

// A convolution whose kernel has one entry on the window's axis, in all instances.
static bool has_kernel_of_one(const struct analysis *an, const struct axes_of_one *ones, const struct window_use *w)
{
    const struct pattern_node *node = &an->in->equation->pattern->nodes.items[w->node];
    return w->kernel_item != NO_ITEM && operator_convolves(node->op) && node->inputs[1] < ones->n_terms &&
           (ones->axes[node->inputs[1]] >> w->axis & 1) && w->extent_of_sum == 1;
}

// Of a kernel's shape, what comes after filters and channels. None: that is not seen.
static struct term_list sizes_of_windows(const struct attribute_pattern *shape)
{
    struct term_list all = {shape->count, shape->terms};
    if (all.n == 1 && all.terms[0]->kind == TERM_LIST)
        all = (struct term_list){all.terms[0]->count, all.terms[0]->operands};
    bool is_seen = all.n > 2 && attribute_term_is_one_entry(all.terms[0]) && attribute_term_is_one_entry(all.terms[1]);
    return is_seen ? (struct term_list){all.n - 2, all.terms + 2} : (struct term_list){0};
}

// The sizes of kernels by the text: of a pooling its attribute, of a convolution the shape of a constant with axes of
// the same class, without filters and channels. None: the text does not say them.
static struct term_list sizes_of_kernel(struct analysis *an, const struct window_use *w)
{
    const struct pattern *p = an->in->equation->pattern;
    const struct pattern_node *node = &p->nodes.items[w->node];
    int kernel = operator_find_role(node->op, ROLE_KERNEL);
    if (kernel >= 0)
        return (struct term_list){node->attributes[kernel].count, node->attributes[kernel].terms};
    for (term_id t = 0; t < p->terms.count && w->kernel_item != NO_ITEM; t++) {
        const struct pattern_node *of = p->terms.items[t].is_variable ? NULL : &p->nodes.items[p->terms.items[t].index];
        int shape = of && of->n_inputs == 0 ? operator_find_role(of->op, ROLE_SHAPE) : -1;
        struct term_list sizes = shape < 0 ? (struct term_list){0} : sizes_of_windows(&of->attributes[shape]);
        uint32_t item = classes_item_of_axis(an, t, w->axis);
        if (sizes.n && item != NO_ITEM && classes_find(an, item) == classes_find(an, w->kernel_item))
            return sizes;
    }
    return (struct term_list){0};
}

static bool have_kernels_alike(struct analysis *an, const struct axes_of_one *ones, const struct window_use *x,
                               const struct window_use *y)
{
    struct term_list a = sizes_of_kernel(an, x), b = sizes_of_kernel(an, y);
    bool are_said_alike = a.n && b.n && terms_are_alike(an, a, b);
    bool are_one = x->kernel_item != NO_ITEM && y->kernel_item != NO_ITEM &&
                   classes_find(an, x->kernel_item) == classes_find(an, y->kernel_item);
    return are_said_alike || are_one || (has_kernel_of_one(an, ones, x) && has_kernel_of_one(an, ones, y));
}

// At all attributes and sizes, not only in this instance.
static bool has_same_text(struct analysis *an, const struct axes_of_one *ones, const struct window_use *x,
                          const struct window_use *y)
{
    bool have_ones = has_kernel_of_one(an, ones, x) && has_kernel_of_one(an, ones, y);
    return attributes_are_alike(an, x->node, y->node, ROLE_STRIDE) &&
           attributes_are_alike(an, x->node, y->node, ROLE_WINDOW_PADS) &&
           (have_ones || attributes_are_alike(an, x->node, y->node, ROLE_DILATION)) &&
           have_kernels_alike(an, ones, x, y);
}

// One entry has nothing to dilate.
static bool is_same_window(struct analysis *an, const struct axes_of_one *ones, const struct window_use *x,
                           const struct window_use *y)
{
    bool is_dilated_alike =
        x->dilation == y->dilation || (has_kernel_of_one(an, ones, x) && has_kernel_of_one(an, ones, y));
    return x->stride == y->stride && is_dilated_alike && x->offset == y->offset && x->size == y->size &&
           x->outside == y->outside && x->extent_of_sum == y->extent_of_sum && has_same_text(an, ones, x, y);
}

// Does something that the node reads have a window of its own?
static bool has_windows_below(const struct analysis *an, uint32_t node)
{
    const struct pattern *p = an->in->equation->pattern;
    node_set below = 0;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++)
        below |= equation_nodes_of_term(p, p->nodes.items[node].inputs[i]);
    for (int i = 0; i < an->n_windows; i++)
        if (below >> an->windows[i].node & 1)
            return true;
    return false;
}

static bool has_same_tests(const struct analysis *an)
{
    int same = 0;
    for (int i = 0; i < an->n_tests[0]; i++)
        for (int j = 0; j < an->n_tests[1]; j++)
            same += an->tests[0][i].form == an->tests[1][j].form;
    return same == an->n_tests[0] && same == an->n_tests[1];
}

// No window stands behind another one.
static bool are_alike_side_by_side(struct analysis *an, const struct axes_of_one *ones)
{
    uint32_t sides_with_windows = 0;
    for (int i = 0; i < an->n_windows; i++) {
        sides_with_windows |= 1u << an->windows[i].side;
        if (has_windows_below(an, an->windows[i].node))
            return false;
        for (int j = 0; j < i; j++)
            if (an->windows[i].axis == an->windows[j].axis &&
                !is_same_window(an, ones, &an->windows[i], &an->windows[j]))
                return false;
    }
    return sides_with_windows == 3 && has_same_tests(an);
}

// --- windows behind windows ------------------------------------------------------------------------------------------

// How many windows stand between the output and the axes of a class: one number for each class and, on each side, one
// class for each number, spatial axis by spatial axis.
#define NO_LEVEL (-1)
#define MAX_LEVELS MAX_RULE_NODES
struct levels {
    int of_class[MAX_ITEMS], axis[MAX_ITEMS];
    int of_window[MAX_WINDOWS];
};

static bool set_level(struct levels *l, uint32_t class, int level, int axis)
{
    if (l->of_class[class] == NO_LEVEL) {
        l->of_class[class] = level;
        l->axis[class] = axis;
    }
    return l->of_class[class] == level && l->axis[class] == axis;
}

static bool is_read_by_a_window(struct analysis *an, uint32_t class)
{
    for (int i = 0; i < an->n_windows; i++)
        if (classes_find(an, an->windows[i].read_item) == class)
            return true;
    return false;
}

// False: some class would have two levels, or a window stands behind itself.
static bool find_levels(struct analysis *an, struct levels *ret)
{
    for (uint32_t i = 0; i < an->n_items; i++)
        ret->of_class[i] = NO_LEVEL;
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *w = &an->windows[i];
        uint32_t class = classes_find(an, w->index_item);
        if (!is_read_by_a_window(an, class) && !set_level(ret, class, 0, w->axis))
            return false;
    }
    for (int round = 0; round < MAX_LEVELS; round++)
        for (int i = 0; i < an->n_windows; i++) {
            const struct window_use *w = &an->windows[i];
            int level = ret->of_class[classes_find(an, w->index_item)];
            if (level != NO_LEVEL && !set_level(ret, classes_find(an, w->read_item), level + 1, w->axis))
                return false;
            ret->of_window[i] = level;
        }
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *w = &an->windows[i];
        if (ret->of_window[i] == NO_LEVEL || ret->axis[classes_find(an, w->index_item)] != w->axis)
            return false;
    }
    return true;
}

static bool is_one_class_for_each_level(struct analysis *an, const struct levels *l)
{
    for (int i = 0; i < an->n_windows; i++)
        for (int j = 0; j < i; j++) {
            const struct window_use *x = &an->windows[i], *y = &an->windows[j];
            if (x->side == y->side && x->axis == y->axis && l->of_window[i] == l->of_window[j] &&
                (classes_find(an, x->index_item) != classes_find(an, y->index_item) ||
                 classes_find(an, x->read_item) != classes_find(an, y->read_item)))
                return false;
        }
    return true;
}

// Places of windows are used for nothing but reading, and all of one entry of the output come from one place of it.
static bool has_nothing_but_windows(const struct analysis *an, const struct levels *l)
{
    for (uint32_t c = 0; c < an->n_items; c++)
        if (an->parents[c] == c && l->of_class[c] != NO_LEVEL &&
            ((an->class_flags[c] & ~HAS_WINDOW) || an->labels[c] > (l->of_class[c] == 0 ? 1 : 0)))
            return false;
    return true;
}

// Kernels of one entry in all instances, or of one label, so that one entry is enough.
static bool has_one_place(struct analysis *an, const struct axes_of_one *ones, const struct levels *l,
                          const struct window_use *w)
{
    if (w->kernel_item == NO_ITEM)
        return false;
    uint32_t class = classes_find(an, w->kernel_item);
    bool is_free = an->labels[class] <= 1 && !(an->class_flags[class] & ~HAS_KERNEL);
    return l->of_class[class] == NO_LEVEL && (is_free || has_kernel_of_one(an, ones, w));
}

// Each level has the same windows on both sides.
static bool are_alike_level_by_level(struct analysis *an, const struct axes_of_one *ones, const struct levels *l)
{
    for (int i = 0; i < an->n_windows; i++) {
        uint32_t sides = 0;
        for (int j = 0; j < an->n_windows; j++) {
            const struct window_use *x = &an->windows[i], *y = &an->windows[j];
            if (x->axis != y->axis || l->of_window[i] != l->of_window[j])
                continue;
            sides |= 1u << y->side;
            if (!is_same_window(an, ones, x, y))
                return false;
        }
        if (sides != 3)
            return false;
    }
    return true;
}

// A test whether the place in a kernel of one entry is its middle says nothing.
static bool has_tests_of_ones_alone(const struct analysis *an)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < an->n_tests[side]; i++)
            if (an->tests[side][i].item == NO_ITEM || an->size[an->tests[side][i].item] != 1)
                return false;
    return true;
}

// --- zeros around what a window reads --------------------------------------------------------------------------------

// Is the entry 0 when all entries of variables that are read at the index are? Then a window that reads outside of it
// might as well have read zeros of these.
static enum passing zero_is_kept(enum scalar_function fn)
{
    switch (fn) {
    case FN_NEG:
    case FN_RELU:
    case FN_ABS:
    case FN_TANH:
    case FN_DIV:
        return PASSES_FIRST;
    case FN_MUL:
        return PASSES_EITHER;
    case FN_ADD:
    case FN_SUB:
    case FN_MAX:
    case FN_MIN:
        return PASSES_BOTH;
    default:
        return PASSES_NEVER;
    }
}

static bool tensor_vanishes(const struct analysis *an, uint32_t node, int tensor, int axis)
{
    return classes_tensor_is_read_along(an, node, tensor, axis, zero_is_kept);
}

// All that windows read vanishes with the variables in it.
static bool reads_nothing_but_zeros_outside(const struct analysis *an)
{
    const struct pattern *p = an->in->equation->pattern;
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *w = &an->windows[i];
        bool is_of_input = false;   // and of no stage of the node itself
        if (w->outside == OUTSIDE_LOWEST)
            return false;
        for (uint32_t k = 0; k < p->nodes.items[w->node].n_inputs; k++) {
            if (classes_item_of_axis(an, p->nodes.items[w->node].inputs[k], w->axis) != w->read_item)
                continue;
            is_of_input = true;
            if (!tensor_vanishes(an, w->node, (int)k, w->axis))
                return false;
        }
        if (!is_of_input)
            return false;
    }
    return true;
}

// --- places beside images --------------------------------------------------------------------------------------------

// Kernels of variables, and what is made of them place by place, are the same formula at each of their places. An
// identity or an enlarged kernel is not: that pads of 1 put its first place beside the image says nothing of the one in
// the middle.
static bool is_alike_at_all_places(const struct pattern *p, term_id kernel)
{
    node_set below = equation_nodes_of_term(p, kernel);
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        int axis = operator_find_role(node->op, ROLE_AXIS);
        const struct attribute_term *at =
            axis >= 0 && node->attributes[axis].count ? node->attributes[axis].terms[0] : NULL;
        bool is_of_filters =
            at && at->kind == TERM_INTEGER && at->value < 2 && (operator_joins(node->op) || operator_splits(node->op));
        if ((below >> n & 1) && !is_of_filters && !operator_works_entry_by_entry(node->op) &&
            !operator_merges_groups(node->op) && !operator_has(node->op, TRAIT_UNIFORM))
            return false;
    }
    return true;
}

bool windows_are_beside_images_untold(const struct analysis *an)
{
    const struct pattern *p = an->in->equation->pattern;
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *w = &an->windows[i];
        const struct pattern_node *node = &p->nodes.items[w->node];
        if (operator_convolves(node->op) && attribute_variables_of_role(node, ROLE_WINDOW_PADS) &&
            !is_alike_at_all_places(p, node->inputs[1]) && !tensor_vanishes(an, w->node, 0, w->axis))
            return true;
    }
    return false;
}

// Pads that are one variable are tried at 0, too.
static bool has_open_pads(const struct pattern_node *node)
{
    const struct attribute_pattern *pads = pattern_node_attribute(node, ROLE_WINDOW_PADS);
    return pads->count == 1 && pads->terms[0]->kind == TERM_VARIABLE;
}

// Behind pads of at most half a kernel the first window has its middle in the image, and before such pads the last one.
bool windows_leave_out_middles(const struct analysis *an)
{
    const struct pattern *p = an->in->equation->pattern;
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *w = &an->windows[i];
        const struct typed_call *call = an->in->calls[w->node];
        const struct pattern_node *node = &p->nodes.items[w->node];
        if (!operator_convolves(call->op) || has_open_pads(node) || is_alike_at_all_places(p, node->inputs[1]))
            continue;
        const struct attribute_value *pads = &call->attributes[operator_find_role(call->op, ROLE_WINDOW_PADS)];
        const struct type *kernel = typing_type(an->in->typing, call->inputs[1]);
        int64_t half = (kernel->dim[w->axis] - 1) / 2 * w->dilation;
        for (uint32_t a = (uint32_t)w->axis - FIRST_SPATIAL; a < pads->count;
             a += (uint32_t)kernel->rank - FIRST_SPATIAL)
            if (pads->ints[a] > half)
                return true;
    }
    return false;
}

static bool has_conditions_on_sizes(const struct equation *eq)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (!condition_is_of_variable(c->kind) &&
            (attribute_term_mentions_sizes(c->a) || attribute_term_mentions_sizes(c->b)))
            return true;
    }
    return false;
}

// Larger images stand for larger pads and kernels, unless their sizes are named.
bool windows_outgrow_named_images(struct analysis *an)
{
    for (int i = 0; i < an->n_windows && has_conditions_on_sizes(an->in->equation); i++) {
        const struct window_use *w = &an->windows[i];
        const struct pattern_node *node = &an->in->equation->pattern->nodes.items[w->node];
        if ((an->class_flags[classes_find(an, w->read_item)] & HAS_FIXED_SIZE) &&
            (attribute_variables_of_role(node, ROLE_KERNEL) || attribute_variables_of_role(node, ROLE_WINDOW_PADS) ||
             attribute_variables_of_role(node, ROLE_DILATION)))
            return true;
    }
    return false;
}

// --- chains ----------------------------------------------------------------------------------------------------------

// Are the pads of all windows variables, or 0?
static bool has_no_fixed_pads(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++) {
        const struct attribute_pattern *terms = pattern_node_attribute(&p->nodes.items[n], ROLE_WINDOW_PADS);
        for (uint32_t i = 0; i < terms->count; i++) {
            bool is_zero = attribute_term_is_number(terms->terms[i], 0);
            if (!is_zero && (terms->terms[i]->kind != TERM_VARIABLE || terms->count != 1))
                return false;
        }
    }
    return true;
}

// Windows behind windows, the same at each level.
static bool are_alike_in_chains(struct analysis *an, const struct axes_of_one *ones)
{
    struct levels *l = arena_new(an->in->scratch, struct levels);
    if (!has_no_fixed_pads(an->in->equation->pattern) || !has_tests_of_ones_alone(an) || !find_levels(an, l) ||
        !is_one_class_for_each_level(an, l) || !has_nothing_but_windows(an, l))
        return false;
    for (int i = 0; i < an->n_windows; i++)
        if (!has_one_place(an, ones, l, &an->windows[i]))
            return false;
    return are_alike_level_by_level(an, ones, l) && reads_nothing_but_zeros_outside(an);
}

bool windows_are_in_chains(struct analysis *an)
{
    struct axes_of_one ones;
    classes_find_axes_of_one(an, &ones);
    return an->n_windows > 0 && are_alike_in_chains(an, &ones);
}

bool windows_are_alike(struct analysis *an)
{
    struct axes_of_one ones;
    if (an->n_windows == 0)
        return false;
    classes_find_axes_of_one(an, &ones);
    return are_alike_side_by_side(an, &ones) || are_alike_in_chains(an, &ones);
}
