// Explores an equation, tests every instance within the bounds that it gets, and says what comes of it.
#include "verifier/direct_proof/judge.h"

#include "verifier/direct_proof/small_instances.h"
#include "verifier/direct_proof/testing.h"
#include "verifier/instances/ranks.h"

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

void judge_begin(struct judge *j, bool keeps_explored)
{
    j->explored.is_known = false;
    j->keeps_explored = keeps_explored;
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
    if ((is_rule_of_cuts && !test_within_part(t, test_cuts)) || !test_all_attributes(t))
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
