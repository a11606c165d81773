// Axes that groups divide, one behind the other: are they made of blocks, the same number in all instances (T9;
// bounds.md, 2.4)?
#include "core/memory/union_find.h"
#include "core/numbers/integers.h"
#include "operators/traits.h"
#include "verifier/bounds/classes/index_classes.h"
#include "verifier/instances/domain.h"
#include <string.h>

// Items of a class whose sizes are fixed multiples of one another in all instances with these attributes, as a
// union-find.
struct ties {
    struct analysis *an;
    uint32_t class;
    uint16_t parents[MAX_ITEMS];
    int64_t places[MAX_ITEMS];     // of a block, by the item that stands for those tied to it
    bool is_compound[MAX_ITEMS];   // likewise: a concatenation of parts that are not tied to it
};

static uint32_t find_tied(const struct ties *t, uint32_t item)
{
    return union_find_root(t->parents, item);
}

static bool is_of_class(const struct ties *t, uint32_t item)
{
    return classes_find(t->an, item) == t->class;
}

static bool tie(struct ties *t, uint32_t x, uint32_t y)
{
    if (!is_of_class(t, x) || !is_of_class(t, y) || find_tied(t, x) == find_tied(t, y))
        return false;
    union_find_join(t->parents, x, y);
    return true;
}

static const struct pattern_node *node_at(const struct analysis *an, uint32_t node)
{
    return &an->in->equation->pattern->nodes.items[node];
}

static int64_t value_of(const struct analysis *an, uint32_t node, enum attribute_role role)
{
    const struct typed_call *call = an->in->calls[node];
    return call->attributes[operator_find_role(call->op, role)].ints[0];
}

static uint32_t item_of_output(const struct analysis *an, uint32_t node, int output, int axis)
{
    const struct definition *d = an->definitions[node];
    return an->first_item[node] + d->stages[d->outputs[output]].first_variable + (uint32_t)axis;
}

// --- what ties sizes ------------------------------------------------------------------------------------------------

// Numbers of groups that sizes say (as many as channels) change with them.
static bool has_numbers_of_groups(const struct pattern_node *n)
{
    for (int i = 0; i < operator_n_attributes(n->op); i++)
        for (uint32_t k = 0; attribute_counts_groups(&n->op->attributes[i]) && k < n->attributes[i].count; k++) {
            enum attribute_term_kind kind = n->attributes[i].terms[k]->kind;
            if (kind != TERM_INTEGER && kind != TERM_VARIABLE)
                return false;
        }
    return true;
}

// Convolutions and merges, concatenations, splits that cut where these do, and what works entry by entry.
static bool has_only_known_operators(const struct analysis *an)
{
    for (uint32_t n = 0; n < an->in->equation->pattern->nodes.count; n++) {
        const struct pattern_node *node = node_at(an, n);
        bool names_sizes =
            operator_splits(node->op) && node->attributes[operator_find_role(node->op, ROLE_PART_SIZES)].count;
        bool is_known = operator_convolves(node->op) || operator_merges_groups(node->op) || operator_joins(node->op) ||
                        operator_splits(node->op) || operator_works_entry_by_entry(node->op);
        if (!an->in->calls[n] || !is_known || names_sizes || !has_numbers_of_groups(node))
            return false;
    }
    return true;
}

static bool tie_whole_reads(struct ties *t)
{
    bool is_new = false;
    for (int i = 0; i < t->an->n_links; i++)
        if (t->an->links[i].is_whole)
            is_new = tie(t, t->an->links[i].from, t->an->links[i].to) || is_new;
    return is_new;
}

// Sizes of which one is the sum of the others, tied but for two: these are tied as well.
static bool tie_sum(struct ties *t, uint32_t whole, const uint32_t *parts, uint32_t n)
{
    uint32_t other = NO_ITEM;
    for (uint32_t i = 0; i < n; i++) {
        if (find_tied(t, parts[i]) == find_tied(t, whole))
            continue;
        if (other != NO_ITEM && find_tied(t, parts[i]) != find_tied(t, other))
            return false;
        other = parts[i];
    }
    return other != NO_ITEM && tie(t, whole, other);
}

// The axis of what stands first, or second of two, in the concatenation that a split of the term cuts.
static uint32_t item_of_part(const struct analysis *an, term_id term, int axis, uint32_t part)
{
    const struct term *t = &an->in->equation->pattern->terms.items[term];
    const struct pattern_node *n = t->is_variable ? NULL : node_at(an, t->index);
    if (n && operator_convolves(n->op))
        return axis == 1 ? item_of_part(an, n->inputs[1], 0, part) : NO_ITEM;
    if (n && operator_joins(n->op))
        return value_of(an, t->index, ROLE_AXIS) == axis && (part == 0 || n->n_inputs == 2)
                   ? classes_item_of_axis(an, n->inputs[part], axis)
                   : NO_ITEM;
    bool is_of_one = n && n->n_inputs == 1 && operator_works_entry_by_entry(n->op);
    return is_of_one ? item_of_part(an, n->inputs[0], axis, part) : NO_ITEM;
}

