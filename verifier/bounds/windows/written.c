// Windows of written sizes, whose entries depend on what is near to them (T11; bounds.md, 2.3).
#include "verifier/bounds/windows/windows.h"

#include "operators/traits.h"

static const struct attribute_pattern *attribute_of(const struct pattern_node *node, enum attribute_role role)
{
    int attribute = operator_find_role(node->op, role);
    return attribute < 0 ? NULL : &node->attributes[attribute];
}

static bool is_written(const struct attribute_pattern *a)
{
    for (uint32_t i = 0; a && i < a->count; i++)
        if (a->terms[i]->kind != TERM_INTEGER)
            return false;
    return true;
}

static bool have_written_windows(const struct pattern *p)
{
    static const enum attribute_role roles[] = {ROLE_WINDOW_PADS, ROLE_DILATION, ROLE_KERNEL};
    for (size_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
            if (!is_written(attribute_of(&p->nodes.items[n], roles[i])))
                return false;
    return true;
}

static bool is_enlarged(struct analysis *an, uint32_t class)
{
    const struct pattern *p = an->in->equation->pattern;
    for (term_id t = 0; t < p->terms.count; t++) {
        uint32_t node = p->terms.items[t].index;
        if (p->terms.items[t].is_variable || !operator_enlarges(p->nodes.items[node].op) || !an->definitions[node])
            continue;
        for (int axis = 2; axis < typing_type(an->in->typing, an->in->calls[node]->inputs[0])->rank; axis++)
            if (classes_find(an, classes_item_of_axis(an, t, axis)) == class)
                return true;
    }
    return false;
}

// A number says how long the axis is, of one of its class.
static bool is_named(struct analysis *an, uint32_t item)
{
    uint32_t class = classes_find(an, item);
    return !(an->class_flags[class] & HAS_SEGMENTS) && (classes_named_places(an, class) > 0 || is_enlarged(an, class));
}

static bool is_near(struct analysis *an, const struct window_use *w)
{
    const struct pattern_node *node = &an->in->equation->pattern->nodes.items[w->node];
    if (operator_enlarges(node->op))
        return is_named(an, w->read_item);
    bool is_of_tensor = operator_convolves(node->op) && w->kernel_item != NO_ITEM;
    const uint16_t allowed = HAS_WINDOW | HAS_ORDER | HAS_FIXED_SIZE;
    return (!is_of_tensor || is_named(an, w->kernel_item)) && windows_go_along_one_place(an, w->index_item, allowed) &&
           windows_go_along_one_place(an, w->read_item, allowed);
}

// --- strides that are a variable -------------------------------------------------------------------------------------

static bool is_in_an_index(const struct definition *d, uint32_t variable)
{
    for (size_t i = 0; i < d->indices.count; i++) {
        struct affine_index f;
        classes_find_affine(d, d->indices.items[i], &f);
        for (int k = 0; k < f.n + f.n_divided; k++)
            if ((k < f.n ? f.variable[k] : f.divided[k - f.n]) == variable)
                return true;
    }
    return false;
}

// Has the operator an axis of the class that goes along nothing that it reads, as the one entry that a sum leaves?
static bool makes_an_axis(struct analysis *an, term_id term, uint32_t class)
{
    const struct term *t = &an->in->equation->pattern->terms.items[term];
    const struct definition *d = t->is_variable ? NULL : an->definitions[t->index];
    bool has_shape = d && operator_has_role(an->in->calls[t->index]->op, ROLE_SHAPE);   // of sizes, or of numbers
    int rank = d && !has_shape ? d->stages[d->outputs[t->output]].type.rank : 0;
    for (int axis = 0; axis < rank; axis++) {
        uint32_t item = classes_item_of_axis(an, term, axis);
        if (classes_find(an, item) == class && !is_in_an_index(d, item - an->first_item[t->index]))
            return true;
    }
    return false;
}

// Has something of the class one size in all instances?
static bool is_closed(struct analysis *an, uint32_t class)
{
    bool is_made = classes_named_places(an, class) > 0 || is_enlarged(an, class);
    for (term_id t = 0; t < an->in->equation->pattern->terms.count && !is_made; t++)
        is_made = makes_an_axis(an, t, class);
    return is_made;
}

// Where an image has one size in all instances its last window stands where a stride says, and those of others may not
// be tried together with it: on 5 places before a pad the last window reads the pad in steps of 1 and of 3, and not in
// steps of 2 or 4.
static bool have_open_images(struct analysis *an)
{
    const struct pattern *p = an->in->equation->pattern;
    for (int i = 0; i < an->n_windows; i++)
        if (!operator_enlarges(p->nodes.items[an->windows[i].node].op) &&
            is_closed(an, classes_find(an, an->windows[i].read_item)))
            return false;
    return true;
}

static int64_t largest_number(const struct attribute_pattern *a)
{
    int64_t largest = 0;
    for (uint32_t i = 0; a && i < a->count; i++)
        if (a->terms[i]->value > largest)
            largest = a->terms[i]->value;
    return largest;
}

// The pads on the way to an image, all together, and whether a stride behind other windows is none that is written.
struct way_of_pads {
    int64_t pads;
    bool has_inner_stride;
};

static struct way_of_pads pads_below(const struct pattern *p, term_id term, bool is_behind_a_window)
{
    const struct term *t = &p->terms.items[term];
    struct way_of_pads way = {0};
    if (t->is_variable)
        return way;
    const struct pattern_node *node = &p->nodes.items[t->index];
    bool is_inner =
        operator_has_windows(node->op) && is_behind_a_window && !is_written(attribute_of(node, ROLE_STRIDE));
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        struct way_of_pads below = pads_below(p, node->inputs[i], is_behind_a_window || operator_has_windows(node->op));
        way.pads = below.pads > way.pads ? below.pads : way.pads;
        way.has_inner_stride = way.has_inner_stride || below.has_inner_stride;
    }
    way.pads += largest_number(attribute_of(node, ROLE_WINDOW_PADS));
    way.has_inner_stride = way.has_inner_stride || is_inner;
    return way;
}

