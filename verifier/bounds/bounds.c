// From the classes of an instance's indices to how many sizes suffice for each axis, with the reason (bounds.md, 2.1 to
// 2.4, which T1 and T8 to T11 rest on). What is asked of classes stands in classes and windows/sizes.c.
#include "verifier/bounds/bounds.h"

#include "operators/traits.h"
#include "operators/traits/index_forms.h"
#include "operators/window.h"
#include "verifier/bounds/classes/same_terms.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/bounds/windows/windows.h"
#include "verifier/instances/size_ranges.h"

#define TESTED_SIZE 4
#define LARGEST_WINDOW_SIZE 18
#define MOST_GROUPS 3   // values of a group attribute that are tried

// --- how windows are used --------------------------------------------------------------------------------------------

#define OF_WINDOWS (HAS_WINDOW | HAS_ORDER | HAS_KERNEL)
enum window_use_kind { WINDOWS_OTHER, WINDOWS_ALIKE, WINDOWS_FIXED };

// T10
static bool are_argued_alike(struct analysis *an)
{
    return windows_leave_equal_sizes(an) && (windows_are_in_chains(an) || windows_have_one_place(an));
}

// What is argued of windows of written sizes asks for larger images than what is argued of those that are alike.
static enum window_use_kind kind_of_windows(struct analysis *an)
{
    if (windows_are_fixed(an, OF_WINDOWS))
        return WINDOWS_FIXED;
    bool are_alike = windows_are_alike(an) && (!windows_are_near(an) || are_argued_alike(an));
    return are_alike ? WINDOWS_ALIKE : WINDOWS_OTHER;
}

// Windows that a theorem speaks of, which the sizes of their kind are enough for.
static bool are_argued(struct analysis *an, enum window_use_kind windows)
{
    if (an->n_windows == 0 || windows == WINDOWS_FIXED)
        return true;
    return windows == WINDOWS_ALIKE ? are_argued_alike(an) : windows_are_near(an);
}

// --- bounds of classes -----------------------------------------------------------------------------------------------

struct class_bound {
    uint32_t sizes;
    enum bound_reason reason;
    const char *doubt;
};

static uint32_t all_sizes_up_to(struct analysis *an, int64_t n)
{
    an->has_too_many = an->has_too_many || n > MAX_TESTED_SIZE;
    return SIZES_UP_TO(n > MAX_TESTED_SIZE ? MAX_TESTED_SIZE : n);
}

static uint32_t one_size(struct analysis *an, int64_t n)
{
    an->has_too_many = an->has_too_many || n > MAX_TESTED_SIZE;
    return n > MAX_TESTED_SIZE ? 0 : 1u << n;
}

// One place and q places in each group.
static uint32_t sizes_of_groups(struct analysis *an, int64_t q)
{
    uint32_t sizes = one_size(an, 1) | one_size(an, q);
    for (int64_t n = 2; n <= MAX_TESTED_SIZE; n++)
        if (an->groups >> n & 1)
            sizes |= one_size(an, n) | one_size(an, n * q);
    return sizes;
}

// Parts of different sizes that groups divide together: one place, and one more for each group.
static uint32_t sizes_of_uneven_parts(struct analysis *an)
{
    uint32_t sizes = 0;
    for (int64_t n = 2; n < MAX_TESTED_SIZE; n++)
        sizes |= an->groups >> n & 1 ? 1u << (n + 1) : 0;
    return sizes;
}

static int number_of_segments(struct analysis *an, uint32_t class)
{
    int most = 1;
    for (int side = 0; side < 2; side++) {
        int segments = 1;
        for (uint32_t i = 0; i < an->n_items; i++)
            if (an->cuts[side][i] > 1 && classes_find(an, i) == class)
                segments += an->cuts[side][i] - 1;
        most = segments > most ? segments : most;
    }
    return most;
}

