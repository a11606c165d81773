// What attributes and conditions say of sizes, which stand in no index expression (T2, T3; bounds.md, 2.4 and 2.5).
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/bounds/classes/index_classes.h"
#include "verifier/bounds/classes/same_terms.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/instances/domain.h"
#include "verifier/instances/ranks.h"
#include "verifier/instances/size_ranges.h"

#include <string.h>

static int64_t constant_axis(const struct attribute_term *t)
{
    return t->kind == TERM_DIM && t->operands[0]->kind == TERM_INTEGER ? t->operands[0]->value : -1;
}

bool attribute_term_names_axis(const struct attribute_term *t, int axis)
{
    return t->kind == TERM_DIMS || constant_axis(t) < 0 || constant_axis(t) == axis;
}

// A size that an operator takes from an attribute belongs to the indices of that extent.
static void unite_with_extents(struct analysis *an, uint32_t node, uint32_t item)
{
    const struct definition *d = an->definitions[node];
    for (size_t i = 0; i < d->extents.count; i++)
        if (d->extents.items[i] == an->size[item])
            classes_unite(an, item, an->first_item[node] + (uint32_t)i);
}

static void note_sizes_in_term(struct analysis *an, uint32_t node, const struct attribute_term *t)
{
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    const struct type *type = is_size ? an->in->types[t->value] : NULL;
    for (int axis = 0; type && axis < type->rank; axis++)
        if (attribute_term_names_axis(t, axis))
            unite_with_extents(an, node, (uint32_t)t->value * MAX_RANK + (uint32_t)axis);
    for (uint32_t i = 0; i < t->count; i++)
        note_sizes_in_term(an, node, t->operands[i]);
}

static void flag_sizes_in_term(struct analysis *an, const struct attribute_term *t, uint16_t flags)
{
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    const struct type *type = is_size ? an->in->types[t->value] : NULL;
    for (int axis = 0; type && axis < type->rank; axis++)
        if (attribute_term_names_axis(t, axis))
            classes_flag(an, (uint32_t)t->value * MAX_RANK + (uint32_t)axis, flags);
    for (uint32_t i = 0; i < t->count; i++)
        flag_sizes_in_term(an, t->operands[i], flags);
}

// How many entries a plain term of a shape gives; 0: it is none.
static int plain_entries(const struct analysis *an, const struct attribute_term *t)
{
    bool is_one = t->kind == TERM_INTEGER || (t->kind == TERM_DIM && constant_axis(t) >= 0);
    return is_one ? 1 : t->kind == TERM_DIMS ? an->in->types[t->value]->rank : 0;
}

// The sizes of a shape, entry by entry, are those of the result's axes.
static bool unite_shape_with_result(struct analysis *an, uint32_t node, const struct attribute_pattern *shape)
{
    const struct definition *d = an->definitions[node];
    const struct stage *result = &d->stages[d->outputs[0]];
    int entries = 0;
    for (uint32_t j = 0; j < shape->count; j++) {
        if (plain_entries(an, shape->terms[j]) == 0)
            return false;
        entries += plain_entries(an, shape->terms[j]);
    }
    if (entries != result->type.rank)
        return false;
    uint32_t axis_item = an->first_item[node] + result->first_variable;
    for (uint32_t j = 0; j < shape->count; j++) {
        const struct attribute_term *t = shape->terms[j];
        uint32_t first = t->kind == TERM_DIM ? (uint32_t)constant_axis(t) : 0;
        for (int i = 0; i < plain_entries(an, t); i++, axis_item++)
            if (t->kind != TERM_INTEGER)
                classes_unite(an, (uint32_t)t->value * MAX_RANK + first + (uint32_t)i, axis_item);
    }
    return true;
}

static int64_t axis_of_call(const struct typed_call *call)
{
    return call->attributes[operator_find_role(call->op, ROLE_AXIS)].ints[0];
}

// Where the positions of a part are, which a split that names sizes cuts off.
static uint32_t item_of_part(const struct analysis *an, uint32_t node, uint32_t part)
{
    const struct definition *d = an->definitions[node];
    uint32_t first = an->first_item[node] + d->stages[d->outputs[part]].first_variable;
    return first + (uint32_t)axis_of_call(an->in->calls[node]);
}

