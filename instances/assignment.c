// Depth-first over the variables, with ranks that stay possible.
#include "instances/assignment.h"

#include "core/memory/arena.h"
#include "instances/rank_classes.h"

#define MAX_SETS 2

struct assignment_search {
    const struct attribute_walk *walk;
    uint32_t n, n_sets;
    struct rank_classes classes[MAX_SETS];
    struct ranks_left left[MAX_RULE_VARIABLES + 1][MAX_SETS];   // when so many variables are bound
    struct domain domains[MAX_RULE_VARIABLES];
    size_t chosen[MAX_RULE_VARIABLES];
    struct attribute_value values[MAX_RULE_VARIABLES];
};

// The variable bound last may be a list of windows. Is some set of nodes left with a rank for each of its tensors?
static bool has_ranks_left(struct assignment_search *s, uint32_t variable)
{
    const struct domain *d = &s->domains[variable];
    bool is_any_left = false;
    for (uint32_t i = 0; i < s->n_sets; i++) {
        struct ranks_left *left = &s->left[variable + 1][i];
        *left = s->left[variable][i];
        if (d->per_axis)
            ranks_left_restrict(left, &s->classes[i], d->nodes, s->values[variable].count / d->per_axis);
        is_any_left = is_any_left || ranks_left_are_any(left, &s->classes[i]);
    }
    return is_any_left;
}

static bool is_apart_from_others(const struct assignment_search *s, uint32_t variable)
{
    return s->domains[variable].goes_together &&
           ANY(uint32_t, v, variable, s->domains[v].goes_together && s->chosen[v] % 2 != s->chosen[variable] % 2);
}

static bool is_first_of_its_length(const struct domain *d, size_t chosen)
{
    return ALL(size_t, i, chosen, d->values[i].count != d->values[chosen].count);
}

static bool is_one_of_many(const struct assignment_search *s, uint32_t variable)
{
    int others = 0;
    for (uint32_t v = 0; s->domains[variable].goes_alone && v <= variable; v++)
        others += s->domains[v].goes_alone && !is_first_of_its_length(&s->domains[v], s->chosen[v]);
    return others > 1;
}

static bool is_left_out(struct assignment_search *s, uint32_t variable)
{
    return !has_ranks_left(s, variable) || is_apart_from_others(s, variable) || is_one_of_many(s, variable);
}

static bool search_from(struct assignment_search *s, uint32_t variable)
{
    const struct domain *d = &s->domains[variable];
    if (variable == s->n)
        return s->walk->visit(s->walk->context, s->values);
    for (size_t i = 0; i < d->count; i++) {
        s->chosen[variable] = i;
        s->values[variable] = d->values[i];
        if (!is_left_out(s, variable) && !search_from(s, variable + 1))
            return false;
    }
    return true;
}

bool enumerate_attributes(const struct attribute_walk *walk)
{
    static const enum wanted_sides sides[MAX_SETS] = {WANTED_LEFT, WANTED_RIGHT};
    const struct equation *eq = walk->equation;
    ARENA_MARK(mark, walk->scratch);
    struct assignment_search *s = arena_new(walk->scratch, struct assignment_search);
    s->walk = walk;
    s->n = eq->pattern->n_attribute_variables;
    s->n_sets = eq->is_strong ? 2 : 1;
    for (uint32_t i = 0; i < s->n_sets; i++)
        rank_classes_make(&s->classes[i], &s->left[0][i], eq->pattern, equation_required_nodes(eq, sides[i]));
    for (uint32_t v = 0; v < s->n; v++)
        s->domains[v] = domain_of_variable(eq->pattern, v, walk->max_rank, walk->extent, walk->scratch);
    return search_from(s, 0);
}
