// Explores an equation, gets its bounds, and tests every instance within them.
#include "verifier/direct_proof/judge.h"

#include "core/memory/hash.h"
#include "operators/fused_activation.h"
#include "verifier/bounds/text/axis_products.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/direct_proof/doubts.h"
#include "verifier/direct_proof/small_instances.h"
#include "verifier/instances/ranks.h"
#include "verifier/laws/laws.h"
#include <string.h>

#define PATIENCE 2
void judge_init(struct judge *j)
{
    *j = (struct judge){.step_limit = 100000000,
                        .instance_limit = UINT64_MAX,
                        .work_limit = UINT64_MAX,
                        .patience = PATIENCE,
                        .search_times = 1,
                        .adds_conditions = true,
                        .n_parts = 1};
    typing_init(&j->typing);
    polynomial_pool_init(&j->pool);
    arena_init(&j->scratch);
}

void judge_free(struct judge *j)
{
    typing_free(&j->typing);
    polynomial_pool_free(&j->pool);
    arena_free(&j->scratch);
    kinds_free(&j->kinds);
    learned_forms_free(&j->learned);
}

static uint64_t judge_steps_left(const struct judge *j)
{
    return j->steps < j->step_limit ? j->step_limit - j->steps : 0;
}

void judge_begin(struct judge *j, bool keeps_explored)
{
    j->explored.is_known = false;
    j->keeps_explored = keeps_explored;
}

// --- sizes -----------------------------------------------------------------------------------------------------------

#define ALL_AXES (-1)
// Where spatial axes are apart one of them, `full`, is tested in full, and the others at two sizes and at one at which
// there are instances.
static uint32_t sizes_to_test(const struct bounds *b, int v, int rank, int axis, int full)
{
    bool is_spatial = b->has_other_windows && rank >= 4 && axis >= 2 && b->reason[v][rank][axis] >= BOUND_KERNEL;
    uint32_t of_others = 1u << 1 | 1u << 3 | b->met[v][rank][axis];
    return is_spatial && full != ALL_AXES && axis != full ? of_others : b->sizes[v][rank][axis];
}

// Sizes by what was argued; a type that exploring never met in a well-typed instance is left at the explored size.
static void box_from_bounds(struct box *box, const struct bounds *b, int full)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= box->max_rank; r++)
            for (int a = 0; a < r; a++)
                if (b->sizes[v][r][a])
                    box->sizes[v][r][a] = sizes_to_test(b, v, r, a, full);
}

// --- testing ---------------------------------------------------------------------------------------------------------

struct test {
    struct judge *j;
    const struct equation *equation;
    struct judgement *result;
    bool axes_are_apart;   // what is read on one spatial axis has nothing to do with the others
    struct tried tried;
    uint64_t assignments, all_assignments;   // of the attributes: begun; there are, where there may be many, else 0
    uint64_t work_before;                    // when the first of these began
    uint64_t share, share_end;               // of the work that one assignment may take, if not 0; where it is used up
    bool was_left_early;                     // the assignment, for that
    uint32_t activation;                     // the attribute variable that is one and nothing else; or NO_VARIABLE
    bool is_any_activation;                  // its relu stands for any function
    bool needs_each_activation;              // as the equation is not one of all functions
    bool only_one_sided;                     // instances in which both sides are well-typed were compared already
    bool only_cuts;                          // instances whose inputs have no cuts were compared already
    judge_visit_fn *visit;
    bool (*visit_only)(void *context, struct instance *in);   // nothing is compared
    void *context;
};

// What part of its limits a test has used up.
static double part_used(const struct test *t)
{
    double work = (double)(t->j->pool.work - t->work_before) / (double)t->j->work_limit;
    double steps = (double)t->j->steps / (double)t->j->step_limit;
    return work > steps ? work : steps;
}