// How many of the segments an axis may have: an operand is one, but for what a split cuts at sizes of its own.
static int segments_of_axis(struct analysis *an, uint32_t item)
{
    bool is_cut = an->cuts[0][item] > 1 || an->cuts[1][item] > 1;
    return an->is_operand[item] && !is_cut ? 1 : number_of_segments(an, classes_find(an, item));
}

// Sizes of an axis along which up to `segments` others may stand one behind the other.
static uint32_t sums_of_sizes(struct analysis *an, uint32_t sizes, int segments)
{
    uint64_t sums = sizes;
    for (int i = 1; i < segments && sums < (uint64_t)1 << 33; i++) {
        uint64_t longer = sums;
        for (int n = 1; n <= MAX_TESTED_SIZE; n++)
            longer |= sizes >> n & 1 ? sums << n : 0;
        sums = longer;
    }
    an->has_too_many = an->has_too_many || sums > UINT32_MAX;
    return (uint32_t)sums;
}

static struct class_bound bound_of_groups(struct analysis *an, uint32_t item, int64_t q, bool has_segments)
{
    bool has_named_parts = has_segments && classes_have_named_parts(an, classes_find(an, item));
    const char *doubt = q > MOST_GROUPS   ? "more labels than the groups that are tried"
                        : has_named_parts ? "sizes of parts of groups are named"
                                          : NULL;
    int64_t places = an->places_of_group[item], groups = places ? an->size[item] / places : 0, most = q > 2 ? q : 2;
    if (places)
        return (struct class_bound){one_size(an, groups) | one_size(an, groups * most), BOUND_GROUPS, doubt};
    uint32_t sizes = sizes_of_groups(an, most);
    if (has_segments && an->is_operand[item])
        sizes |= sizes_of_uneven_parts(an);
    if (has_segments && !an->is_operand[item])
        sizes = sums_of_sizes(an, sizes, number_of_segments(an, classes_find(an, item)));
    return (struct class_bound){sizes, BOUND_GROUPS, doubt};
}

static struct class_bound bound_of_window(struct analysis *an, uint32_t class, int64_t more, int64_t segments,
                                          int64_t places)
{
    int64_t window = windows_size_by_reach(an, class), size = (window + more) * segments;
    if (window > LARGEST_WINDOW_SIZE)
        return (struct class_bound){SIZES_UP_TO(LARGEST_WINDOW_SIZE), BOUND_TESTED, "windows reach far"};
    return (struct class_bound){all_sizes_up_to(an, size > places ? size : places), BOUND_WINDOW, NULL};
}

static struct class_bound bound_of_kernel(struct analysis *an, int64_t q, int64_t more, int64_t segments)
{
    const char *doubt = q > LARGEST_KERNEL ? "a kernel has more labels than sizes that are tried" : NULL;
    return (struct class_bound){all_sizes_up_to(an, (LARGEST_KERNEL + more) * segments), BOUND_KERNEL, doubt};
}

// Windows that are alike on both sides: as many positions as without them, each with a place for the window.
static struct class_bound bound_of_common_window(struct analysis *an, uint32_t class, int64_t places, int64_t own_size)
{
    int64_t size = windows_size_by_labels(an, class, places > own_size ? places : own_size);
    return (struct class_bound){all_sizes_up_to(an, size), BOUND_COMMON_WINDOW, NULL};
}

static int64_t named_to_test(struct analysis *an, uint32_t class)
{
    return (an->class_flags[class] & HAS_SEGMENTS) || an->names_loosely ? classes_named_places(an, class) : 0;
}

// As many positions in each segment as there are labels, and one for each of the others.
static int64_t places_to_test(struct analysis *an, uint32_t item)
{
    uint32_t class = classes_find(an, item);
    bool has_segments = an->class_flags[class] & HAS_SEGMENTS;
    int segments = number_of_segments(an, class);
    int64_t of_segment = classes_labels_of(an, class) + (!has_segments ? 0 : segments > 2 ? segments - 1 : 1);
    return of_segment * segments_of_axis(an, item) + named_to_test(an, class);
}

