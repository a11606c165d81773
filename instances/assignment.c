// Depth-first over the variables, with ranks that stay possible.
#include "instances/assignment.h"

#include "core/memory/arena.h"
#include "instances/rank_classes.h"
#include <assert.h>

#define MAX_SETS 2

struct assignment_search {
    const struct assignment_order *order;
    const struct attribute_walk *walk;
    uint32_t n_sets;
    struct rank_classes classes[MAX_SETS];
    struct ranks_left left[MAX_RULE_VARIABLES + 1][MAX_SETS];   // when so many variables are bound
    struct domain domains[MAX_RULE_VARIABLES];
    size_t chosen[MAX_RULE_VARIABLES];
    struct attribute_value values[MAX_RULE_VARIABLES];
};

struct assignment_order assignment_order_by_number(const struct pattern *p)
{
    struct assignment_order order = {.n = p->n_attribute_variables};
    for (uint32_t v = 0; v < order.n; v++)
        order.variables[v] = v;
    return order;
}

// A pattern's nodes stand behind what they read.
struct assignment_order assignment_order_by_node(const struct pattern *p)
{
    struct assignment_order order = {0};
    uint32_t known = 0, all = (1u << p->n_attribute_variables) - 1;
    for (size_t n = 0; n <= p->nodes.count; n++) {
        uint32_t here = (n < p->nodes.count ? attribute_variables_of_node(&p->nodes.items[n]) : all) & ~known;
        for (uint32_t v = 0; v < p->n_attribute_variables; v++)
            if (here >> v & 1)
                order.variables[order.n++] = v;
        known |= here;
    }
    return order;
}

// The variable bound last may be a list of windows. Is some set of nodes left with a rank for each of its tensors?
static bool has_ranks_left(struct assignment_search *s, uint32_t depth)
{
    uint32_t variable = s->order->variables[depth];
    const struct domain *d = &s->domains[variable];
    bool is_any_left = false;
    for (uint32_t i = 0; i < s->n_sets; i++) {
        struct ranks_left *left = &s->left[depth + 1][i];
        *left = s->left[depth][i];
        if (d->per_axis)
            ranks_left_restrict(left, &s->classes[i], d->nodes, s->values[variable].count / d->per_axis);
        is_any_left = is_any_left || ranks_left_are_any(left, &s->classes[i]);
    }
    return is_any_left;
}

static bool is_apart_from_others(const struct assignment_search *s, uint32_t depth)
{
    uint32_t variable = s->order->variables[depth];
    for (uint32_t i = 0; s->domains[variable].goes_together && i < depth; i++) {
        uint32_t v = s->order->variables[i];
        if (s->domains[v].goes_together && s->chosen[v] % 2 != s->chosen[variable] % 2)
            return true;
    }
    return false;
}

static bool is_first_of_its_length(const struct domain *d, size_t chosen)
{
    for (size_t i = 0; i < chosen; i++)
        if (d->values[i].count == d->values[chosen].count)
            return false;
    return true;
}

static bool is_one_of_many(const struct assignment_search *s, uint32_t depth)
{
    int others = 0;
    for (uint32_t i = 0; s->domains[s->order->variables[depth]].goes_alone && i <= depth; i++) {
        uint32_t v = s->order->variables[i];
        others += s->domains[v].goes_alone && !is_first_of_its_length(&s->domains[v], s->chosen[v]);
    }
    return others > 1;
}

static bool is_left_out(struct assignment_search *s, uint32_t depth)
{
    return !has_ranks_left(s, depth) || is_apart_from_others(s, depth) || is_one_of_many(s, depth);
}

static bool search_from(struct assignment_search *s, uint32_t depth);

static bool search_values(struct assignment_search *s, uint32_t depth)
{
    uint32_t variable = s->order->variables[depth];
    const struct domain *d = &s->domains[variable];
    for (size_t i = 0; i < d->count; i++) {
        s->chosen[variable] = i;
        s->values[variable] = d->values[s->chosen[variable]];
        if (!is_left_out(s, depth) && !search_from(s, depth + 1))
            return false;
    }
    return true;
}

static bool search_from(struct assignment_search *s, uint32_t depth)
{
    const struct attribute_walk *w = s->walk;
    bool goes_on = true;
    if (!w->begin || w->begin(w->context, s->values, depth))
        goes_on = depth == s->order->n ? w->visit(w->context, s->values) : search_values(s, depth);
    if (w->begin)
        w->end(w->context, depth);
    return goes_on;
}

bool assignment_visit_all(const struct attribute_walk *walk, uint32_t n_sets, const node_set *sets,
                          const struct assignment_order *order)
{
    const struct pattern *p = walk->equation->pattern;
    struct arena_mark mark = arena_mark(walk->scratch);
    struct assignment_search *s = arena_new(walk->scratch, struct assignment_search);
    assert(n_sets <= MAX_SETS);
    s->order = order;
    s->walk = walk;
    s->n_sets = n_sets;
    for (uint32_t i = 0; i < n_sets; i++)
        rank_classes_make(&s->classes[i], &s->left[0][i], p, sets[i]);
    for (uint32_t v = 0; v < order->n; v++)
        s->domains[v] = domain_of_variable(p, v, walk->max_rank, walk->extent, walk->scratch);
    bool goes_on = search_from(s, 0);
    arena_release(walk->scratch, mark);
    return goes_on;
}
