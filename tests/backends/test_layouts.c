// The best layouts are the best: against all of them, on random graphs under random costs; and the solver alone.
#include "backends/costs/graph_cost.h"
#include "backends/costs/step_cost.h"
#include "backends/fake/fake.h"
#include "backends/layouts/layout_tables.h"
#include "backends/planning/plan_memory.h"
#include "core/memory/hash.h"
#include "core/system/clock.h"
#include "tests/backends/random_graphs.h"
#include "tests/support/interruption.h"

// --- whole graphs ----------------------------------------------------------------------------------------------------

#define MOST_ASSIGNMENTS 5000

static struct backend *open_device(uint64_t scatter, double least_share, bool has_parts)
{
    struct fake_device device = {
        .has_layouts = true, .has_parts = has_parts, .scatter = scatter, .least_share = least_share};
    struct backend *fake = fake_backend_open(&device, &(struct error){0});
    assert_non_null(fake);
    return fake;
}

static double count_assignments(const struct plan *plan)
{
    double n = 1;
    for (size_t i = 0; i < plan->choices.count; i++)
        n *= __builtin_popcount(plan->choices.items[i].mask);
    return n;
}

static double seconds_with(struct backend *fake, const struct graph *g, const uint8_t *layouts)
{
    struct estimate estimate;
    assert_true(backend_estimate_with(fake, g, layouts, &estimate, &(struct error){0}));
    return estimate.seconds;
}

static bool next_layouts(const struct plan *plan, uint8_t *layouts)
{
    for (size_t i = 0; i < plan->choices.count; i++) {
        const struct layout_choice *c = &plan->choices.items[i];
        for (int l = layouts[c->tensor] + 1; l < LAYOUT_COUNT; l++)
            if (c->mask & LAYOUT_BIT(l)) {
                layouts[c->tensor] = (uint8_t)l;
                return true;
            }
        layouts[c->tensor] = (uint8_t)__builtin_ctz(c->mask);
    }
    return false;
}

typedef double seconds_fn(struct backend *fake, const struct graph *g, const uint8_t *layouts);

static double least_by_trying_all(struct backend *fake, struct maker *m, const struct plan *plan,
                                  seconds_fn *seconds_of)
{
    uint8_t *layouts = arena_array(&m->arena, uint8_t, m->g.tensors.count + 1);
    double least = INFINITY;
    memset(layouts, LAYOUT_ANY, m->g.tensors.count);
    for (size_t i = 0; i < plan->choices.count; i++)
        layouts[plan->choices.items[i].tensor] = (uint8_t)__builtin_ctz(plan->choices.items[i].mask);
    do {
        double seconds = seconds_of(fake, &m->g, layouts);
        least = seconds < least ? seconds : least;
    } while (next_layouts(plan, layouts));
    return least;
}