static struct class_bound bound_of_axis(struct analysis *an, uint32_t item, enum window_use_kind windows,
                                        int64_t own_size)
{
    uint32_t class = classes_find(an, item);
    uint16_t flags = an->class_flags[class];
    int64_t q = classes_labels_of(an, class), most = segments_of_axis(an, item);
    int64_t named = named_to_test(an, class), places = places_to_test(an, item);
    if (windows == WINDOWS_FIXED && (flags & OF_WINDOWS))
        return (struct class_bound){one_size(an, own_size), BOUND_FIXED, NULL};
    if (flags & HAS_PRODUCT)
        return (struct class_bound){SIZES_UP_TO(TESTED_SIZE), BOUND_TESTED, "a product over an axis"};
    if (flags & HAS_RESHAPE)
        return (struct class_bound){SIZES_UP_TO(TESTED_SIZE), BOUND_TESTED, "indices are combined and divided"};
    if (flags & HAS_ORDER)
        return (struct class_bound){SIZES_UP_TO(TESTED_SIZE), BOUND_TESTED, "indices are compared by order"};
    if (windows == WINDOWS_ALIKE && (flags & (HAS_WINDOW | HAS_KERNEL)))
        return bound_of_common_window(an, class, places, own_size);
    if (flags & HAS_WINDOW)
        return bound_of_window(an, class, named, most, places);
    if (flags & HAS_KERNEL)
        return bound_of_kernel(an, q, named, most);
    if (flags & HAS_GROUPS)
        return bound_of_groups(an, item, q, flags & HAS_SEGMENTS);
    if (flags & HAS_SEGMENTS)
        return (struct class_bound){all_sizes_up_to(an, places), BOUND_SEGMENTS, NULL};
    uint32_t sizes = flags ? all_sizes_up_to(an, places) : one_size(an, 1) | one_size(an, q);
    return (struct class_bound){sizes, BOUND_LABELS, NULL};
}

// A size named by a number is kept as it was met, with all below; so is one that is the sum of a variable's parts, as a
// list of more parts than that has no instance at other sizes.
static struct class_bound keep_fixed_size(struct class_bound c, uint16_t flags, int64_t own_size)
{
    if ((flags & HAS_FIXED_SIZE) && own_size <= MAX_TESTED_SIZE)
        c.sizes |= SIZES_UP_TO(own_size);
    if ((flags & HAS_OPEN_PARTS) && own_size <= MAX_TESTED_SIZE)
        c.sizes |= 1u << own_size;
    return c;
}

// --- one instance ----------------------------------------------------------------------------------------------------

static void unite_outputs(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        int rank = typing_type(an->in->typing, instance_term_type(an->in, eq->left[i]))->rank;
        for (int axis = 0; axis < rank; axis++)
            classes_unite_whole(an, classes_item_of_axis(an, eq->left[i], axis),
                                classes_item_of_axis(an, eq->right[i], axis));
    }
}

static bool have_alike_sizes(const struct type *x, const struct type *y)
{
    for (int axis = 0; axis < x->rank; axis++)
        if (x->dim[axis] != y->dim[axis])
            return false;
    return true;
}

static bool has_alike_outputs(const struct instance *in)
{
    const struct equation *eq = in->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        type_id x = instance_term_type(in, eq->left[i]), y = instance_term_type(in, eq->right[i]);
        if (x == NO_TYPE || y == NO_TYPE || typing_type(in->typing, x)->rank != typing_type(in->typing, y)->rank ||
            !have_alike_sizes(typing_type(in->typing, x), typing_type(in->typing, y)))
            return false;
    }
    return true;
}

// A size of a tensor is none, whatever its axis is.
static bool has_shape_variables(const struct analysis *an, const struct attribute_term *t)
{
    return t->kind != TERM_DIM &&
           (attribute_variables_of_term(t) & ~pattern_variables_of_windows(an->in->equation->pattern)) != 0;
}

