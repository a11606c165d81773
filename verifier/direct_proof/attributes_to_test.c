// At which attributes an equation is tested: some first, which find most of what is false; of windows on two axes all
// pairs, or those with one of two centers where there are too many.
#include "verifier/direct_proof/testing.h"

#include "verifier/bounds/text/axis_products.h"
#include "verifier/bounds/text/conditions.h"

static enum domain_extent extent_to_test(const struct test *t)
{
    if (t->j->fixed_bound)
        return DOMAIN_SMALL;
    if (t->result->bounds.has_other_windows ||
        (t->result->bounds.has_window && equation_has_conditions_on_windows(t->equation)))
        return DOMAIN_ALL;
    return t->result->bounds.has_window ? DOMAIN_ALIKE : DOMAIN_SOME;
}

static struct attribute_walk walk_over_attributes(struct test *t)
{
    return (struct attribute_walk){.equation = t->equation,
                                   .max_rank = t->result->max_rank,
                                   .extent = extent_to_test(t),
                                   .scratch = &t->j->scratch,
                                   .visit = test_assignment,
                                   .context = t};
}

#define MAX_WINDOW_LIST (2 * MAX_RANK)
struct center {
    struct test *test;
    uint64_t tries, most_tries;
    bool is_found;
    struct attribute_value values[MAX_RULE_VARIABLES];
    int64_t ints[MAX_RULE_VARIABLES][MAX_WINDOW_LIST];
};

static bool take_center(void *context, const struct attribute_value *attributes)
{
    struct center *c = context;
    struct bounds bounds;
    struct box box = c->test->j->explored.box;
    c->is_found = test_explore(c->test, attributes, &box, &bounds);
    for (uint32_t v = 0; c->is_found && v < c->test->equation->pattern->n_attribute_variables; v++) {
        c->values[v] = (struct attribute_value){attributes[v].count, c->ints[v]};
        for (uint32_t i = 0; i < attributes[v].count && i < MAX_WINDOW_LIST; i++)
            c->ints[v][i] = attributes[v].ints[i];
    }
    return !c->is_found && ++c->tries < c->most_tries && c->test->j->steps < c->test->j->step_limit;
}

#define MOST_TRIES_BACKWARDS 32
// The first attributes of windows on two axes that have instances; or the last ones, if they are found soon: one center
// is enough.
static bool find_center(struct test *t, bool backwards, struct center *ret_center)
{
    struct attribute_walk w = walk_over_attributes(t);
    *ret_center = (struct center){.test = t, .most_tries = backwards ? MOST_TRIES_BACKWARDS : UINT64_MAX};
    w.visit = take_center;
    w.context = ret_center;
    w.min_axes = 2;
    w.backwards = backwards;
    enumerate_attributes(&w);
    return ret_center->is_found;
}

// With attributes on one axis that have instances all those of the other.
static bool test_across_centers(struct test *t)
{
    struct attribute_walk w = walk_over_attributes(t);
    for (int i = 0; i < 2; i++) {
        struct center center;
        bool is_found = find_center(t, i, &center);
        w.center = is_found ? center.values : NULL;
        w.max_axes = is_found ? 0 : 1;
        w.min_axes = i ? 2 : 0;
        if ((is_found || i == 0) && !enumerate_attributes(&w))
            return false;
    }
    return true;
}

// How many lists of windows on two axes there are, all attributes together.
static uint64_t count_pairs(const struct test *t)
{
    const struct pattern *p = t->equation->pattern;
    struct arena_mark mark = arena_mark(&t->j->scratch);
    uint64_t pairs = 1;
    for (uint32_t v = 0; v < p->n_attribute_variables; v++) {
        struct domain d = domain_of_variable(p, v, t->result->max_rank, DOMAIN_ALL, &t->j->scratch);
        uint64_t of_variable = 0;
        for (size_t i = 0; d.per_axis && i < d.count; i++)
            of_variable += d.values[i].count == 2 * d.per_axis;
        pairs *= of_variable ? of_variable : 1;
    }
    arena_release(&t->j->scratch, mark);
    return pairs;
}

// Axes are apart when no condition and no position ties them, and each side is a product of what each axis contributes.
static bool has_axes_apart(const struct test *t)
{
    return !t->result->bounds.axes_meet && !equation_ties_axes(t->equation) && !equation_is_no_product(t->equation);
}

#define MOST_PAIRS 1200
static bool count_assignment(void *context, const struct attribute_value *attributes)
{
    uint64_t *count = context;
    return ++*count < MOST_PAIRS;
}

// Of windows on two axes that are not apart only some pairs are tried.
uint64_t count_assignments(struct attribute_walk w)
{
    uint64_t count = 0;
    w.visit = count_assignment;
    w.context = &count;
    enumerate_attributes(&w);
    return count;
}

// Most of what is false is so at a few attributes, which are tested first, within a part of the limits that they share.
#define PARTS_OF_LIMITS 10
bool test_within_part(struct test *t, bool (*test)(struct test *t))
{
    uint64_t limit = t->j->step_limit;
    t->j->step_limit = limit / PARTS_OF_LIMITS;
    bool goes_on = test(t), has_no_steps = t->j->steps >= t->j->step_limit;
    t->j->step_limit = limit;
    t->j->steps = t->share = t->assignments = 0;
    t->work_before = t->j->pool.work;
    t->result->was_cut_short = t->result->was_cut_short && !has_no_steps;
    return goes_on || has_no_steps;
}

static bool test_some_attributes(struct test *t)
{
    struct attribute_walk some = walk_over_attributes(t);
    some.extent = DOMAIN_SOME;
    t->share = t->j->work_limit / PARTS_OF_LIMITS / (count_assignments(some) + 1) + 1;
    return enumerate_attributes(&some);
}

// Small instances may have met windows at some attributes only, where they are used alike. They have to be at all.
static bool look_at_windows(void *context, const struct attribute_value *attributes)
{
    struct test *t = context;
    struct box box = t->j->explored.box;
    struct bounds bounds, *known = &t->result->bounds;
    test_explore(t, attributes, &box, &bounds);
    known->has_other_windows = known->has_other_windows || bounds.has_other_windows;
    known->axes_meet = known->axes_meet || bounds.axes_meet;
    known->doubt = known->doubt ? known->doubt : bounds.doubt;
    return !known->has_other_windows;
}

static void look_at_windows_everywhere(struct test *t)
{
    struct attribute_walk some = walk_over_attributes(t);
    uint64_t steps = t->j->steps;
    some.extent = DOMAIN_SOME;
    some.visit = look_at_windows;
    enumerate_attributes(&some);
    t->j->steps = steps;
}

bool test_all_attributes(struct test *t)
{
    if (extent_to_test(t) == DOMAIN_ALIKE)
        look_at_windows_everywhere(t);
    struct attribute_walk w = walk_over_attributes(t);
    t->axes_are_apart = has_axes_apart(t);
    bool has_many_pairs = w.extent == DOMAIN_ALL && count_pairs(t) > MOST_PAIRS;
    t->tried.has_more_pairs = has_many_pairs && !t->axes_are_apart;
    t->tried.has_all_attributes = w.extent == DOMAIN_ALL && !has_many_pairs;
    if (w.extent == DOMAIN_ALL && !test_within_part(t, test_some_attributes))
        return false;
    t->all_assignments = w.extent == DOMAIN_ALL ? count_assignments(w) : 0;
    bool goes_on = has_many_pairs ? test_across_centers(t) : enumerate_attributes(&w);
    return goes_on && extent_to_test(t) != w.extent ? test_all_attributes(t) : goes_on;
}