// The axis that (dim ?x (- (rank ?x) 1)) is the size of in this instance.
static uint32_t item_of_size(const struct analysis *an, const struct attribute_term *t)
{
    struct term_bindings b = instance_bindings(an->in);
    struct attribute_value axis = {0};
    attribute_term_evaluate(t->operands[0], &b, an->in->scratch, &axis);
    return (uint32_t)(t->value * MAX_RANK + axis.ints[0]);
}

bool classes_name_parts(const struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    if (!operator_splits(n->op))
        return false;
    const struct attribute_pattern *sizes = pattern_node_attribute(n, ROLE_PART_SIZES);
    bool is_plain = sizes->count == (uint32_t)an->definitions[node]->n_outputs;
    for (uint32_t j = 0; j < sizes->count; j++)
        is_plain = is_plain && (sizes->terms[j]->kind == TERM_INTEGER || sizes->terms[j]->kind == TERM_DIM);
    return is_plain;
}

static void unite_sizes_with_parts(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    const struct attribute_pattern *sizes = pattern_node_attribute(n, ROLE_PART_SIZES);
    for (uint32_t part = 0; part < sizes->count; part++)
        if (sizes->terms[part]->kind == TERM_DIM)
            classes_unite(an, item_of_size(an, sizes->terms[part]), item_of_part(an, node, part));
}

// As many groups as channels, where each group of the kernel has one in all instances.
static void unite_groups_with_channels(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    if (!operator_convolves(n->op) || !classes_have_kernel_of_one(an, node, 1))
        return;
    const struct attribute_term *groups = pattern_node_attribute(n, ROLE_GROUPS)->terms[0];
    if (groups->kind == TERM_DIM)
        classes_unite(an, item_of_size(an, groups), classes_item_of_axis(an, n->inputs[0], 1));
}

// Groups have no indices of their own.
void classes_note_sizes_of_node(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    int shape = operator_find_role(n->op, ROLE_SHAPE);
    if (shape >= 0 && !unite_shape_with_result(an, node, &n->attributes[shape]))
        for (uint32_t j = 0; j < n->attributes[shape].count; j++)
            note_sizes_in_term(an, node, n->attributes[shape].terms[j]);
    if (classes_name_parts(an, node))
        unite_sizes_with_parts(an, node);
    unite_groups_with_channels(an, node);
    for (int i = 0; i < operator_n_attributes(n->op); i++)
        for (uint32_t j = 0; j < n->attributes[i].count; j++) {
            const struct attribute_term *t = n->attributes[i].terms[j];
            if (i != shape || (t->kind != TERM_DIM && t->kind != TERM_DIMS))
                flag_sizes_in_term(an, t, HAS_COUNT);
        }
}

// --- attributes that are one variable --------------------------------------------------------------------------------

static void unite_result_axis(struct analysis *an, uint32_t node, uint32_t axis, uint32_t item)
{
    const struct definition *d = an->definitions[node];
    const struct stage *result = &d->stages[d->outputs[0]];
    if (axis < (uint32_t)result->type.rank)
        classes_unite(an, item, an->first_item[node] + result->first_variable + axis);
}

static bool share_variable(struct analysis *an, uint32_t x, uint32_t y, enum attribute_role role)
{
    const struct pattern *p = an->in->equation->pattern;
    return attribute_variables_of_role(&p->nodes.items[x], role) && attributes_are_alike(an, x, y, role);
}

// Convolutions of as many groups, by a variable or by sizes.
static bool share_groups(struct analysis *an, uint32_t x, uint32_t y)
{
    const struct pattern_node *node = &an->in->equation->pattern->nodes.items[x];
    if (!operator_convolves(node->op) || !operator_convolves(an->in->equation->pattern->nodes.items[y].op))
        return false;
    int group = operator_find_role(node->op, ROLE_GROUPS);
    bool is_written = node->attributes[group].terms[0]->kind == TERM_INTEGER;
    return !is_written && an->in->calls[x]->attributes[group].ints[0] > 1 &&
           attributes_are_alike(an, x, y, ROLE_GROUPS);
}