// Would the assignments that are left, if they cost what those before did, exceed the limits by far? Later ones cost
// less as a rule, down to a sixth.
#define PART_TO_JUDGE_BY (1.0 / 8)
#define TIMES_THE_LIMITS 6
static bool is_hopeless(const struct test *t)
{
    if (t->all_assignments == 0 || t->share || t->visit || t->visit_only)
        return false;
    double used = part_used(t);
    return used > PART_TO_JUDGE_BY && used / (double)t->assignments * (double)t->all_assignments > TIMES_THE_LIMITS;
}

static bool has_used_its_share(const struct test *t)
{
    return t->share && t->j->pool.work >= t->share_end;
}

static enum comparison compare(struct test *t, struct instance *in, struct difference *ret_difference)
{
    in->any_activation = t->is_any_activation ? t->activation : NO_VARIABLE;
    if (t->only_cuts && !t->equation->pattern->looks_at_split_trees)
        return instance_compare_types(in, ret_difference);
    return instance_compare(in, &t->j->pool, !t->visit && !t->is_any_activation, ret_difference);
}

static bool is_not_asked_for(const struct test *t, const struct instance *in)
{
    return (t->only_one_sided && instance_has_values_on_both_sides(in)) || (t->only_cuts && !instance_has_cuts(in));
}

static bool is_fine(enum comparison c)
{
    return c == COMPARISON_EQUAL || c == COMPARISON_BOTH_ILL_TYPED;
}

static bool exceeds_limits(const struct test *t, enum comparison c)
{
    return c == COMPARISON_TOO_LARGE || (c == COMPARISON_UNDECIDED && t->j->pool.work > t->j->pool.work_limit);
}

static void note_failure(struct test *t, struct instance *in, enum comparison c, const struct difference *difference)
{
    t->result->differs_in_values = c == COMPARISON_OTHER_VALUE;
    t->result->has_cut_inputs = instance_has_cuts(in);
    t->result->failures++;
    t->result->verdict = c == COMPARISON_UNDECIDED ? VERDICT_UNDECIDED : VERDICT_REFUTED;
    text_clear(&t->result->counterexample);
    instance_print_difference(&t->result->counterexample, in, &t->j->pool, difference);
}

static bool test_instance(void *context, struct instance *in)
{
    struct test *t = context;
    struct difference difference;
    if (t->visit_only)
        return instance_has_cuts(in) || t->visit_only(t->context, in);
    if (is_not_asked_for(t, in))
        return true;
    if (t->j->listener && !t->visit && !instance_has_cuts(in))
        t->j->listener(t->j->listening, in);
    enum comparison c = compare(t, in, &difference);
    if (t->is_any_activation && !is_fine(c)) {
        t->needs_each_activation = true;
        return false;
    }
    if (exceeds_limits(t, c)) {
        t->result->was_cut_short = true;
        return false;
    }
    if (c == COMPARISON_UNDECIDED && !t->visit && law_of_equation(t->equation)) {
        t->result->in_numbers++;   // where numbers agree laws rest on their proofs by hand alone
        c = COMPARISON_EQUAL;
    }
    t->result->instances += t->is_any_activation ? ACTIVATION_COUNT : 1;
    t->result->needs_reals = t->result->needs_reals || difference.needs_reals;
    if (t->visit)
        return t->visit(t->context, in, c);
    if (t->result->instances >= t->j->instance_limit || is_hopeless(t))
        t->result->was_cut_short = true;
    if (is_fine(c)) {
        t->was_left_early = has_used_its_share(t);
        return !t->result->was_cut_short && !t->was_left_early;
    }
    note_failure(t, in, c, &difference);
    return c == COMPARISON_UNDECIDED;
}

