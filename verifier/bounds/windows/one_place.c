// Windows that are alike on both sides and read one window of each image for each entry of the output (T10; bounds.md,
// 2.3).
#include "verifier/bounds/windows/windows.h"

#include "core/memory/union_find.h"
#include "operators/traits.h"
#include <string.h>

// Classes of places that windows make of one another, where both nodes belong to one pair of outputs.
struct places {
    uint16_t parents[MAX_ITEMS];
    int axis[MAX_ITEMS];   // spatial, of the windows; -1: none yet
};

// False: other windows go along the places on another spatial axis.
static bool join_places(struct places *p, uint32_t x, uint32_t y, int axis)
{
    int of_x = p->axis[union_find_root(p->parents, x)], of_y = p->axis[union_find_root(p->parents, y)];
    union_find_join(p->parents, x, y);
    p->axis[union_find_root(p->parents, x)] = axis;
    return (of_x < 0 || of_x == axis) && (of_y < 0 || of_y == axis);
}

static bool has_place_on_each_axis(struct analysis *an, node_set of_pair, bool with_kernels)
{
    struct places *p = arena_new(an->in->scratch, struct places);
    uint8_t *n = arena_array(an->in->scratch, uint8_t, MAX_ITEMS);
    bool is_met = true;
    memset(n, 0, MAX_ITEMS);
    union_find_init(p->parents, MAX_ITEMS);
    for (uint32_t i = 0; i < MAX_ITEMS; i++)
        p->axis[i] = -1;
    for (int i = 0; i < an->n_windows && is_met; i++) {
        const struct window_use *w = &an->windows[i];
        bool is_read = with_kernels || !operator_enlarges(an->in->equation->pattern->nodes.items[w->node].op);
        if (is_read && (of_pair >> w->node & 1))
            is_met = join_places(p, classes_find(an, w->index_item), classes_find(an, w->read_item), w->axis);
    }
    for (uint32_t c = 0; c < an->n_items && is_met; c++) {
        uint32_t place = union_find_root(p->parents, c);
        if (classes_find(an, c) == c && p->axis[place] >= 0)
            is_met = (n[place] = (uint8_t)(n[place] + (an->labels[c] > 0))) <= 1;
    }
    return is_met;
}

// Of an image that is transposed on one side alone, or in one factor, two places read one axis: they are the same
// where the output has a single entry, and nowhere else.
bool windows_have_places_of_their_own(struct analysis *an, bool with_kernels)
{
    const struct equation *eq = an->in->equation;
    bool are_met = true;
    for (uint32_t i = 0; i < eq->n_pairs && are_met; i++)
        are_met = has_place_on_each_axis(
            an, equation_nodes_of_term(eq->pattern, eq->left[i]) | equation_nodes_of_term(eq->pattern, eq->right[i]),
            with_kernels);
    return are_met;
}

// --- one window of each image ----------------------------------------------------------------------------------------

bool windows_go_along_one_place(struct analysis *an, uint32_t item, uint16_t allowed)
{
    uint32_t class = classes_find(an, item);
    return an->labels[class] <= 1 && !(an->class_flags[class] & ~allowed);
}

// Does a condition say how long the axis is, of one of its class?
static bool is_asked_for(struct analysis *an, uint32_t item)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t v = 0; v < eq->pattern->n_variables; v++)
        for (int axis = 0; an->in->types[v] && axis < an->in->types[v]->rank; axis++)
            if (classes_find(an, v * MAX_RANK + (uint32_t)axis) == classes_find(an, item) &&
                equation_size_by_condition(eq, v, axis) != 0)
                return true;
    return false;
}

static bool is_window_of_one_place(struct analysis *an, const struct window_use *w)
{
    bool is_moved = classes_find(an, w->index_item) != classes_find(an, w->read_item);
    bool has_few = w->kernel_item == NO_ITEM || an->labels[classes_find(an, w->kernel_item)] <= LARGEST_KERNEL;
    const uint16_t allowed = HAS_WINDOW | HAS_ORDER | HAS_FIXED_SIZE;
    return is_moved && has_few && !is_asked_for(an, w->index_item) && !is_asked_for(an, w->read_item) &&
           windows_go_along_one_place(an, w->index_item, allowed) && an->labels[classes_find(an, w->read_item)] == 0 &&
           windows_go_along_one_place(an, w->read_item, allowed);
}

bool windows_have_one_place(struct analysis *an)
{
    for (int i = 0; i < an->n_windows; i++)
        if (!is_window_of_one_place(an, &an->windows[i]))
            return false;
    return windows_have_places_of_their_own(an, true);
}

// --- sizes that windows leave ----------------------------------------------------------------------------------------

// Are the sizes of both classes equal in all instances: are they one, or what windows along one axis leave of such?
static bool have_equal_sizes(struct analysis *an, uint32_t x, uint32_t y, int most_windows)
{
    if (x == y)
        return true;
    for (int i = 0; i < an->n_windows && most_windows > 0; i++)
        for (int j = 0; j < an->n_windows; j++) {
            const struct window_use *u = &an->windows[i], *v = &an->windows[j];
            if (u->axis == v->axis && classes_find(an, u->index_item) == x && classes_find(an, v->index_item) == y &&
                have_equal_sizes(an, classes_find(an, u->read_item), classes_find(an, v->read_item), most_windows - 1))
                return true;
        }
    return false;
}

#define MOST_WINDOWS 3   // behind one another that are followed
// Of an axis of both outputs that windows leave: do they on both sides, of images of one size?
static bool leave_one_size(struct analysis *an, uint32_t pair, uint32_t class)
{
    const struct equation *eq = an->in->equation;
    node_set left = equation_nodes_of_term(eq->pattern, eq->left[pair]);
    node_set right = equation_nodes_of_term(eq->pattern, eq->right[pair]);
    bool is_left = false;
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *u = &an->windows[i];
        if (classes_find(an, u->index_item) != class || !((left | right) >> u->node & 1))
            continue;
        is_left = true;
        for (int j = 0; j < an->n_windows && (left >> u->node & 1); j++) {
            const struct window_use *v = &an->windows[j];
            if ((right >> v->node & 1) && v->axis == u->axis && classes_find(an, v->index_item) == class &&
                have_equal_sizes(an, classes_find(an, u->read_item), classes_find(an, v->read_item), MOST_WINDOWS))
                return true;
        }
    }
    return !is_left;
}

// What types of properties ask of windows is argued by itself (window_types.c).
bool windows_leave_equal_sizes(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_pairs && !eq->is_strong; i++)
        for (int axis = 0; axis < typing_type(an->in->typing, instance_term_type(an->in, eq->left[i]))->rank; axis++)
            if (!leave_one_size(an, i, classes_find(an, classes_item_of_axis(an, eq->left[i], axis))))
                return false;
    return true;
}