static void unite_what_shares_a_variable(struct analysis *an, uint32_t x, uint32_t y)
{
    const struct definition *of_x = an->definitions[x], *of_y = an->definitions[y];
    const struct stage *result = &of_x->stages[of_x->outputs[0]];
    if (share_variable(an, x, y, ROLE_SHAPE))
        for (uint32_t axis = 0; axis < (uint32_t)result->type.rank; axis++)
            unite_result_axis(an, y, axis, an->first_item[x] + result->first_variable + axis);
    if (share_variable(an, x, y, ROLE_PART_SIZES))
        for (int part = 0; part < of_x->n_outputs && part < of_y->n_outputs; part++)
            classes_unite(an, item_of_part(an, x, (uint32_t)part), item_of_part(an, y, (uint32_t)part));
    const struct pattern_node *nodes = an->in->equation->pattern->nodes.items;
    if (share_groups(an, x, y))
        classes_unite(an, classes_item_of_axis(an, nodes[x].inputs[0], 1),
                      classes_item_of_axis(an, nodes[y].inputs[0], 1));
}

static bool has_poolings_below(const struct pattern *p, term_id term)
{
    node_set below = equation_nodes_of_term(p, term);
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if ((below >> n & 1) && operator_pools(p->nodes.items[n].op))
            return true;
    return false;
}

// Poolings whose results are added, or stand one behind the other, have labels of their own in each monomial.
static bool combines_poolings(const struct pattern *p)
{
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        int pooled = 0;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            pooled += has_poolings_below(p, node->inputs[i]);
        if (pooled > 1 && !operator_adds(node->op) && !operator_joins(node->op))
            return true;
    }
    return false;
}

// What has as many positions, or groups, as a variable says, in several places, has labels in all of these together.
void classes_note_shared_variables(struct analysis *an)
{
    uint32_t n_nodes = (uint32_t)an->in->equation->pattern->nodes.count;
    for (uint32_t x = 0; x < n_nodes; x++)
        for (uint32_t y = 0; y < x; y++)
            if (an->definitions[x] && an->definitions[y])
                unite_what_shares_a_variable(an, x, y);
    bool are_combined = combines_poolings(an->in->equation->pattern);
    for (int i = 0; i < an->n_windows && are_combined; i++)
        for (int j = 0; j < i; j++) {
            const struct window_use *x = &an->windows[i], *y = &an->windows[j];
            if (x->axis == y->axis && x->kernel_item != NO_ITEM && y->kernel_item != NO_ITEM &&
                share_variable(an, x->node, y->node, ROLE_KERNEL))
                classes_unite(an, x->kernel_item, y->kernel_item);
        }
}

// --- attributes that are made of sizes -------------------------------------------------------------------------------

// (drop 2 (dims ?k)): sizes of the axes from 2 on.
static int first_axis_kept(const struct attribute_term *t)
{
    bool drops_sizes =
        t->kind == TERM_DROP && t->operands[0]->kind == TERM_INTEGER && t->operands[1]->kind == TERM_DIMS;
    return drops_sizes && t->operands[0]->value < MAX_RANK ? (int)t->operands[0]->value : 0;
}

// Are all sizes that the term mentions of axes that windows read, or slide, of which small sizes are all tested?
static bool is_of_windows(struct analysis *an, const struct attribute_term *t)
{
    int first = first_axis_kept(t);
    t = first > 0 ? t->operands[1] : t;
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    const struct type *type = is_size ? an->in->types[t->value] : NULL;
    for (int axis = first; type && axis < type->rank; axis++)
        if (attribute_term_names_axis(t, axis) &&
            !(an->class_flags[classes_find(an, (uint32_t)t->value * MAX_RANK + (uint32_t)axis)] &
              (HAS_WINDOW | HAS_KERNEL)))
            return false;
    for (uint32_t i = 0; i < t->count; i++)
        if (!is_of_windows(an, t->operands[i]))
            return false;
    return true;
}

static bool is_attribute_of_windows(const struct attribute *a)
{
    static const enum attribute_role roles[] = {ROLE_STRIDE, ROLE_WINDOW_PADS, ROLE_DILATION, ROLE_KERNEL};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++)
        if (a->role == roles[i])
            return true;
    return false;
}

// Adds the axes of one variable that a product multiplies, each once. False: it is something else.
static bool add_axes_of_product(const struct attribute_term *t, int64_t variable, uint32_t *axes)
{
    bool is_size = t->kind == TERM_DIM && t->value == variable && constant_axis(t) >= 0 && constant_axis(t) < MAX_RANK;
    if (is_size && !(*axes >> constant_axis(t) & 1)) {
        *axes |= 1u << constant_axis(t);
        return true;
    }
    return t->kind == TERM_MUL && add_axes_of_product(t->operands[0], variable, axes) &&
           add_axes_of_product(t->operands[1], variable, axes);
}