static bool test_box(struct test *t, const struct box *box, const struct attribute_value *attributes,
                     enum wanted_sides wanted)
{
    struct enumeration e = {.equation = t->equation,
                            .typing = &t->j->typing,
                            .scratch = &t->j->scratch,
                            .box = box,
                            .wanted = wanted,
                            .attributes = attributes,
                            .step_limit = judge_steps_left(t->j),
                            .visit = test_instance,
                            .context = t};
    bool goes_on = enumerate_instances(&e);
    t->j->steps += e.steps;
    t->result->was_cut_short = t->result->was_cut_short || e.was_cut_short;
    return goes_on && !e.was_cut_short;
}

static bool test_both_ways(struct test *t, const struct box *box, const struct attribute_value *attributes)
{
    node_set of_left = enumerate_required_nodes(t->equation, WANTED_LEFT);
    node_set of_right = enumerate_required_nodes(t->equation, WANTED_RIGHT);
    t->only_one_sided = false;
    if (!t->equation->is_strong)
        return test_box(t, box, attributes, WANTED_BOTH);
    if ((of_left & ~of_right) == 0)   // a guard asks for all of the left side
        return test_box(t, box, attributes, WANTED_LEFT);
    if ((of_right & ~of_left) == 0)
        return test_box(t, box, attributes, WANTED_RIGHT);
    if (!test_box(t, box, attributes, WANTED_LEFT))
        return false;
    t->only_one_sided = true;
    return test_box(t, box, attributes, WANTED_RIGHT);
}

// Windows that reach far, and more groups than two, have no instances at small sizes: an assignment may not be passed
// over for that.
static bool explore_for_test(struct test *t, const struct attribute_value *attributes, struct box *box,
                             struct bounds *ret_bounds)
{
    const struct pattern *p = t->equation->pattern;
    bool is_found = !pattern_reshapes_to_variables(p) &&
                    explore_box(t->j, t->equation, box, attributes, judge_steps_left(t->j), ret_bounds);
    if (!is_found) {
        box_add_sizes_of_attributes(box, p, attributes);
        is_found = explore_box(t->j, t->equation, box, attributes, judge_steps_left(t->j), ret_bounds);
    }
    int largest = t->j->fixed_bound ? t->j->fixed_bound : 7;
    for (int size = 3; pattern_has_windows(p) && size <= largest && !is_found; size += 2) {
        box_add_spatial_sizes(box, size);
        is_found = explore_box(t->j, t->equation, box, attributes, judge_steps_left(t->j), ret_bounds);
    }
    return is_found;
}

// Sizes that follow from others up to the bound, as positions are only compared for equality (bounds.md, 2.1, 2.2 and
// 2.4). Axes with windows, kernels, or nothing argued are tested at every size.
static void leave_out_what_follows(struct box *box, const struct bounds *b, int bound)
{
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= box->max_rank; r++)
            for (int a = 0; a < r; a++) {
                uint32_t argued = b->sizes[v][r][a];
                enum bound_reason reason = (enum bound_reason)b->reason[v][r][a];
                bool is_of_labels = reason == BOUND_LABELS ||
                                    (!b->cuts_overlap && (reason == BOUND_SEGMENTS || reason == BOUND_GROUPS));
                if (is_of_labels && (argued & ~SIZES_UP_TO(bound)) == 0)
                    box->sizes[v][r][a] = argued;
            }
}

static bool test_fixed_bound(struct test *t, const struct box *explored, const struct bounds *b,
                             const struct attribute_value *attributes)
{
    struct box box = box_uniform(4, t->j->fixed_bound);
    box.has_split_trees = explored->has_split_trees;
    box_copy_dtypes(&box, explored);
    if (!b->doubt)
        leave_out_what_follows(&box, b, t->j->fixed_bound);
    return test_both_ways(t, &box, attributes);
}

