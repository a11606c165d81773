// Ranks that lists, shapes and conditions say (T4), from term to term by way of operators that keep or drop axes.
#include "substitutions/pattern.h"
#include "verifier/bounds/forms/terms.h"

#include "operators/traits.h"

static void set_rank(struct fixed_ranks *r, term_id term, int rank)
{
    if (rank == RANK_OPEN || term >= r->n_terms || r->of_term[term] != RANK_OPEN)
        return;
    r->of_term[term] = rank;
    r->has_changed = true;
}

static int rank_of_lists(const struct pattern_node *node)
{
    static const struct {
        enum attribute_role role;
        int per_axis, others;
    } lists[] = {{ROLE_STRIDE, 1, 2},
                 {ROLE_DILATION, 1, 2},
                 {ROLE_KERNEL, 1, 2},
                 {ROLE_WINDOW_PADS, 2, 2},
                 {ROLE_PERMUTATION, 1, 0}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct attribute_pattern *a = pattern_node_attribute(node, lists[i].role);
        if (a->count && form_is_list_of(a, attribute_term_is_one_entry))
            return (int)a->count / lists[i].per_axis + lists[i].others;
    }
    return RANK_OPEN;
}

int rank_of_shape(const struct pattern_node *node)
{
    int shape = operator_find_role(node->op, ROLE_SHAPE);
    bool is_written = shape >= 0 && form_is_list_of(&node->attributes[shape], attribute_term_is_one_entry);
    return is_written ? (int)node->attributes[shape].count : RANK_OPEN;
}

int known_rank(const struct fixed_ranks *r, term_id term)
{
    return term < r->n_terms ? r->of_term[term] : RANK_OPEN;
}

int dropped_axes(const struct pattern_node *node)
{
    const struct attribute_pattern *keeps = pattern_node_attribute(node, ROLE_KEEPDIMS);
    const struct attribute_pattern *axes = pattern_node_attribute(node, ROLE_AXES);
    if (!operator_reduces_axes(node->op) || keeps->count != 1 || !form_is_integer(keeps->terms[0]))
        return RANK_OPEN;
    bool is_written = axes->count && form_is_list_of(axes, form_is_integer);
    return keeps->terms[0]->value == 1 ? 0 : is_written ? (int)axes->count : RANK_OPEN;
}

static void spread_ranks_of_reduction(struct fixed_ranks *r, uint32_t n)
{
    const struct pattern_node *node = &r->p->nodes.items[n];
    int dropped = dropped_axes(node), of_input = known_rank(r, node->inputs[0]);
    for (term_id t = 0; t < r->n_terms && dropped != RANK_OPEN; t++) {
        const struct term *term = &r->p->terms.items[t];
        if (term->is_variable || term->index != n)
            continue;
        set_rank(r, t, of_input == RANK_OPEN || of_input < dropped ? RANK_OPEN : of_input - dropped);
        set_rank(r, node->inputs[0], known_rank(r, t) == RANK_OPEN ? RANK_OPEN : known_rank(r, t) + dropped);
    }
}

static void spread_ranks_of_node(struct fixed_ranks *r, uint32_t n)
{
    const struct pattern_node *node = &r->p->nodes.items[n];
    int rank = operator_has_role(node->op, ROLE_SHAPE) ? rank_of_shape(node) : rank_of_lists(node);
    bool is_kept = operator_has(node->op, TRAIT_KEEPS_RANK),
         is_of_first = operator_has(node->op, TRAIT_KEEPS_FIRST_RANK);
    for (uint32_t i = 0; i < node->n_inputs && rank == RANK_OPEN; i++)
        rank = is_kept || (is_of_first && i == 0) ? known_rank(r, node->inputs[i]) : RANK_OPEN;
    for (term_id t = 0; t < r->n_terms; t++) {
        const struct term *term = &r->p->terms.items[t];
        bool is_of_node = !term->is_variable && term->index == n;
        if (is_of_node && rank == RANK_OPEN && is_of_first)
            rank = known_rank(r, t);
        if (is_of_node)
            set_rank(r, t, rank);
    }
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (is_kept || (is_of_first && i == 0) || operator_multiplies_matrices(node->op))
            set_rank(r, node->inputs[i], rank);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        set_rank(r, node->inputs[i], operator_rank_of_input(node->op, i));
}

static void rank_by_condition(struct fixed_ranks *r, const struct condition *c)
{
    for (term_id t = 0; t < r->n_terms; t++) {
        const struct term *term = &r->p->terms.items[t];
        if (!term->is_variable || c->kind != CONDITION_EQUAL || c->a->value != term->index)
            continue;
        if (c->a->kind == TERM_RANK && form_is_integer(c->b))
            set_rank(r, t, (int)c->b->value);
        for (term_id u = 0; u < r->n_terms; u++)
            if ((c->a->kind == TERM_RANK || c->a->kind == TERM_DIMS) && c->b->kind == c->a->kind &&
                r->p->terms.items[u].is_variable && r->p->terms.items[u].index == c->b->value) {
                set_rank(r, t, known_rank(r, u));
                set_rank(r, u, known_rank(r, t));
            }
    }
}

void find_fixed_ranks(const struct equation *eq, struct fixed_ranks *ret)
{
    *ret = (struct fixed_ranks){.p = eq->pattern, .n_terms = eq->pattern->terms.count};
    if (ret->n_terms > MAX_FORM_TERMS)
        ret->n_terms = 0;
    for (size_t t = 0; t < ret->n_terms; t++)
        ret->of_term[t] = RANK_OPEN;
    do {
        ret->has_changed = false;
        for (uint32_t i = 0; i < eq->n_conditions; i++)
            if (!condition_is_of_variable(eq->conditions[i].kind))
                rank_by_condition(ret, &eq->conditions[i]);
        for (uint32_t n = 0; n < eq->pattern->nodes.count; n++) {
            spread_ranks_of_node(ret, n);
            if (operator_reduces_axes(eq->pattern->nodes.items[n].op))
                spread_ranks_of_reduction(ret, n);
        }
    } while (ret->has_changed);
}

bool has_open_ranks(const struct fixed_ranks *r)
{
    for (size_t t = 0; t < r->n_terms; t++)
        if (r->of_term[t] == RANK_OPEN)
            return true;
    return r->n_terms == 0;
}

int largest_fixed_rank(const struct fixed_ranks *r)
{
    int largest = 0;
    for (size_t t = 0; t < r->n_terms; t++)
        largest = r->of_term[t] > largest ? r->of_term[t] : largest;
    return largest;
}