static int64_t first_variable(const struct attribute_term *t)
{
    return t->kind == TERM_MUL ? first_variable(t->operands[0]) : t->kind == TERM_DIM ? t->value : -1;
}

// A reshape to products of different sizes of a tensor asks for nothing that keeping all entries does not.
static bool merges_axes(const struct pattern_node *n, const struct attribute_pattern *shape)
{
    uint32_t axes = 0;
    bool merges = operator_is_view(n->op) && shape->count > 0;
    for (uint32_t j = 0; merges && j < shape->count; j++)
        merges = add_axes_of_product(shape->terms[j], first_variable(shape->terms[0]), &axes);
    return merges;
}

// A kernel that is enlarged to its own size is what it was.
static bool is_own_size(const struct pattern *p, const struct pattern_node *n, uint32_t entry,
                        const struct attribute_term *t)
{
    const struct term *input = operator_enlarges(n->op) ? &p->terms.items[n->inputs[0]] : NULL;
    return input && input->is_variable && t->kind == TERM_DIM && t->value == input->index &&
           constant_axis(t) == 2 + (int64_t)entry;
}

bool classes_have_windows_of_sizes(const struct analysis *an, uint32_t node)
{
    const struct pattern *p = an->in->equation->pattern;
    const struct pattern_node *n = &p->nodes.items[node];
    for (int i = 0; i < operator_n_attributes(n->op); i++)
        for (uint32_t j = 0; is_attribute_of_windows(&n->op->attributes[i]) && j < n->attributes[i].count; j++) {
            const struct attribute_term *t = n->attributes[i].terms[j];
            if (attribute_term_mentions_sizes(t) && !is_own_size(p, n, j, t))
                return true;
        }
    return false;
}

// Sizes in shapes and of parts are those of axes, numbers of groups are looked at by themselves (bounds.c).
static bool is_followed(struct analysis *an, uint32_t node, int attribute, uint32_t entry)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    const struct attribute *a = &n->op->attributes[attribute];
    const struct attribute_term *t = n->attributes[attribute].terms[entry];
    bool is_plain = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    if (attribute_counts_groups(a) || !attribute_term_mentions_sizes(t))
        return true;
    if (is_attribute_of_windows(a))
        return is_own_size(an->in->equation->pattern, n, entry, t) || is_of_windows(an, t);
    if (a->role == ROLE_SHAPE)
        return is_plain || merges_axes(n, &n->attributes[attribute]);
    return is_plain && a->role == ROLE_PART_SIZES && classes_name_parts(an, node);
}

bool classes_have_attributes_of_sizes(struct analysis *an)
{
    const struct pattern *p = an->in->equation->pattern;
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++)
                if (an->definitions[n] && !is_followed(an, n, i, j))
                    return true;
    return false;
}

// --- sizes that are named --------------------------------------------------------------------------------------------

static bool is_equality_of_dims(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && constant_axis(c->a) >= 0 && constant_axis(c->b) >= 0;
}

// (= (dims ?x) (dims ?y)), of tensors of one rank, or it does not hold.
static bool is_equality_of_all_dims(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_DIMS && c->b->kind == TERM_DIMS;
}

static bool compares_sizes(const struct condition *c)
{
    return !condition_is_of_variable(c->kind) &&
           (attribute_term_mentions_sizes(c->a) || attribute_term_mentions_sizes(c->b));
}

bool condition_names_sizes(const struct condition *c)
{
    return compares_sizes(c) && !is_equality_of_dims(c) && !is_equality_of_all_dims(c);
}

// Of the variables' axes: (= (dim ?x 0) (dim ?y 0)).
bool condition_equates_sizes(const struct condition *c, uint32_t x, uint32_t y, int axis)
{
    bool is_of_axis = is_equality_of_dims(c) && constant_axis(c->a) == axis && constant_axis(c->b) == axis;
    return (is_of_axis || is_equality_of_all_dims(c)) && ((c->a->value == (int64_t)x && c->b->value == (int64_t)y) ||
                                                          (c->a->value == (int64_t)y && c->b->value == (int64_t)x));
}