static bool test_sizes(struct test *t, const struct attribute_value *attributes)
{
    struct box box = t->j->explored.box;
    struct bounds bounds;
    bool is_found = explore_for_test(t, attributes, &box, &bounds);
    if (t->j->fixed_bound)
        return test_fixed_bound(t, &box, &bounds, attributes);
    if (!is_found)
        return test_both_ways(t, &box, attributes);
    bounds_merge(&t->result->bounds, &bounds);
    bool are_apart = bounds.has_other_windows && t->axes_are_apart;
    box_from_bounds(&box, &bounds, are_apart ? 2 : ALL_AXES);
    if (!test_both_ways(t, &box, attributes))
        return false;
    if (!are_apart)
        return true;
    box_from_bounds(&box, &bounds, 3);
    return test_both_ways(t, &box, attributes);
}

// The same for all activations, whether relu stands for them or not: parts may find that out differently.
static uint32_t part_of_assignment(const struct test *t, const struct attribute_value *attributes)
{
    uint64_t hash = 0;
    for (uint32_t v = 0; v < t->equation->pattern->n_attribute_variables; v++)
        if (v != t->activation)
            hash = hash_mix(hash, hash_bytes(attributes[v].ints, attributes[v].count * sizeof *attributes[v].ints,
                                             attributes[v].count));
    return (uint32_t)(hash % t->j->n_parts);
}

// Is the assignment another part's, or one that another stands for?
static bool is_passed_over(const struct test *t, const struct attribute_value *attributes)
{
    return (t->is_any_activation && attributes[t->activation].ints[0] != ACTIVATION_RELU) ||
           part_of_assignment(t, attributes) != t->j->part;
}

// One assignment of the attributes: explores small sizes, then tests up to the bounds that these argue for.
static bool test_attributes(void *context, const struct attribute_value *attributes)
{
    struct test *t = context;
    uint64_t before = t->result->instances;
    if (is_passed_over(t, attributes))
        return true;
    t->assignments++;
    t->share_end = t->j->pool.work + t->share;
    t->was_left_early = false;
    t->result->was_cut_short = t->result->was_cut_short || is_hopeless(t);
    typing_trim(&t->j->typing);   // of so many assignments
    bool goes_on = !t->result->was_cut_short && test_sizes(t, attributes);
    tried_note(&t->tried, t->equation, attributes, t->result->instances > before, &t->j->scratch);
    return goes_on || (t->was_left_early && !t->result->was_cut_short);
}

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
                                   .visit = test_attributes,
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
    c->is_found = explore_for_test(c->test, attributes, &box, &bounds);
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
static uint64_t count_assignments(struct attribute_walk w)
{
    uint64_t count = 0;
    w.visit = count_assignment;
    w.context = &count;
    enumerate_attributes(&w);
    return count;
}

// Most of what is false is so at a few attributes, which are tested first, within a part of the limits that they share.
#define PARTS_OF_LIMITS 10
static bool test_within_part(struct test *t, bool (*test)(struct test *t))
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
    explore_for_test(t, attributes, &box, &bounds);
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

static bool test_attributes_everywhere(struct test *t)
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
    return goes_on && extent_to_test(t) != w.extent ? test_attributes_everywhere(t) : goes_on;
}

// Are sizes that one side alone asks to be equal, or filters that it asks groups to divide? Bounds are those of
// instances in which both sides are well-typed, and axes that are only carried along have one size there. Where sizes
// are compared for equality two of them tell, and where groups divide sums of sizes all remainders.
static bool test_one_sided(struct test *t)
{
    struct box box = t->j->explored.box;
    t->only_one_sided = true;
    if (!test_box(t, &box, NULL, WANTED_LEFT) || !test_box(t, &box, NULL, WANTED_RIGHT))
        return false;
    if (!box_add_remainders_of_groups(&box, t->equation))
        return true;
    t->j->steps = 0;
    return test_box(t, &box, NULL, WANTED_LEFT) && test_box(t, &box, NULL, WANTED_RIGHT);
}