static bool is_about(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

static void check_graph(struct backend *fake, struct maker *m, uint64_t seed, size_t *count, size_t *improved)
{
    struct error error = {0};
    uint8_t *layouts;
    struct estimate estimate;
    PLAN(plan, fake, &m->g, NULL, &m->arena);
    double n = count_assignments(&plan);
    if (n > 1 && n <= MOST_ASSIGNMENTS) {
        if (!layouts_find(fake, backend_step_cost, &m->g, NULL, &m->arena, &layouts, &estimate, &error))
            fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
        double found = seconds_with(fake, &m->g, layouts), least = least_by_trying_all(fake, m, &plan, seconds_with);
        if (!is_about(found, least) || !is_about(estimate.seconds, found))
            fail_msg("seed %llu: %.9g s found (tables: %.9g), %.9g is possible", (unsigned long long)seed, found,
                     estimate.seconds, least);
        *improved += layouts != NULL;
        (*count)++;
    }
}

static void look_for_better(bool has_parts)
{
    const char *first = getenv("TASO_TEST_SEED");
    uint64_t from = first ? strtoull(first, NULL, 10) : 1, to = from + (first ? 1 : some_of(3000));
    size_t count = 0, improved = 0;
    for (uint64_t seed = from; seed < to; seed++) {
        DEVICE(fake, open_device(seed, 0, has_parts));
        struct maker m;
        make_graph(&m, seed);
        check_graph(fake, &m, seed, &count, &improved);
        drop_graph(&m);
        (has_parts ? make_concat_graph : make_window_graph)(&m, seed);
        check_graph(fake, &m, seed, &count, &improved);
        drop_graph(&m);
    }
    print_message("%zu graphs, better than standard layouts on %zu\n", count, improved);
    assert_true(first || improved > (to - from) / 60);
}

TEST(nothing_is_better)
{
    look_for_better(false);
}

// Where steps write into the results of concatenations.
TEST(nothing_is_better_with_parts)
{
    look_for_better(true);
}

// --- what was looked at before ---------------------------------------------------------------------------------------

#define MUCH 2       // what was not looked at is taken to cost so many times more: mostly wrong
#define LITTLE 0.7   // so much of it: much is looked at

static double best_seconds(struct backend *fake, struct maker *m)
{
    struct estimate estimate;
    uint8_t *layouts;
    OK(layouts_find(fake, backend_step_cost, &m->g, NULL, &m->arena, &layouts, &estimate, &error));
    return estimate.seconds;
}

// Costs scatter by far more than is taken to be possible for what was not looked at. Even so each graph has one cost,
// for a device that has looked at many others, and at this one, as for a fresh one.
static void check_costs(bool has_parts)
{
    size_t counts[2] = {0};
    DEVICE(used, open_device(1, MUCH, has_parts));
    for (uint64_t seed = 1; seed <= some_of(400); seed++)
        for (int i = 0; i < 2; i++) {
            DEVICE(fresh, open_device(1, MUCH, has_parts));
            struct maker m FREED_BY(drop_graph);
            (i ? make_window_graph : make_graph)(&m, seed);
            double a = best_seconds(used, &m), b = best_seconds(fresh, &m), c = best_seconds(used, &m);
            if (a != b || c != b)
                fail_msg("seed %llu: %.17g s, %.17g s and %.17g s", (unsigned long long)seed, a, b, c);
            counts[i] += b > 0;
        }
    assert_true(counts[0] > some_of(400) / 4 && counts[1] > some_of(400) / 4);
}

// A step that reads more memories than a table has room for.
TEST(costs_of_large_steps_do_not_depend_on_the_past)
{
    DEVICE(used, open_device(1, LITTLE, false));
    for (uint64_t seed = 1; seed < 40; seed++) {
        DEVICE(fresh, open_device(1, LITTLE, false));
        struct maker m FREED_BY(drop_graph);
        make_sum_graph(&m, seed);
        assert_true(best_seconds(used, &m) == best_seconds(fresh, &m));
    }
}

TEST(costs_do_not_depend_on_the_past)
{
    check_costs(false);
    check_costs(true);
}

// The steps measured for a graph, by a device that had looked at many others, is all that one needs that has not. Else
// what a search measures would depend on which of its threads has priced what.
TEST(what_is_measured_does_not_depend_on_the_past)
{
    DEVICE(used, open_device(1, LITTLE, false));
    for (uint64_t seed = 1; seed < 40; seed++) {
        struct layout_memory *past = used->layout_memory;
        struct maker m FREED_BY(drop_graph);
        make_sum_graph(&m, seed);
        double seconds = best_seconds(used, &m);
        used->layout_memory = layout_memory_new();
        used->measuring.only_recalls = true;
        assert_true(best_seconds(used, &m) == seconds);
        layout_memory_free(used->layout_memory);
        used->layout_memory = past;
        used->measuring.only_recalls = false;
    }
}

// --- when the user interrupts ----------------------------------------------------------------------------------------

// A step of three was not measured by then.
static bool price_some(struct backend *b, const struct plan *plan, const struct step *step, struct step_cost *ret_cost,
                       struct error *error)
{
    TEXT(text);
    step_print(&text, plan, step);
    return hash_string(text.chars) % 3 != 0 && backend_step_cost(b, plan, step, ret_cost, error);
}

static double seconds_if_known(struct backend *fake, const struct graph *g, const uint8_t *layouts)
{
    ARENA(arena);
    struct error error = {0};
    double seconds = 0;
    PLAN(plan, fake, g, layouts, &arena);
    for (size_t i = 0; i < plan.steps.count; i++) {
        struct step_cost cost = {0};
        bool is_known = plan.steps.items[i].is_constant || price_some(fake, &plan, &plan.steps.items[i], &cost, &error);
        seconds += is_known ? cost.seconds : INFINITY;
    }
    return seconds;
}

// Is anything better than one layout for all, of what is known?
static bool check_known(struct backend *fake, struct maker *m)
{
    uint8_t *layouts;
    struct estimate estimate;
    PLAN(plan, fake, &m->g, NULL, &m->arena);
    double n = count_assignments(&plan);
    if (n == 1 || n > MOST_ASSIGNMENTS)
        return false;
    assert_true(layouts_find(fake, price_some, &m->g, NULL, &m->arena, &layouts, &estimate, &(struct error){0}));
    double least = least_by_trying_all(fake, m, &plan, seconds_if_known);
    if (isinf(least)) {
        assert_true(isinf(estimate.seconds));
        return false;
    }
    assert_true(is_about(estimate.seconds, least) && is_about(seconds_if_known(fake, &m->g, layouts), least));
    return layouts != NULL;
}

TEST(when_interrupted_the_best_of_what_is_known_is_found)
{
    size_t count = 0;
    interrupt_listen(&interruption);
    for (uint64_t seed = 1; seed <= some_of(400); seed++) {
        DEVICE(fresh, open_device(seed, LITTLE, false));
        struct maker m FREED_BY(drop_graph);
        make_window_graph(&m, seed);
        count += check_known(fresh, &m);
    }
    interrupt_listen(NULL);
    print_message("%zu graphs with other layouts than the standard ones\n", count);
    assert_true(count > some_of(400) / 80);
}

// A price_step_fn: what is asked of a device, and in which order.
static struct {
    const struct plan *first;
    double last;
    size_t n_larger, n_of_others;
} asked;

static bool price_in_turn(struct backend *b, const struct plan *plan, const struct step *step,
                          struct step_cost *ret_cost, struct error *error)
{
    double operations = step_work(plan, step).operations;
    if (b->measuring.ways == WAYS_QUICK) {
        asked.n_larger += operations > asked.last;
        asked.last = operations;
    }
    asked.first = asked.first ? asked.first : plan;
    asked.n_of_others += plan != asked.first && step->origin.copied == NO_TENSOR && !b->measuring.only_recalls;
    return backend_step_cost(b, plan, step, ret_cost, error);
}

static void find_in_time(uint64_t seed, double choices_end, uint8_t **ret_layouts)
{
    DEVICE(fresh, open_device(1, LITTLE, false));
    fresh->measuring.choices_end = choices_end;
    asked.last = INFINITY;
    asked.first = NULL;
    struct maker m FREED_BY(drop_graph);
    make_sum_graph(&m, seed);
    assert_true(layouts_find(fresh, price_in_turn, &m.g, NULL, &m.arena, ret_layouts, NULL, &(struct error){0}));
    assert_true(fresh->measuring.ways == WAYS_ALL);
}

TEST(the_largest_steps_are_priced_first)
{
    uint8_t *layouts;
    for (uint64_t seed = 1; seed < 40; seed++)
        find_in_time(seed, clock_seconds() + 1e6, &layouts);
    assert_true(asked.n_of_others > 0 && asked.n_larger == 0);
}

TEST(standard_layouts_alone_are_priced_when_it_is_late)
{
    uint8_t *layouts;
    asked.n_of_others = 0;
    for (uint64_t seed = 1; seed < 40; seed++)
        find_in_time(seed, 1e-9, &layouts);
    assert_true(asked.n_of_others == 0);
}