// (= $s (dims ?x)), of what has the shape $s.
static void unite_shapes_with_dims(struct analysis *an, const struct attribute_term *shape,
                                   const struct attribute_term *dims)
{
    const struct pattern *p = an->in->equation->pattern;
    for (uint32_t n = 0; n < p->nodes.count && shape->kind == TERM_VARIABLE && dims->kind == TERM_DIMS; n++)
        if (an->definitions[n] && (attribute_variables_of_role(&p->nodes.items[n], ROLE_SHAPE) >> shape->value & 1))
            for (uint32_t axis = 0; axis < MAX_RANK; axis++)
                unite_result_axis(an, n, axis, (uint32_t)dims->value * MAX_RANK + axis);
}

static void note_equal_dims(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (c->kind == CONDITION_EQUAL) {
            unite_shapes_with_dims(an, c->a, c->b);
            unite_shapes_with_dims(an, c->b, c->a);
        }
        if (c->kind == CONDITION_EQUAL && c->a->kind == TERM_DIM && c->b->kind == TERM_DIM)
            classes_unite(an, item_of_size(an, c->a), item_of_size(an, c->b));
        const struct type *type = is_equality_of_all_dims(c) ? an->in->types[c->a->value] : NULL;
        for (uint32_t axis = 0; type && axis < (uint32_t)type->rank; axis++)
            classes_unite(an, (uint32_t)c->a->value * MAX_RANK + axis, (uint32_t)c->b->value * MAX_RANK + axis);
    }
}

static bool names_sizes(const struct pattern_node *node, int attribute)
{
    static const enum attribute_role of_windows[] = {ROLE_STRIDE, ROLE_WINDOW_PADS, ROLE_DILATION, ROLE_PERMUTATION,
                                                     ROLE_AXES};
    if (node->op->attributes[attribute].kind != ATTRIBUTE_INTS)
        return false;
    for (size_t k = 0; k < sizeof of_windows / sizeof *of_windows; k++)
        if (node->op->attributes[attribute].role == of_windows[k])
            return false;
    for (uint32_t j = 0; j < node->attributes[attribute].count; j++)
        if (node->attributes[attribute].terms[j]->kind == TERM_INTEGER)
            return true;
    return false;
}

// More positions than are tested on any axis are as many as it takes to see that.
static void name_size(struct analysis *an, uint32_t item, int64_t places)
{
    int64_t most = places > MAX_TESTED_SIZE ? MAX_TESTED_SIZE + 1 : places;
    an->named[item] = an->named[item] > most ? an->named[item] : most;
}

// Positions that the condition tells from others by their number: a size that is equal to a number, or less.
static void name_sizes_in_term(struct analysis *an, const struct attribute_term *t, int64_t largest)
{
    const struct type *type = t->kind == TERM_DIM || t->kind == TERM_DIMS ? an->in->types[t->value] : NULL;
    for (int axis = 0; type && axis < type->rank; axis++)
        if (attribute_term_names_axis(t, axis))
            name_size(an, (uint32_t)t->value * MAX_RANK + (uint32_t)axis, largest);
    for (uint32_t i = 0; i < t->count && t->kind != TERM_DIM; i++)
        name_sizes_in_term(an, t->operands[i], largest);
}

static void name_sizes_of_condition(struct analysis *an, const struct condition *c)
{
    an->names_loosely = an->names_loosely || c->kind != CONDITION_EQUAL;
    int64_t of_a = attribute_term_mentions_sizes(c->a) ? 0 : largest_integer_of_term(c->a);
    int64_t of_b = attribute_term_mentions_sizes(c->b) ? 0 : largest_integer_of_term(c->b);
    name_sizes_in_term(an, c->a, of_b);
    name_sizes_in_term(an, c->b, of_a);
}

static bool names_number(const struct attribute_term *t)
{
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS || t->kind == TERM_RANK;
    bool names = t->kind == TERM_INTEGER;
    for (uint32_t i = 0; i < t->count && !is_size && !names; i++)
        names = names_number(t->operands[i]);
    return names;
}