// Shapes and parts that are variables are tried up to small sizes only, as windows may not be.
#define LARGEST_SHAPE 2
#define LARGEST_PART 3

// Notes which entries of the list that a term stands for are an attribute variable's; how many entries it has.
static int note_entries(const struct analysis *an, const struct attribute_term *t, int first, uint32_t *ret_entries)
{
    int n = 0;
    if (t->kind == TERM_LIST) {
        for (uint32_t i = 0; i < t->count; i++)
            n += note_entries(an, t->operands[i], first + n, ret_entries);
        return n;
    }
    n = t->kind == TERM_DIMS ? an->in->types[t->value]->rank : 1;
    if (t->kind == TERM_VARIABLE)
        n = (int)an->in->attributes[t->value].count;
    else if (attribute_variables_of_term(t))
        n = MAX_RANK;
    for (int i = 0; i < n && has_shape_variables(an, t); i++)
        *ret_entries |= first + i < MAX_RANK ? 1u << (first + i) : 0;
    return n;
}

// Are all pads numbers that are 0, or a variable whose entries a condition says are?
static bool has_no_pads(const struct equation *eq, const struct pattern_node *node)
{
    const struct attribute_pattern *pads = pattern_node_attribute(node, ROLE_WINDOW_PADS);
    bool are_zero = true;
    for (uint32_t i = 0; i < pads->count; i++)
        are_zero = are_zero && attribute_term_is_number(pads->terms[i], 0);
    for (uint32_t i = 0; i < eq->n_conditions && pads->count == 1 && !are_zero; i++) {
        const struct condition *c = &eq->conditions[i];
        are_zero = condition_is_of_equal_entries(c) && c->a->kind == TERM_SUM &&
                   attribute_term_equal(c->a->operands[0], pads->terms[0]);
    }
    return are_zero;
}

// A kernel is no larger than an image of named size that it goes along without pads.
static bool is_within_an_image(struct analysis *an, uint32_t kernel_class, int largest)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++) {
        const struct pattern_node *node = &eq->pattern->nodes.items[n];
        const struct term *image = node->n_inputs ? &eq->pattern->terms.items[node->inputs[0]] : NULL;
        if (!an->definitions[n] || !operator_convolves(node->op) || !image->is_variable || !has_no_pads(eq, node))
            continue;
        for (int axis = FIRST_SPATIAL; axis < an->in->types[image->index]->rank; axis++) {
            int64_t size = equation_size_by_condition(eq, image->index, axis);
            if (size > 0 && size <= largest &&
                classes_find(an, classes_item_of_axis(an, node->inputs[1], axis)) == kernel_class)
                return true;
        }
    }
    return false;
}

// Where parts stand one behind the other, positions of each, and those that numbers name.
static bool has_too_many_labels(struct analysis *an, uint32_t item, int largest)
{
    uint32_t class = classes_find(an, item);
    uint16_t flags = an->class_flags[class];
    int64_t asked = flags & HAS_SEGMENTS ? places_to_test(an, item) : an->labels[class];
    bool is_of_windows = flags & (HAS_WINDOW | HAS_KERNEL);
    return (is_of_windows && !is_within_an_image(an, class, largest)) || asked > largest;
}

static bool shape_has_too_many_labels(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    const struct definition *d = an->definitions[node];
    const struct attribute_pattern *shape = pattern_node_attribute(n, ROLE_SHAPE);
    uint32_t of_variables = 0;
    int entries = 0;
    for (uint32_t j = 0; j < shape->count; j++)
        entries += note_entries(an, shape->terms[j], entries, &of_variables);
    const struct stage *result = &d->stages[d->outputs[0]];
    for (int axis = 0; axis < result->type.rank; axis++)
        if ((of_variables >> axis & 1) &&
            has_too_many_labels(an, an->first_item[node] + result->first_variable + (uint32_t)axis, LARGEST_SHAPE))
            return true;
    return false;
}