// What a concatenation puts together, or a split cuts.
struct seam {
    uint32_t whole, n;
    uint32_t parts[MAX_RULE_VARIABLES];
    uint32_t cut_at[2];   // of a split: what the two parts were before they stood one behind the other; or NO_ITEM
};

// False: the node is neither, or has too many parts.
static bool find_seam(const struct analysis *an, uint32_t node, struct seam *ret)
{
    const struct pattern_node *n = node_at(an, node);
    bool is_concat = operator_joins(n->op);
    if ((!is_concat && !operator_splits(n->op)) || n->n_inputs > MAX_RULE_VARIABLES)
        return false;
    int axis = (int)value_of(an, node, ROLE_AXIS);
    ret->n = is_concat ? n->n_inputs : 2;
    ret->whole = is_concat ? item_of_output(an, node, 0, axis) : classes_item_of_axis(an, n->inputs[0], axis);
    for (uint32_t i = 0; i < ret->n; i++)
        ret->parts[i] =
            is_concat ? classes_item_of_axis(an, n->inputs[i], axis) : item_of_output(an, node, (int)i, axis);
    for (uint32_t i = 0; i < 2; i++)
        ret->cut_at[i] = is_concat ? NO_ITEM : item_of_part(an, n->inputs[0], axis, i);
    return true;
}

static bool tie_parts(struct ties *t, uint32_t node)
{
    struct seam s;
    bool is_new = false;
    if (!find_seam(t->an, node, &s))
        return false;
    for (uint32_t i = 0; i < 2; i++)
        is_new = (s.cut_at[i] != NO_ITEM && tie(t, s.cut_at[i], s.parts[i])) || is_new;
    return tie_sum(t, s.whole, s.parts, s.n) || is_new;
}

// Channels of an image and of its kernel; of a kernel before and after it is merged; a whole and its parts.
static bool tie_node(struct ties *t, uint32_t node)
{
    const struct analysis *an = t->an;
    const struct pattern_node *n = node_at(an, node);
    if (operator_convolves(n->op))
        return tie(t, classes_item_of_axis(an, n->inputs[0], 1), classes_item_of_axis(an, n->inputs[1], 1));
    if (operator_merges_groups(n->op))
        return tie(t, classes_item_of_axis(an, n->inputs[0], 1), item_of_output(an, node, 0, 1));
    return tie_parts(t, node);
}

static void tie_what_conditions_equate(struct ties *t)
{
    const struct equation *eq = t->an->in->equation;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        for (uint32_t x = 0; x < MAX_RULE_VARIABLES; x++)
            for (uint32_t y = 0; y < x; y++)
                for (int axis = 0; axis < 2; axis++)
                    if (condition_equates_sizes(&eq->conditions[i], x, y, axis))
                        tie(t, x * MAX_RANK + (uint32_t)axis, y * MAX_RANK + (uint32_t)axis);
}

static void find_ties(struct ties *t)
{
    const struct analysis *an = t->an;
    union_find_init(t->parents, an->n_items);
    tie_what_conditions_equate(t);
    for (bool is_changing = true; is_changing;) {
        is_changing = tie_whole_reads(t);
        for (uint32_t n = 0; n < an->in->equation->pattern->nodes.count; n++)
            is_changing = tie_node(t, n) || is_changing;
    }
}

// --- compounds ------------------------------------------------------------------------------------------------------
//
// A concatenation of parts that are not tied has as many places as these have together. Its places are those of its
// parts as long as nothing reads it but splits that cut it where it was put together, so that removing places of a part
// removes places of it and moves no others against one another.

static bool is_compound(const struct ties *t, uint32_t item)
{
    return is_of_class(t, item) && t->is_compound[find_tied(t, item)];
}

// Tied to a concatenation of parts that are not: it must be the only one, and tied to none of them.
static bool note_compound(struct ties *t, const struct seam *s)
{
    uint32_t n_tied = 0;
    for (uint32_t i = 0; i < s->n; i++)
        n_tied += find_tied(t, s->parts[i]) == find_tied(t, s->whole);
    if (!is_of_class(t, s->whole) || n_tied == s->n)
        return true;
    if (n_tied || is_compound(t, s->whole))
        return false;
    t->is_compound[find_tied(t, s->whole)] = true;
    return true;
}

