// Axes that groups divide, one behind the other: do all cuts stand between groups, in all instances?
#include "verifier/classes.h"

// Sizes that the text of the equation says are equal.
static bool have_equal_sizes(const struct equation *eq, term_id x, term_id y, int axis)
{
    const struct term *s = &eq->pattern->terms.items[x], *t = &eq->pattern->terms.items[y];
    bool are_equal = x == y;
    for (uint32_t i = 0; i < eq->n_conditions && s->is_variable && t->is_variable; i++)
        are_equal = are_equal || condition_equates_sizes(&eq->conditions[i], s->index, t->index, axis);
    return are_equal;
}

static bool has_even_parts(const struct analysis *an, uint32_t node, int axis)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    for (uint32_t i = 1; i < n->n_inputs; i++)
        if (!have_equal_sizes(an->in->equation, n->inputs[0], n->inputs[i], axis))
            return false;
    return true;
}

// What is convolved: parts of outputs are as long as one another where the kernels' are.
static bool has_even_outputs(const struct analysis *an, uint32_t node)
{
    const struct pattern *p = an->in->equation->pattern;
    const struct pattern_node *n = &p->nodes.items[node];
    term_id kernels[MAX_RULE_VARIABLES];
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct term *t = &p->terms.items[n->inputs[i]];
        if (i == MAX_RULE_VARIABLES || t->is_variable || p->nodes.items[t->index].op->id != OP_CONV)
            return false;
        kernels[i] = p->nodes.items[t->index].inputs[1];
        if (!have_equal_sizes(an->in->equation, kernels[0], kernels[i], 0))
            return false;
    }
    return true;
}

// Nothing but convolutions, even concatenations, and what works entry by entry.
static bool is_of_even_parts(struct analysis *an, uint32_t class)
{
    const struct pattern *p = an->in->equation->pattern;
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        const struct operator* op = p->nodes.items[n].op;
        if (op->id == OP_CONV || operator_works_entry_by_entry(op))
            continue;
        if (op->id != OP_CONCAT || !an->in->calls[n])
            return false;
        int axis = (int)an->in->calls[n]->attributes[operator_find_attribute(op, "axis")].ints[0];
        uint32_t item = classes_item_of_axis(an, p->nodes.items[n].inputs[0], axis);
        if (classes_find(an, item) == class && !has_even_parts(an, n, axis) && !(axis == 1 && has_even_outputs(an, n)))
            return false;
    }
    return true;
}

// False: another number is known of the item.
static bool set_places(struct analysis *an, uint32_t item, int64_t places)
{
    if (an->places_of_group[item] == 0)
        an->places_of_group[item] = places;
    return an->places_of_group[item] == places;
}

static bool set_places_of_convolutions(struct analysis *an, uint32_t class)
{
    const struct pattern *p = an->in->equation->pattern;
    bool are_set = true;
    for (uint32_t n = 0; n < p->nodes.count && are_set; n++) {
        const struct typed_call *call = an->in->calls[n];
        if (!call || call->op->id != OP_CONV || !((an->sides[0] | an->sides[1]) >> n & 1))
            continue;
        int64_t groups = call->attributes[operator_find_attribute(call->op, "group")].ints[0];
        const struct definition *d = an->definitions[n];
        const term_id *inputs = p->nodes.items[n].inputs;
        uint32_t items[] = {classes_item_of_axis(an, inputs[0], 1), classes_item_of_axis(an, inputs[1], 1),
                            classes_item_of_axis(an, inputs[1], 0),
                            an->first_item[n] + d->stages[d->outputs[0]].first_variable + 1};
        int64_t of_channels = d->inputs[1].dim[1], of_filters = d->inputs[1].dim[0] / groups;
        for (int i = 0; i < 4 && are_set; i++)
            are_set = classes_find(an, items[i]) != class || set_places(an, items[i], i < 2 ? of_channels : of_filters);
    }
    return are_set;
}

// What is read place by place has as many in each group.
static bool spread_places(struct analysis *an, uint32_t class)
{
    for (bool is_changing = true; is_changing;) {
        is_changing = false;
        for (int i = 0; i < an->n_links; i++) {
            const struct link *l = &an->links[i];
            int64_t *from = &an->places_of_group[l->from], *to = &an->places_of_group[l->to];
            if (l->is_of_group || classes_find(an, l->from) != class || *from == *to)
                continue;
            if (*from && *to)
                return false;
            *from = *to = *from + *to;
            is_changing = true;
        }
    }
    return true;
}

static bool are_cut_between_groups(struct analysis *an, uint32_t class)
{
    if (!is_of_even_parts(an, class) || !set_places_of_convolutions(an, class) || !spread_places(an, class))
        return false;
    for (uint32_t i = 0; i < an->n_items; i++)
        if (classes_find(an, i) == class && an->size[i] &&
            (an->places_of_group[i] == 0 || an->size[i] % an->places_of_group[i]))
            return false;
    for (int i = 0; i < an->n_links; i++)
        if (!an->links[i].is_of_group && classes_find(an, an->links[i].from) == class &&
            an->links[i].offset % an->places_of_group[an->links[i].from])
            return false;
    return true;
}

void classes_find_places_of_groups(struct analysis *an, const uint16_t *flags)
{
    for (uint32_t class = 0; class < an->n_items; class ++) {
        if (an->parent[class] != class || !(flags[class] & HAS_GROUPS) || !(flags[class] & HAS_SEGMENTS) ||
            (flags[class] & ~(HAS_GROUPS | HAS_SEGMENTS | HAS_COUNT)))
            continue;
        bool are_whole = are_cut_between_groups(an, class);
        for (uint32_t i = 0; i < an->n_items && !are_whole; i++)
            an->places_of_group[i] = classes_find(an, i) == class ? 0 : an->places_of_group[i];
    }
}