static bool parts_have_too_many_labels(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    const struct attribute_pattern *sizes = pattern_node_attribute(n, ROLE_PART_SIZES);
    bool has_variables = false;
    for (uint32_t j = 0; j < sizes->count; j++)
        has_variables = has_variables || has_shape_variables(an, sizes->terms[j]);
    for (size_t v = 0; has_variables && v < an->definitions[node]->extents.count; v++)
        if (has_too_many_labels(an, an->first_item[node] + (uint32_t)v, LARGEST_PART))
            return true;
    return false;
}

static bool has_more_labels_than_shapes(struct analysis *an)
{
    for (uint32_t n = 0; n < an->in->equation->pattern->nodes.count; n++)
        if (an->definitions[n] && (shape_has_too_many_labels(an, n) || parts_have_too_many_labels(an, n)))
            return true;
    return false;
}

static bool have_axes_met(struct analysis *an)
{
    for (int i = 0; i < an->n_windows; i++)
        for (int j = 0; j < i; j++) {
            const struct window_use *w = &an->windows[i], *v = &an->windows[j];
            bool share_kernel = w->kernel_item != NO_ITEM && v->kernel_item != NO_ITEM &&
                                classes_find(an, w->kernel_item) == classes_find(an, v->kernel_item);
            if (w->axis != v->axis &&
                (share_kernel || classes_find(an, w->read_item) == classes_find(an, v->read_item)))
                return true;
        }
    return false;
}

// Is the axis read in windows that go along it?
static bool is_image(struct analysis *an, uint32_t item)
{
    for (int i = 0; i < an->n_windows; i++)
        if (an->windows[i].kernel_item != NO_ITEM &&
            classes_find(an, an->windows[i].read_item) == classes_find(an, item))
            return true;
    return false;
}

static bool names_image_in_term(struct analysis *an, const struct attribute_term *t)
{
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    const struct type *type = is_size ? an->in->types[t->value] : NULL;
    for (int axis = 0; type && axis < type->rank; axis++)
        if (attribute_term_names_axis(t, axis) && is_image(an, (uint32_t)t->value * MAX_RANK + (uint32_t)axis))
            return true;
    for (uint32_t i = 0; i < t->count; i++)
        if (names_image_in_term(an, t->operands[i]))
            return true;
    return false;
}

// Does a condition say more of a size that windows read than that it is another's?
static bool has_named_images(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (condition_names_sizes(&eq->conditions[i]) &&
            (names_image_in_term(an, eq->conditions[i].a) || names_image_in_term(an, eq->conditions[i].b)))
            return true;
    return false;
}

static void note_windows(struct analysis *an, enum window_use_kind windows, struct bounds *b)
{
    b->has_window = b->has_window || an->n_windows;
    b->has_other_windows = b->has_other_windows || (an->n_windows && windows != WINDOWS_ALIKE);
    b->has_named_windows = b->has_named_windows || windows == WINDOWS_FIXED;
    b->has_named_images = b->has_named_images || (windows == WINDOWS_OTHER && has_named_images(an));
    b->axes_meet = b->axes_meet || have_axes_met(an);
    for (int i = 0; i < an->n_windows; i++)
        if (an->windows[i].extent_of_sum > b->largest_extent)
            b->largest_extent = an->windows[i].extent_of_sum;
}

// Is a variable read in steps of one stride here and of another there? Sizes may tie the two where they are not tried
// together: as many places of 3 as of 2 stand on an image of 4.
static bool has_strides_of_its_own(struct analysis *an)
{
    for (uint32_t v = 0; v < an->in->equation->pattern->n_variables; v++)
        if (an->in->types[v] && an->in->types[v]->rank > 0 && !variable_is_read_alike(an, v))
            return true;
    return false;
}