// Inputs with cuts. Those of properties have pieces of one and of two positions, so that axes are as long as one
// another, or cut alike, or both, or neither.
#define LARGEST_CUT_AXIS 3
#define MAX_CUT_RANK 3
static bool test_cuts_up_to(struct test *t, int max_rank, int largest_axis)
{
    struct box cut = box_uniform(max_rank, largest_axis);
    box_copy_dtypes(&cut, &t->j->explored.box);
    cut.has_split_trees = true;
    cut.has_more_cuts = t->equation->is_strong;
    t->only_cuts = true;
    bool goes_on = test_both_ways(t, &cut, NULL);
    t->only_cuts = false;
    return goes_on;
}

// What is said of larger ranks alone has no inputs of small ones.
static bool test_cuts(struct test *t)
{
    uint64_t before = t->result->instances;
    int max_rank = t->result->max_rank, largest_axis = t->equation->is_strong ? LARGEST_CUT_AXIS : 2;
    if (!test_cuts_up_to(t, max_rank < MAX_CUT_RANK ? max_rank : MAX_CUT_RANK, largest_axis))
        return false;
    bool is_tested = t->result->instances > before || !t->equation->is_strong || max_rank <= MAX_CUT_RANK;
    return is_tested || test_cuts_up_to(t, max_rank, 2);
}

// Rules that look at cuts are tested with those first: the properties prove them for inputs without any, which must not
// be all that is known when the rest is cut short.
static void test_everywhere(struct test *t)
{
    const struct equation *eq = t->equation;
    bool is_rule_of_cuts = !eq->is_strong && eq->pattern->looks_at_split_trees;
    if ((is_rule_of_cuts && !test_within_part(t, test_cuts)) || !test_attributes_everywhere(t))
        return;
    t->is_any_activation = false;
    if (t->j->part == 0 && eq->is_strong && test_one_sided(t))
        test_cuts(t);
}

static void explore(struct judge *j, const struct equation *eq, int max_rank)
{
    struct explored *ex = &j->explored;
    j->steps = 0;
    if (!ex->is_known)
        kinds_begin(&j->kinds, eq);
    if (!ex->is_known)
        ex->size = explore_smallest_box(j, eq, max_rank, &ex->box, &ex->bounds, &ex->saw_all_kinds);
    ex->is_known = j->keeps_explored && !j->met_limits;
    if (j->listener && j->search_has_ended)
        j->search_has_ended(j->listening);
    j->steps = 0;   // those of the tests are counted by themselves
}

static void test_equation(struct judge *j, const struct equation *eq, struct test *t)
{
    j->met_limits = false;
    j->pool.work_limit = j->work_limit < UINT64_MAX - j->pool.work ? j->pool.work + j->work_limit : UINT64_MAX;
    t->j = j;
    t->equation = eq;
    t->result->max_rank = ranks_to_test(eq);
    explore(j, eq, t->result->max_rank);
    t->result->bounds = j->explored.bounds;
    t->result->saw_all_kinds = j->explored.saw_all_kinds;
    test_everywhere(t);
    t->result->met_limits = j->met_limits || t->result->was_cut_short;
}

// A property that is one of any function in the place of an activation is not tested with each. (A rule is, because of
// who listens.)
static void test_activations(struct judge *j, const struct equation *eq, struct test *t, struct judgement *ret_result)
{
    uint32_t activation = equation_activation_variable(eq);
    *ret_result = (struct judgement){.verdict = VERDICT_PROVED};
    *t = (struct test){.result = ret_result,
                       .activation = activation,
                       .is_any_activation = eq->is_strong && activation != NO_VARIABLE};
    test_equation(j, eq, t);
    if (!t->needs_each_activation)
        return;
    *ret_result = (struct judgement){.verdict = VERDICT_PROVED};
    *t = (struct test){.result = ret_result, .activation = activation};
    test_equation(j, eq, t);
}

// There may be instances elsewhere. What looks at a piece of a piece asks for a tensor that was cut twice, of which
// small instances have none: were they tried, tensors cut once more than that would be needed to refute it, and those
// are nowhere tried.
static const char *why_nothing_is_tried(const struct equation *eq, const struct judgement *result)
{
    if (result->was_cut_short)
        return "no instance was found within the limits";
    return eq->pattern->looks_at_split_trees ? "no instance was found among small tensors that are cut once"
                                             : "never well-typed at the ranks and sizes that are tried";
}

