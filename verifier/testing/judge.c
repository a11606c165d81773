// Boxes of small sizes, at each assignment of attributes: those that have the most instances for their size first.
#include "verifier/testing/judge.h"

#include "core/numbers/random.h"
#include "instances/known_ranks.h"
#include "operators/traits.h"
#include "verifier/limits.h"
#include "verifier/testing/shrink.h"

void judge_init(struct judge *j)
{
    *j = (struct judge){.step_limit = RULE_STEP_LIMIT, .instance_limit = RULE_INSTANCE_LIMIT, .adds_conditions = true};
    typing_init(&j->typing);
}

void judge_free(struct judge *j)
{
    typing_free(&j->typing);
    arena_free(&j->scratch);
}

void judgement_free(struct judgement *result)
{
    counterexample_free(&result->counterexample);
}

struct test {
    struct judge *j;
    const struct equation *equation;
    struct judgement *result;
    struct box box;
    enum wanted_sides wanted;   // must be well-typed
    uint64_t steps;
    uint64_t of_attributes, most_of_attributes;   // instances at this assignment, and how many are enough
    bool only_cuts;                               // instances whose inputs have no cuts were compared already
    bool only_one_sided;                          // those in which both sides are well-typed were
    bool is_over, is_covered;
    judge_visit_fn *visit;
    void *context;
};

// --- one instance ----------------------------------------------------------------------------------------------------

static bool is_fine(enum comparison c)
{
    return c == COMPARISON_EQUAL || c == COMPARISON_BOTH_ILL_TYPED;
}

// Values do not depend on cuts where nothing looks at these.
static enum comparison compare(const struct test *t, struct instance *in, struct difference *ret_difference)
{
    bool only_types = t->only_cuts && !t->equation->pattern->looks_at_split_trees;
    return only_types ? instance_compare_types(in, ret_difference) : instance_compare(in, ret_difference);
}

static void note_failure(struct test *t, struct instance *in, struct difference *difference)
{
    instance_shrink(in, difference, t->wanted);
    t->result->verdict = VERDICT_REFUTED;
    counterexample_note(&t->result->counterexample, in, difference);
    t->is_over = true;
}

static void compare_and_note(struct test *t, struct instance *in)
{
    struct difference difference;
    enum comparison c = compare(t, in, &difference);
    if (c == COMPARISON_TOO_LARGE) {
        t->result->was_cut_short = t->is_over = true;
        t->result->instances--;   // nothing was computed
    } else if (t->visit)
        t->is_over = !t->visit(t->context, in, c);
    else if (!is_fine(c))
        note_failure(t, in, &difference);
}

static bool is_not_asked_for(const struct test *t, const struct instance *in)
{
    return (t->only_one_sided && instance_has_values_on_both_sides(in)) || (t->only_cuts && !instance_has_cuts(in));
}

static bool test_instance(void *context, struct instance *in)
{
    struct test *t = context;
    if (is_not_asked_for(t, in))
        return true;
    t->of_attributes++;
    t->result->instances++;
    compare_and_note(t, in);
    if (t->result->instances >= t->j->instance_limit)
        t->result->was_cut_short = t->is_over = true;
    return !t->is_over && t->of_attributes < t->most_of_attributes;
}

// --- boxes -----------------------------------------------------------------------------------------------------------

// A large equation needs many before its first instance is found.
static uint64_t steps_left(const struct test *t)
{
    uint64_t limit = t->result->instances ? t->j->step_limit : TIMES_THE_STEPS * t->j->step_limit;
    return t->steps < limit ? limit - t->steps : 0;
}

static void test_side(struct test *t, const struct attribute_value *attributes, enum wanted_sides wanted)
{
    struct random random = random_seed(1);
    struct enumeration e = {.equation = t->equation,
                            .typing = &t->j->typing,
                            .scratch = &t->j->scratch,
                            .box = &t->box,
                            .wanted = wanted,
                            .attributes = attributes,
                            .step_limit = steps_left(t),
                            .random = &random,
                            .visit = test_instance,
                            .context = t};
    t->wanted = wanted;
    bool is_whole = enumerate_instances(&e) && !e.was_cut_short;
    t->steps += e.steps;
    t->result->was_cut_short = t->result->was_cut_short || !is_whole;
    t->is_over = t->is_over || e.was_cut_short;
}

// Either side of a property may be well-typed alone.
static bool test_attributes(void *context, const struct attribute_value *attributes)
{
    struct test *t = context;
    t->of_attributes = 0;
    typing_trim(&t->j->typing);
    if (!t->equation->is_strong) {
        test_side(t, attributes, WANTED_BOTH);
        return !t->is_over;
    }
    test_side(t, attributes, WANTED_LEFT);
    t->only_one_sided = true;
    t->of_attributes = 0;
    if (!t->is_over)
        test_side(t, attributes, WANTED_RIGHT);
    t->only_one_sided = false;
    return !t->is_over;
}

static bool count_assignment(void *context, const struct attribute_value *attributes)
{
    (void)attributes;
    ++*(uint64_t *)context;
    return true;
}