// A group for each channel of the image: (dim ?x 1), of an image with the channels of ?x.
static bool is_number_of_channels(struct analysis *an, uint32_t node, const struct attribute_term *t)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    if (!operator_convolves(n->op) || t->kind != TERM_DIM || !attribute_term_is_number(t->operands[0], 1))
        return false;
    uint32_t channels = classes_item_of_axis(an, n->inputs[0], 1);
    return channels != NO_ITEM && classes_find(an, channels) == classes_find(an, (uint32_t)t->value * MAX_RANK + 1);
}

// Are there numbers of groups that depend on other sizes than channels? How large a group is then depends on them, too,
// which removing positions does not keep.
static bool has_groups_by_sizes(struct analysis *an)
{
    const struct pattern *p = an->in->equation->pattern;
    for (uint32_t node = 0; node < p->nodes.count; node++) {
        const struct pattern_node *n = &p->nodes.items[node];
        for (int i = 0; i < operator_n_attributes(n->op); i++)
            for (uint32_t k = 0; attribute_counts_groups(&n->op->attributes[i]) && k < n->attributes[i].count; k++) {
                const struct attribute_term *t = n->attributes[i].terms[k];
                if (attribute_term_mentions_sizes(t) && !attribute_is_number_of_groups(p, n, i, t) &&
                    !is_number_of_channels(an, node, t))
                    return true;
            }
    }
    return false;
}

static const char *doubt_of_classes(struct analysis *an, enum window_use_kind windows)
{
    if (windows == WINDOWS_OTHER && windows_outgrow_named_images(an))
        return "attributes of windows on images of named sizes are tried up to small ones";
    if (windows != WINDOWS_FIXED && an->n_windows && has_strides_of_its_own(an))
        return "sizes may tie strides that are not tried together";
    if (has_groups_by_sizes(an))
        return "a number of groups depends on sizes that are no channels";
    if (classes_have_attributes_of_sizes(an))
        return "an attribute depends on sizes in a way that small ones do not show";
    if (windows_are_beside_images_untold(an) || (windows == WINDOWS_ALIKE && windows_leave_out_middles(an)))
        return "entries of a kernel stand beside the image at larger pads only than are tried";
    if (has_more_labels_than_shapes(an))
        return "shapes have more labels than the sizes that are tried";
    return NULL;
}

static void merge_bound_of_axis(struct bounds *b, uint32_t v, const struct type *type, int axis,
                                const struct class_bound *c)
{
    b->sizes[v][type->rank][axis] |= c->sizes;
    if (!b->met[v][type->rank][axis] && type->dim[axis] <= MAX_TESTED_SIZE)
        b->met[v][type->rank][axis] = 1u << type->dim[axis];
    if (c->reason > b->reason[v][type->rank][axis])
        b->reason[v][type->rank][axis] = (uint8_t)c->reason;
    b->doubt = b->doubt ? b->doubt : c->doubt;
}

static void merge_bounds_of_axes(struct analysis *an, enum window_use_kind windows, struct bounds *b)
{
    for (uint32_t v = 0; v < an->in->equation->pattern->n_variables; v++) {
        const struct type *type = an->in->types[v];
        if (type && type->rank == 0)
            b->sizes[v][0][0] = 2;
        for (int axis = 0; type && axis < type->rank; axis++) {
            uint32_t item = v * MAX_RANK + (uint32_t)axis;
            struct class_bound c = bound_of_axis(an, item, windows, type->dim[axis]);
            c = keep_fixed_size(c, an->class_flags[classes_find(an, item)], type->dim[axis]);
            merge_bound_of_axis(b, v, type, axis, &c);
        }
    }
}

static void note_several_groups(struct analysis *an, struct bounds *b)
{
    for (uint32_t n = 0; n < an->in->equation->pattern->nodes.count; n++) {
        int group = an->definitions[n] ? operator_find_role(an->in->calls[n]->op, ROLE_GROUPS) : -1;
        if (group >= 0 && an->in->calls[n]->attributes[group].ints[0] > 1)
            b->of_several_groups |= (node_set)1 << n;
    }
}