static const struct attribute_pattern *stride_of_variables(const struct pattern *p)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        if (!is_written(attribute_of(&p->nodes.items[n], ROLE_STRIDE)))
            return attribute_of(&p->nodes.items[n], ROLE_STRIDE);
    return NULL;
}

static bool is_same_list(const struct attribute_pattern *x, const struct attribute_pattern *y)
{
    bool is_same = x->count == y->count;
    for (uint32_t i = 0; is_same && i < x->count; i++)
        is_same = attribute_term_equal(x->terms[i], y->terms[i]);
    return is_same;
}

// One variable, of outermost windows that small pads surround: steps of 1, of 2 and beyond all windows are tried.
#define LARGEST_PADS 3
static bool have_outer_strides(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    const struct attribute_pattern *stride = stride_of_variables(eq->pattern);
    int64_t largest = LARGEST_KERNEL;
    for (size_t n = 0; n < eq->pattern->nodes.count && stride; n++) {
        const struct pattern_node *node = &eq->pattern->nodes.items[n];
        int64_t kernel = largest_number(attribute_of(node, ROLE_KERNEL));
        largest = kernel > largest ? kernel : largest;
        if (operator_has_windows(node->op) && !is_written(attribute_of(node, ROLE_STRIDE)) &&
            !is_same_list(attribute_of(node, ROLE_STRIDE), stride))
            return false;
    }
    for (int i = 0; i < an->n_windows && stride; i++)
        if ((an->windows[i].extent_of_sum - 1) * an->windows[i].dilation >= largest)
            return false;
    for (uint32_t i = 0; i < eq->n_pairs && stride; i++) {
        struct way_of_pads left = pads_below(eq->pattern, eq->left[i], false);
        struct way_of_pads right = pads_below(eq->pattern, eq->right[i], false);
        if (left.pads > LARGEST_PADS || right.pads > LARGEST_PADS || left.has_inner_stride || right.has_inner_stride)
            return false;
    }
    return !stride || have_open_images(an);
}

bool windows_are_near(struct analysis *an)
{
    struct window_steps *steps = arena_new(an->in->scratch, struct window_steps);
    if (!have_written_windows(an->in->equation->pattern) || !have_outer_strides(an) || !windows_find_steps(an, steps))
        return false;
    for (int i = 0; i < an->n_windows; i++)
        if (!is_near(an, &an->windows[i]))
            return false;
    return windows_have_places_of_their_own(an, false);
}