static void test_box(struct test *t)
{
    uint64_t assignments = 0;
    struct attribute_walk walk = {.equation = t->equation,
                                  .max_rank = t->box.max_rank,
                                  .extent = DOMAIN_SOME,
                                  .scratch = &t->j->scratch,
                                  .visit = count_assignment,
                                  .context = &assignments};
    enumerate_attributes(&walk);
    t->most_of_attributes = t->j->instance_limit / (assignments + 1) + FEWEST_OF_ATTRIBUTES;
    walk.visit = test_attributes;
    walk.context = t;
    t->is_over = false;
    if (assignments)
        enumerate_attributes(&walk);
}

static bool is_done(const struct test *t)
{
    return t->result->verdict == VERDICT_REFUTED || t->result->instances >= t->j->instance_limit ||
           steps_left(t) == 0 || (t->visit && t->is_over);
}

// --- which boxes -----------------------------------------------------------------------------------------------------

static int largest_rank(const struct equation *eq)
{
    struct known_ranks ranks;
    known_ranks_begin(&ranks, eq);
    known_ranks_spread(&ranks, eq);
    int largest = LARGEST(int, USUAL_LARGEST_RANK, term_id, t, eq->pattern->terms.count, known_rank(&ranks, t));
    return largest < WRITTEN_LARGEST_RANK ? largest : WRITTEN_LARGEST_RANK;
}

// Sizes grow until something is well-typed: of real numbers, without cuts; or with one cut of an input, or of integers
// or truth values.
static void test_size(struct test *t, int size)
{
    bool may_need_cuts = t->equation->is_strong && t->equation->pattern->looks_at_split_trees;
    for (int attempt = 0; attempt < 4 && t->result->instances == 0 && !is_done(t); attempt++) {
        if ((attempt & 1) && !may_need_cuts)
            continue;
        t->box = box_to_explore(t->equation, t->result->largest_rank, size);
        t->box.has_split_trees = attempt & 1;
        if (attempt & 2)
            box_try_all_dtypes(&t->box);
        test_box(t);
        bool is_empty = t->result->instances == 0 && size == SMALL_SIZE;
        if (is_empty && box_add_sizes_of_kernels(&t->box, t->equation->pattern))
            test_box(t);
    }
}

static void test_small_sizes(struct test *t)
{
    int size = t->j->largest_size ? t->j->largest_size : SMALL_SIZE;
    for (; size <= LARGEST_SMALL_SIZE && t->result->instances == 0 && !is_done(t); size++) {
        t->result->largest_size = size;
        test_size(t, size);
    }
}

static bool has_windows(const struct pattern *p)
{
    return ANY(size_t, n, p->nodes.count, operator_has_windows(p->nodes.items[n].op));
}

static void test_windows(struct test *t)
{
    if (!has_windows(t->equation->pattern) || is_done(t))
        return;
    box_add_spatial_sizes(&t->box, SMALL_WINDOW_SIZE);
    test_box(t);
}

// Groups divide filters of one side alone.
static void test_groups(struct test *t)
{
    if (t->equation->is_strong && !is_done(t) && box_add_remainders_of_groups(&t->box, t->equation))
        test_box(t);
}

// Inputs of properties that remember concatenations, with pieces of one place and of two; a match of a rule forgets
// what inputs remember.
static void test_cuts(struct test *t)
{
    struct box whole = t->box;
    if (!t->equation->is_strong || is_done(t))
        return;
    t->box = box_uniform(whole.max_rank < SMALL_CUT_RANK ? whole.max_rank : SMALL_CUT_RANK, SMALL_CUT_SIZE);
    box_copy_dtypes(&t->box, &whole);
    t->box.has_split_trees = t->box.has_more_cuts = true;
    t->only_cuts = true;
    test_box(t);
    t->only_cuts = false;
}

static void test_all(struct judge *j, struct test *t)
{
    typing_trim(&j->typing);
    t->j = j;
    t->result->largest_rank = largest_rank(t->equation);
    test_small_sizes(t);
    t->is_covered = t->result->instances > 0;
    test_windows(t);
    test_groups(t);
    test_cuts(t);
}

void judge_equation(struct judge *j, const struct equation *eq, struct judgement *ret_result)
{
    struct test t = {.equation = eq, .result = ret_result};
    *ret_result = (struct judgement){.verdict = VERDICT_AGREES};
    test_all(j, &t);
    // An equation that asks for an input that was cut twice might be refuted by one that was cut more often alone.
    if (!t.is_covered && ret_result->verdict == VERDICT_AGREES)
        ret_result->verdict = VERDICT_NOT_COVERED;
}

void judge_each_instance(struct judge *j, const struct equation *eq, judge_visit_fn *visit, void *context)
{
    struct judgement scratch FREED_BY(judgement_free) = {0};
    struct test t = {.equation = eq, .result = &scratch, .visit = visit, .context = context};
    test_all(j, &t);
}

static bool stop_at_difference(void *context, struct instance *in, enum comparison outcome)
{
    bool *differs = context;
    (void)in;
    *differs = !is_fine(outcome);
    return !*differs;
}

bool judge_finds_difference(struct judge *j, const struct equation *eq)
{
    bool differs = false;
    judge_each_instance(j, eq, stop_at_difference, &differs);
    return differs;
}