static void merge_bounds(struct analysis *an, struct bounds *b)
{
    note_several_groups(an, b);
    enum window_use_kind windows = kind_of_windows(an);
    note_windows(an, windows, b);
    b->has_unargued_windows = b->has_unargued_windows || !are_argued(an, windows);
    b->has_numbers_of_sizes = b->has_numbers_of_sizes || an->has_numbers_of_sizes;
    for (uint32_t i = 0; i < an->n_items; i++)
        b->has_parts_of_groups =
            b->has_parts_of_groups || ((an->class_flags[i] & HAS_GROUPS) && (an->class_flags[i] & HAS_SEGMENTS));
    if (!b->doubt)
        b->doubt = doubt_of_classes(an, windows);
    merge_bounds_of_axes(an, windows, b);
}

// An instance whose sides have different types refutes the equation: its sizes are to be tested, whatever bounds others
// give.
static void add_sizes_of_refutation(struct bounds *b, const struct instance *in)
{
    for (uint32_t v = 0; v < in->equation->pattern->n_variables; v++)
        for (int axis = 0; in->types[v] && axis < in->types[v]->rank; axis++)
            if (in->types[v]->dim[axis] <= MAX_TESTED_SIZE)
                b->sizes[v][in->types[v]->rank][axis] |= 1u << in->types[v]->dim[axis];
    b->doubt = b->doubt ? b->doubt : "sides have different types";
}

bool bounds_note_types(struct bounds *b, const struct instance *in)
{
    bool are_alike = has_alike_outputs(in);
    if (!are_alike)
        add_sizes_of_refutation(b, in);
    return are_alike;
}

// --- traits ----------------------------------------------------------------------------------------------------------

static bool has_numbers_of_its_own(const struct operator* op)
{
    for (int i = 0; i < operator_n_attributes(op); i++)
        if (op->attributes[i].role == ROLE_NONE &&
            (op->attributes[i].kind == ATTRIBUTE_INT || op->attributes[i].kind == ATTRIBUTE_REAL))
            return true;
    return false;
}

// What is said of signs is asked of positive numbers alone.
static bool has_traits_of_operator(struct instance *in, const struct typed_call *call)
{
    const unsigned of_all = TRAITS_OF_ALL & ~(unsigned)(TRAIT_POSITIVE | TRAIT_KEEPS_POSITIVE);
    const unsigned of_some = TRAITS_OF_SOME & ~(unsigned)TRAIT_PARTIAL;
    const struct definition *d = typing_definition(in->typing, call);
    struct operator_call asked = {call->op, d->n_inputs, d->inputs, call->attributes};
    unsigned known = operator_traits[call->op->id].plain, found = definition_traits(d);
    return (known & of_all & ~found) == 0 && (found & of_some & ~known) == 0 &&
           (!(known & TRAIT_PLAIN_PLACES) || index_forms_are_plain(d, &asked));
}

// Of numbers that no role says anything of those are tried that traits are found at, a flag of 7 may be another one.
static void note_traits(struct bounds *b, struct instance *in)
{
    for (size_t n = 0; n < in->equation->pattern->nodes.count && !b->doubt; n++)
        if (in->calls[n] && has_numbers_of_its_own(in->calls[n]->op) && !has_traits_of_operator(in, in->calls[n]))
            b->doubt = "an operator is another function at these numbers of its attributes";
}

static void find_classes(struct analysis *an)
{
    classes_note_nodes(an);
    classes_note_conditions(an);
    unite_outputs(an);
    classes_count_labels(an);
    for (uint32_t i = 0; i < an->n_items; i++)
        an->class_flags[classes_find(an, i)] |= an->flags[i];
    classes_find_places_of_groups(an);
}