// The entry of a list for each axis, or each part, that a number names; all where entries are not written one by one.
static uint64_t entries_named(const struct attribute_pattern *list, uint32_t n)
{
    uint64_t entries = 0;
    for (uint32_t j = 0; j < list->count; j++)
        if (names_number(list->terms[j]))
            entries |= list->count == n ? (uint64_t)1 << j : UINT64_MAX;
    return entries;
}

// Of shapes and parts.
static void name_sizes_of_node(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    const struct definition *d = an->definitions[node];
    const struct stage *result = &d->stages[d->outputs[0]];
    int shape = operator_find_role(n->op, ROLE_SHAPE);
    uint64_t axes = shape >= 0 ? entries_named(&n->attributes[shape], (uint32_t)result->type.rank) : 0;
    for (uint32_t axis = 0; axis < (uint32_t)result->type.rank; axis++)
        if (axes >> axis & 1)
            name_size(an, an->first_item[node] + result->first_variable + axis, result->type.dim[axis]);
    if (!operator_splits(n->op))
        return;
    const struct attribute_pattern *sizes = &n->attributes[operator_find_role(n->op, ROLE_PART_SIZES)];
    uint64_t parts = entries_named(sizes, (uint32_t)d->n_outputs);
    for (uint32_t part = 0; part < (uint32_t)d->n_outputs; part++)
        if (parts >> part & 1)
            name_size(an, item_of_part(an, node, part), an->size[item_of_part(an, node, part)]);
}

int64_t classes_named_places(struct analysis *an, uint32_t class)
{
    int64_t places = 0;
    for (uint32_t i = 0; i < an->n_items; i++)
        if (classes_find(an, i) == class)
            places += an->named[i];
    return places;
}

static bool is_split_at_sizes(const struct analysis *an, uint32_t class)
{
    for (uint32_t n = 0; n < an->in->equation->pattern->nodes.count; n++)
        if (an->definitions[n] && classes_name_parts(an, n) && classes_find(an, item_of_part(an, n, 0)) == class)
            return true;
    return false;
}

// Does the text say how long something is that is concatenated or cut, or made of such parts?
bool classes_have_named_parts(struct analysis *an, uint32_t class)
{
    if (is_split_at_sizes(an, class))
        return true;
    bool is_known[MAX_ITEMS];
    for (uint32_t i = 0; i < an->n_items; i++)
        is_known[i] = an->named[i] > 0;
    for (bool is_changing = true; is_changing;) {
        is_changing = false;
        for (int i = 0; i < an->n_links; i++) {
            const struct link *l = &an->links[i];
            if (l->is_whole && is_known[l->from] != is_known[l->to])
                is_changing = is_known[l->from] = is_known[l->to] = true;
        }
    }
    for (int i = 0; i < an->n_links; i++) {
        const struct link *l = &an->links[i];
        if (l->is_part && classes_find(an, l->from) == class && (is_known[l->from] || is_known[l->to]))
            return true;
    }
    return false;
}

static void note_open_parts(struct analysis *an, uint32_t node)
{
    if (attribute_variables_of_role(&an->in->equation->pattern->nodes.items[node], ROLE_PART_SIZES))
        for (size_t v = 0; v < an->definitions[node]->extents.count; v++)
            classes_flag(an, an->first_item[node] + (uint32_t)v, HAS_OPEN_PARTS);
}

// Sizes that an attribute names by numbers, or that a condition compares in another way than for equality, cannot be
// reduced freely: those met are kept.
static void note_fixed_sizes(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (condition_names_sizes(&eq->conditions[i])) {
            flag_sizes_in_term(an, eq->conditions[i].a, HAS_FIXED_SIZE);
            flag_sizes_in_term(an, eq->conditions[i].b, HAS_FIXED_SIZE);
            name_sizes_of_condition(an, &eq->conditions[i]);
        }
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if (an->definitions[n]) {
            name_sizes_of_node(an, n);
            note_open_parts(an, n);
        }
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        for (int i = 0; an->definitions[n] && i < operator_n_attributes(eq->pattern->nodes.items[n].op); i++)
            for (size_t v = 0; names_sizes(&eq->pattern->nodes.items[n], i) && v < an->definitions[n]->extents.count;
                 v++)
                classes_flag(an, an->first_item[n] + (uint32_t)v, HAS_FIXED_SIZE);
}

void classes_note_conditions(struct analysis *an)
{
    note_equal_dims(an);
    note_fixed_sizes(an);
}