// Nothing of a compound has a size of its own, and no groups divide it.
static bool has_compound_with_sizes(const struct ties *t)
{
    const struct analysis *an = t->an;
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES * MAX_RANK; i++)
        if (an->size[i] && is_compound(t, i))
            return true;
    for (uint32_t n = 0; n < an->in->equation->pattern->nodes.count; n++) {
        const struct pattern_node *node = node_at(an, n);
        bool is_conv = operator_convolves(node->op);
        if (!operator_merges_groups(node->op) && !(is_conv && value_of(an, n, ROLE_GROUPS) != 1))
            continue;
        bool is_divided =
            is_compound(t, item_of_output(an, n, 0, is_conv)) || is_compound(t, item_of_output(an, n, 0, 1));
        for (uint32_t i = 0; i < node->n_inputs; i++)
            for (int axis = 0; axis < 2; axis++)
                is_divided = is_divided || is_compound(t, classes_item_of_axis(an, node->inputs[i], axis));
        if (is_divided)
            return true;
    }
    return false;
}

static bool find_compounds(struct ties *t)
{
    struct seam s;
    memset(t->is_compound, 0, sizeof t->is_compound);
    for (uint32_t n = 0; n < t->an->in->equation->pattern->nodes.count; n++)
        if (operator_joins(node_at(t->an, n)->op) && (!find_seam(t->an, n, &s) || !note_compound(t, &s)))
            return false;
    return !has_compound_with_sizes(t);
}

// Is it read along a part of a compound, which is tied to what that part was?
static bool is_link_of_compound(struct ties *t, const struct link *l)
{
    struct seam s;
    for (uint32_t n = 0; n < t->an->in->equation->pattern->nodes.count; n++) {
        if (!find_seam(t->an, n, &s) || !is_compound(t, s.whole))
            continue;
        bool is_concat = operator_joins(node_at(t->an, n)->op);
        for (uint32_t i = 0; i < s.n; i++) {
            bool is_of_part = is_concat ? l->from == s.parts[i] && l->to == s.whole
                                        : l->from == s.whole && l->to == s.parts[i] && s.cut_at[i] != NO_ITEM &&
                                              find_tied(t, s.cut_at[i]) == find_tied(t, s.parts[i]);
            if (is_of_part)
                return true;
        }
    }
    return false;
}

// --- blocks ---------------------------------------------------------------------------------------------------------

static void divide(struct ties *t, uint32_t item, int64_t n)
{
    int64_t *places = &t->places[find_tied(t, item)];
    *places = greatest_common_divisor(n, *places);
}

// A block is what divides all axes that are tied, all groups of filters, and where they are cut.
static bool find_blocks(struct ties *t)
{
    const struct analysis *an = t->an;
    for (uint32_t i = 0; i < an->n_items; i++)
        t->places[i] = 0;
    for (uint32_t i = 0; i < an->n_items; i++)
        if (is_of_class(t, i))
            divide(t, i, an->size[i]);
    for (uint32_t n = 0; n < an->in->equation->pattern->nodes.count; n++) {
        const struct pattern_node *node = node_at(an, n);
        if (!operator_convolves(node->op) && !operator_merges_groups(node->op))
            continue;
        uint32_t filters = classes_item_of_axis(an, node->inputs[operator_convolves(node->op)], 0);
        if (is_of_class(t, filters))
            divide(t, filters, an->size[filters] / value_of(an, n, ROLE_GROUPS));
    }
    for (int i = 0; i < an->n_links; i++) {
        const struct link *l = &an->links[i];
        if (l->is_of_group || !is_of_class(t, l->from))
            continue;
        if (find_tied(t, l->from) == find_tied(t, l->to))
            divide(t, l->from, l->offset);
        else if (!is_link_of_compound(t, l))
            return false;
    }
    return true;
}

void classes_find_places_of_groups(struct analysis *an)
{
    struct ties *t = NULL;
    for (uint32_t class = 0; class < an->n_items; class ++) {
        if (an->parents[class] != class || !(an->class_flags[class] & HAS_GROUPS) ||
            (an->class_flags[class] & ~(HAS_GROUPS | HAS_SEGMENTS | HAS_COUNT)))
            continue;
        if (!t && !has_only_known_operators(an))
            return;
        t = t ? t : arena_new(an->in->scratch, struct ties);
        t->an = an;
        t->class = class;
        find_ties(t);
        bool has_blocks = find_compounds(t) && find_blocks(t);
        for (uint32_t i = 0; i < an->n_items && has_blocks; i++)
            if (is_of_class(t, i))
                an->places_of_group[i] = is_compound(t, i) ? 1 : t->places[find_tied(t, i)];
    }
}