static void look_for_doubts(struct judge *j, const struct equation *eq, const struct tried *tried,
                            struct judgement *result)
{
    result->doubt = find_doubt(j, eq, tried, result);
    if (result->doubt)
        result->verdict = VERDICT_TESTED;
}

static void judge_within_limits(struct judge *j, const struct equation *eq, struct judgement *ret_result)
{
    struct test t;
    typing_trim(&j->typing);
    test_activations(j, eq, &t, ret_result);
    if (ret_result->verdict != VERDICT_PROVED)
        return;
    if (j->explored.size == 0 || ret_result->instances == 0) {
        ret_result->verdict = VERDICT_NOT_COVERED;
        ret_result->doubt = why_nothing_is_tried(eq, ret_result);
        return;
    }
    look_for_doubts(j, eq, &t.tried, ret_result);
}

static bool is_without_instance(const struct judgement *result)
{
    return result->verdict == VERDICT_NOT_COVERED && result->was_cut_short;
}

// Sizes up to the bounds may be so many that the tests get to no instance within the limits. Small ones are known.
static void test_what_was_explored(struct judge *j, const struct equation *eq, struct judgement *ret_result)
{
    struct test t = {.j = j, .equation = eq, .result = ret_result, .activation = NO_VARIABLE};
    j->steps = 0;
    ret_result->was_cut_short = false;   // as the tests before were; it stops them
    ret_result->verdict = VERDICT_PROVED;
    ret_result->doubt = NULL;
    test_box(&t, &j->explored.box, NULL, WANTED_BOTH);
    ret_result->was_cut_short = true;
    if (ret_result->verdict == VERDICT_PROVED)
        look_for_doubts(j, eq, &t.tried, ret_result);
}

void judge_equation(struct judge *j, const struct equation *eq, struct judgement *ret_result)
{
    judge_within_limits(j, eq, ret_result);
    if (!is_without_instance(ret_result) || j->patience == 1)
        return;
    uint64_t usual = j->step_limit;
    judgement_free(ret_result);
    j->step_limit *= (uint64_t)j->patience;
    judge_within_limits(j, eq, ret_result);
    j->step_limit = usual;
    if (is_without_instance(ret_result) && j->explored.size > 0)
        test_what_was_explored(j, eq, ret_result);
}

// --- parts -----------------------------------------------------------------------------------------------------------

#define MOST_PARTS 16
#define ASSIGNMENTS_OF_PART 16
uint32_t judge_count_parts(struct judge *j, const struct equation *eq)
{
    struct attribute_walk w = {
        .equation = eq, .max_rank = ranks_to_test(eq), .extent = DOMAIN_SMALL, .scratch = &j->scratch};
    uint64_t parts = 1 + count_assignments(w) / ASSIGNMENTS_OF_PART;
    return j->fixed_bound == 0 ? 1 : parts < MOST_PARTS ? (uint32_t)parts : MOST_PARTS;
}

void judge_each_instance(struct judge *j, const struct equation *eq, judge_visit_fn *visit, void *context)
{
    struct judgement scratch = {0};
    struct test t = {.result = &scratch, .activation = NO_VARIABLE, .visit = visit, .context = context};
    test_equation(j, eq, &t);
    judgement_free(&scratch);
}

void judge_visit_instances(struct judge *j, const struct equation *eq,
                           bool (*visit)(void *context, struct instance *in), void *context)
{
    struct judgement scratch = {0};
    struct test t = {.result = &scratch, .activation = NO_VARIABLE, .visit_only = visit, .context = context};
    typing_trim(&j->typing);
    test_equation(j, eq, &t);
    judgement_free(&scratch);
}