static void find_cut_axes(const struct analysis *an, struct cut_axes *ret)
{
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES * MAX_RANK; i++)
        if (an->size[i] && (an->class_flags[classes_find(an, i)] & HAS_SEGMENTS))
            ret->of_variable[i / MAX_RANK] |= 1u << i % MAX_RANK;
}

void bounds_add(struct bounds *b, struct instance *in, struct cut_axes *ret_cut_axes)
{
    note_traits(b, in);
    struct arena_mark mark = arena_mark(in->scratch);
    struct analysis *an = arena_new(in->scratch, struct analysis);
    an->in = in;
    classes_number_items(an);
    if (!an->has_too_many) {
        find_classes(an);
        merge_bounds(an, b);
        find_cut_axes(an, ret_cut_axes);
        b->cuts_overlap = b->cuts_overlap || (!b->doubt && classes_have_folded_orbits(an));
    }
    if (an->has_too_many && !b->doubt)
        b->doubt = "the equation is too large to analyse";
    arena_release(in->scratch, mark);
}

void bounds_note_folds(struct bounds *b, struct instance *in)
{
    struct arena_mark mark = arena_mark(in->scratch);
    struct analysis *an = arena_new(in->scratch, struct analysis);
    an->in = in;
    classes_number_items(an);
    if (!an->has_too_many)
        find_classes(an);
    b->cuts_overlap = b->cuts_overlap || an->has_too_many || classes_have_folded_orbits(an);
    arena_release(in->scratch, mark);
}

bool bounds_have_segments(const struct bounds *b)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= MAX_RANK; r++)
            for (int a = 0; a < r; a++)
                if (b->reason[v][r][a] == BOUND_SEGMENTS || b->reason[v][r][a] == BOUND_GROUPS)
                    return true;
    return false;
}

void bounds_merge(struct bounds *all, const struct bounds *more)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= MAX_RANK; r++)
            for (int a = 0; a < MAX_RANK; a++) {
                all->sizes[v][r][a] |= more->sizes[v][r][a];
                if (more->reason[v][r][a] > all->reason[v][r][a])
                    all->reason[v][r][a] = more->reason[v][r][a];
            }
    all->has_window = all->has_window || more->has_window;
    all->has_other_windows = all->has_other_windows || more->has_other_windows;
    all->has_named_windows = all->has_named_windows || more->has_named_windows;
    all->has_named_images = all->has_named_images || more->has_named_images;
    all->has_unargued_windows = all->has_unargued_windows || more->has_unargued_windows;
    all->has_numbers_of_sizes = all->has_numbers_of_sizes || more->has_numbers_of_sizes;
    all->has_parts_of_groups = all->has_parts_of_groups || more->has_parts_of_groups;
    all->of_several_groups |= more->of_several_groups;
    all->axes_meet = all->axes_meet || more->axes_meet;
    all->largest_extent = all->largest_extent > more->largest_extent ? all->largest_extent : more->largest_extent;
    all->doubt = all->doubt ? all->doubt : more->doubt;
    all->cuts_overlap = all->cuts_overlap || more->cuts_overlap;
}

const char *bound_reason_text(enum bound_reason reason)
{
    static const char *const texts[] = {
        [BOUND_NONE] = "not met",
        [BOUND_LABELS] = "positions are only compared for equality",
        [BOUND_SEGMENTS] = "positions of each segment are only compared for equality",
        [BOUND_GROUPS] = "positions are pairs of a group and a place, only compared for equality",
        [BOUND_COMMON_WINDOW] = "the same windows on both sides",
        [BOUND_FIXED] = "the size is named by a condition",
        [BOUND_KERNEL] = "two sizes of a kernel give the form of places, a third one the cut at the border",
        [BOUND_WINDOW] = "reach of the windows plus twice the stride",
        [BOUND_TESTED] = "no bound is known",
    };
    return texts[reason];
}
