// Ranks by text, until nothing new is found.
#include "instances/known_ranks.h"

#include "operators/traits.h"

int known_rank(const struct known_ranks *r, term_id term)
{
    const struct term *t = &r->pattern->terms.items[term];
    return t->is_variable ? r->of_variable[t->index] : term < r->n_terms ? r->of_term[term] : RANK_OPEN;
}

static void set_rank(struct known_ranks *r, int *place, int rank)
{
    if (rank < 0 || rank > MAX_RANK || *place != RANK_OPEN)
        return;
    *place = rank;
    r->has_changed = true;
}

void known_ranks_set(struct known_ranks *r, term_id term, int rank)
{
    const struct term *t = &r->pattern->terms.items[term];
    if (t->is_variable)
        set_rank(r, &r->of_variable[t->index], rank);
    else if (term < r->n_terms)
        set_rank(r, &r->of_term[term], rank);
}

// --- conditions ------------------------------------------------------------------------------------------------------

static void rank_by_condition(struct known_ranks *r, const struct condition *c)
{
    if (c->kind != CONDITION_EQUAL)
        return;
    bool is_rank = c->a->kind == TERM_RANK, is_like = c->b->kind == c->a->kind;
    if (is_rank && c->b->kind == TERM_INTEGER)
        set_rank(r, &r->of_variable[c->a->value], (int)c->b->value);
    if (is_like && (is_rank || c->a->kind == TERM_DIMS)) {
        set_rank(r, &r->of_variable[c->a->value], r->of_variable[c->b->value]);
        set_rank(r, &r->of_variable[c->b->value], r->of_variable[c->a->value]);
    }
}

static void rank_by_conditions(struct known_ranks *r, const struct equation *eq)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        rank_by_condition(r, &eq->conditions[i]);
}

void known_ranks_begin(struct known_ranks *r, const struct equation *eq)
{
    *r = (struct known_ranks){.pattern = eq->pattern, .n_terms = eq->pattern->terms.count};
    if (r->n_terms > MAX_RANKED_TERMS)
        r->n_terms = 0;
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        r->of_variable[v] = RANK_OPEN;
    for (size_t t = 0; t < r->n_terms; t++)
        r->of_term[t] = RANK_OPEN;
    do {
        r->has_changed = false;
        rank_by_conditions(r, eq);
    } while (r->has_changed);
}

// --- operators -------------------------------------------------------------------------------------------------------

static bool is_list_of_entries(const struct attribute_pattern *a)
{
    return ALL(uint32_t, i, a->count, attribute_term_is_one_entry(a->terms[i])) && a->count > 0;
}

static int rank_of_shape(const struct pattern_node *node)
{
    const struct attribute_pattern *shape = pattern_node_attribute(node, ROLE_SHAPE);
    return is_list_of_entries(shape) ? (int)shape->count : RANK_OPEN;
}

// The rank of the inputs that lists with an entry for each axis, or each spatial one, ask for.
static int rank_of_lists(const struct pattern_node *node)
{
    static const struct {
        enum attribute_role role;
        int per_axis, others;
    } lists[] = {{ROLE_STRIDE, 1, 2},      {ROLE_DILATION, 1, 2}, {ROLE_KERNEL, 1, 2}, {ROLE_WINDOW_PADS, 2, 2},
                 {ROLE_PERMUTATION, 1, 0}, {ROLE_PADS, 2, 0},     {ROLE_GAPS, 1, 0}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct attribute_pattern *a = pattern_node_attribute(node, lists[i].role);
        if (is_list_of_entries(a))
            return (int)a->count / lists[i].per_axis + lists[i].others;
    }
    return RANK_OPEN;
}

// How many axes a reduction takes away; RANK_OPEN: the text does not say.
static int dropped_axes(const struct pattern_node *node)
{
    const struct attribute_pattern *keeps = pattern_node_attribute(node, ROLE_KEEPDIMS);
    const struct attribute_pattern *axes = pattern_node_attribute(node, ROLE_AXES);
    if (!operator_reduces_axes(node->op) || keeps->count != 1 || keeps->terms[0]->kind != TERM_INTEGER)
        return RANK_OPEN;
    for (uint32_t i = 0; i < axes->count; i++)
        if (axes->terms[i]->kind != TERM_INTEGER)
            return RANK_OPEN;
    return keeps->terms[0]->value == 1 ? 0 : axes->count ? (int)axes->count : RANK_OPEN;
}

static int rank_of_result(const struct known_ranks *r, const struct pattern_node *node)
{
    int shape = rank_of_shape(node), dropped = dropped_axes(node), rank = RANK_OPEN;
    bool is_kept = operator_has(node->op, TRAIT_KEEPS_RANK);
    if (operator_has_role(node->op, ROLE_SHAPE))
        return shape;
    for (uint32_t i = 0; i < node->n_inputs && rank == RANK_OPEN; i++)
        if (is_kept || (i == 0 && operator_has(node->op, TRAIT_KEEPS_FIRST_RANK)))
            rank = known_rank(r, node->inputs[i]);
    if (dropped != RANK_OPEN && known_rank(r, node->inputs[0]) >= dropped)
        rank = known_rank(r, node->inputs[0]) - dropped;
    return rank;
}

static void set_results(struct known_ranks *r, uint32_t node, int rank)
{
    for (term_id t = 0; t < r->n_terms && rank != RANK_OPEN; t++)
        if (!r->pattern->terms.items[t].is_variable && r->pattern->terms.items[t].index == node)
            known_ranks_set(r, t, rank);
}

void known_ranks_spread_up(struct known_ranks *r)
{
    for (uint32_t n = 0; n < r->pattern->nodes.count; n++)
        set_results(r, n, rank_of_result(r, &r->pattern->nodes.items[n]));
}

static int rank_of_some_result(const struct known_ranks *r, uint32_t node)
{
    for (term_id t = 0; t < r->n_terms; t++)
        if (!r->pattern->terms.items[t].is_variable && r->pattern->terms.items[t].index == node)
            return r->of_term[t];
    return RANK_OPEN;
}

static void spread_down(struct known_ranks *r, uint32_t n)
{
    const struct pattern_node *node = &r->pattern->nodes.items[n];
    bool is_kept = operator_has(node->op, TRAIT_KEEPS_RANK);
    bool is_of_first = operator_has(node->op, TRAIT_KEEPS_FIRST_RANK);
    int result = rank_of_some_result(r, n), lists = rank_of_lists(node), dropped = dropped_axes(node);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        known_ranks_set(r, node->inputs[i], operator_rank_of_input(node->op, i));
        if (is_kept || (is_of_first && i == 0)) {
            known_ranks_set(r, node->inputs[i], lists);
            known_ranks_set(r, node->inputs[i], result);
        }
    }
    if (dropped != RANK_OPEN && result != RANK_OPEN)
        known_ranks_set(r, node->inputs[0], result + dropped);
}

void known_ranks_spread(struct known_ranks *r, const struct equation *eq)
{
    do {
        r->has_changed = false;
        rank_by_conditions(r, eq);
        known_ranks_spread_up(r);
        for (uint32_t n = 0; n < r->pattern->nodes.count; n++)
            spread_down(r, n);
    } while (r->has_changed);
}
