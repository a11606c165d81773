// Instances at given attributes: small sizes are explored, and every instance up to the bounds that these argue for is
// compared.
#include "verifier/direct_proof/testing.h"

#include "core/memory/hash.h"
#include "operators/fused_activation.h"
#include "verifier/direct_proof/small_instances.h"
#include "verifier/instances/ranks.h"
#include "verifier/laws/laws.h"

static uint64_t steps_left(const struct judge *j)
{
    return j->steps < j->step_limit ? j->step_limit - j->steps : 0;
}

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
    if (t->has_segments && c == COMPARISON_EQUAL && !instance_has_cuts(in) && !t->result->bounds.cuts_overlap)
        bounds_note_folds(&t->result->bounds, in);
    if (t->result->instances >= t->j->instance_limit || is_hopeless(t))
        t->result->was_cut_short = true;
    if (is_fine(c)) {
        t->was_left_early = has_used_its_share(t);
        return !t->result->was_cut_short && !t->was_left_early;
    }
    note_failure(t, in, c, &difference);
    return c == COMPARISON_UNDECIDED;
}

bool test_box(struct test *t, const struct box *box, const struct attribute_value *attributes, enum wanted_sides wanted)
{
    struct enumeration e = {.equation = t->equation,
                            .typing = &t->j->typing,
                            .scratch = &t->j->scratch,
                            .box = box,
                            .wanted = wanted,
                            .attributes = attributes,
                            .step_limit = steps_left(t->j),
                            .visit = test_instance,
                            .context = t};
    bool goes_on = enumerate_instances(&e);
    t->j->steps += e.steps;
    t->result->was_cut_short = t->result->was_cut_short || e.was_cut_short;
    return goes_on && !e.was_cut_short;
}

bool test_both_ways(struct test *t, const struct box *box, const struct attribute_value *attributes)
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
bool test_explore(struct test *t, const struct attribute_value *attributes, struct box *box, struct bounds *ret_bounds)
{
    const struct pattern *p = t->equation->pattern;
    bool is_found = !pattern_reshapes_to_variables(p) &&
                    explore_box(t->j, t->equation, box, attributes, steps_left(t->j), ret_bounds);
    if (!is_found) {
        box_add_sizes_of_attributes(box, p, attributes);
        is_found = explore_box(t->j, t->equation, box, attributes, steps_left(t->j), ret_bounds);
    }
    int largest = t->j->fixed_bound ? t->j->fixed_bound : 7;
    for (int size = 3; pattern_has_windows(p) && size <= largest && !is_found; size += 2) {
        box_add_spatial_sizes(box, size);
        is_found = explore_box(t->j, t->equation, box, attributes, steps_left(t->j), ret_bounds);
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
    bool is_found = test_explore(t, attributes, &box, &bounds);
    if (t->j->fixed_bound)
        return test_fixed_bound(t, &box, &bounds, attributes);
    if (!is_found)
        return test_both_ways(t, &box, attributes);
    bounds_merge(&t->result->bounds, &bounds);
    t->has_segments = bounds_have_segments(&bounds);
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
bool test_assignment(void *context, const struct attribute_value *attributes)
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
