// Extraction against the trying of all selections, on random e-graphs with cycles and sharing.
#include "egraph/extraction/best.h"
#include "egraph/extraction/components.h"
#include "egraph/extraction/cuts.h"
#include "egraph/extraction/greedy.h"
#include "egraph/extraction/ilp.h"
#include "egraph/extraction/reduce.h"
#include "tests/egraph/small_problem.h"
#include "tests/support/check.h"

typedef void check_fn(const struct extraction_problem *p, const struct selections *all);

typedef void make_fn(struct extraction_problem *ret_problem, struct random *r);

// Gives how many of the problems could be solved.
static int check_problems(make_fn *make, check_fn *check, uint64_t seed, uint64_t count)
{
    struct random r = random_seed(seed);
    struct selections all = {0};
    int n_solvable = 0;
    for (uint64_t i = 0; i < some_of(count); i++) {
        struct extraction_problem p FREED_BY(extraction_free);
        make(&p, &r);
        small_problem_try_all(&p, &all);
        check(&p, &all);
        n_solvable += all.list.count > 0;
    }
    vec_free(&all.list);
    return n_solvable;
}

static int check_random_problems(check_fn *check, uint64_t seed, uint64_t count)
{
    return check_problems(small_problem_make, check, seed, count);
}

static bool is_among(const struct selections *all, double cost, const uint32_t *choice, uint32_t n_classes)
{
    for (size_t i = 0; i < all->list.count; i++) {
        const struct selection *s = &all->list.items[i];
        if (s->cost == cost && !memcmp(s->choice, choice, n_classes * sizeof *choice))
            return true;
    }
    return false;
}

static double least_cost(const struct selections *all)
{
    return all->list.count ? all->list.items[0].cost : INFINITY;
}

static void check_greedy(const struct extraction_problem *p, const struct selections *all)
{
    uint32_t choice[MAX_SMALL_CLASSES];
    double cost;
    assert_int_equal(extraction_greedy_tree(p, choice, &cost), all->list.count > 0);
    assert_true(!all->list.count || is_among(all, cost, choice, p->n_classes));
    assert_int_equal(extraction_greedy_dag(p, choice, &cost), all->list.count > 0);
    assert_true(!all->list.count || is_among(all, cost, choice, p->n_classes));
}

TEST(greedy_gives_valid_selections)
{
    assert_in_range(check_random_problems(check_greedy, 7, 10000), some_of(3000), some_of(9500));
}

// root reads a and b, or c; a and b both read the dear class d, which is so counted twice by trees.
TEST(sharing_counts_once)
{
    struct extraction_problem p FREED_BY(extraction_free) = {0};
    uint32_t root = extraction_add_class(&p), a = extraction_add_class(&p), b = extraction_add_class(&p);
    uint32_t c = extraction_add_class(&p), d = extraction_add_class(&p);
    uint32_t through_d = extraction_add_node(&p, root, 1, 2, (uint32_t[]){a, b});
    uint32_t through_c = extraction_add_node(&p, root, 1, 1, &c);
    extraction_add_node(&p, a, 1, 1, &d);
    extraction_add_node(&p, b, 1, 1, &d);
    extraction_add_node(&p, c, 14, 0, NULL);
    extraction_add_node(&p, d, 10, 0, NULL);
    extraction_add_root(&p, root);
    extraction_finish(&p);
    uint32_t choice[5];
    double cost;
    assert_true(extraction_greedy_tree(&p, choice, &cost));
    assert_int_equal(choice[root], through_c);
    assert_true(cost == 15);
    assert_true(extraction_greedy_dag(&p, choice, &cost));
    assert_int_equal(choice[root], through_d);
    assert_int_equal(choice[c], EXTRACTION_NONE);
    assert_true(cost == 13);
}

static void check_reduction(const struct extraction_problem *p, const struct selections *all)
{
    struct reduction r;
    struct reduction_limits limits = {0};
    uint32_t choice[MAX_SMALL_CLASSES], reduced[MAX_SMALL_CLASSES];
    double cost;
    bool is_possible = reduction_make(p, &limits, &r);
    assert_int_equal(is_possible, all->list.count > 0);
    if (!is_possible)
        return;
    assert_true(extraction_greedy_dag(&r.problem, reduced, &cost));
    reduction_lift(&r, reduced, choice);
    assert_true(extraction_settle(p, choice, &cost));
    assert_true(is_among(all, cost, choice, p->n_classes));
    reduction_free(&r);
}

TEST(reductions_keep_what_can_be_built)
{
    check_random_problems(check_reduction, 8, 10000);
}

// The optimum of the reduced problem, with what was paid in advance, is that of the original.
static void check_reduced_optimum(const struct extraction_problem *p, const struct selections *all)
{
    struct reduction r;
    struct reduction_limits limits = {0};
    struct selections of_reduced = {0};
    if (!reduction_make(p, &limits, &r))
        return;
    small_problem_try_all(&r.problem, &of_reduced);
    assert_true(least_cost(&of_reduced) + r.fixed_cost == least_cost(all));
    vec_free(&of_reduced.list);
    reduction_free(&r);
}

TEST(reductions_keep_the_optimum)
{
    check_random_problems(check_reduced_optimum, 9, 10000);
    check_problems(small_problem_make_merges, check_reduced_optimum, 17, 300);
}

// No selection that has node n costs less than the bound and the rest of n.
static void check_rests(const struct extraction_problem *p, const struct selections *all,
                        const struct whole_costs *rests, double bound)
{
    for (size_t i = 0; i < all->list.count; i++)
        for (uint32_t c = 0; c < p->n_classes; c++) {
            uint32_t node = all->list.items[i].choice[c];
            if (node != EXTRACTION_NONE)
                assert_true(bound + rests->cost[node] <= all->list.items[i].cost * rests->scale);
        }
}

static void check_cuts(const struct extraction_problem *p, const struct selections *all)
{
    struct whole_costs rests FREED_BY(whole_costs_free);
    whole_costs_init(&rests, p);
    double bound = cuts_bound(p, rests.cost, INFINITY);
    assert_true(bound <= least_cost(all) * rests.scale);
    assert_int_equal(isfinite(bound), all->list.count > 0);
    check_rests(p, all, &rests, bound);
}

TEST(cuts_bound_every_selection)
{
    check_random_problems(check_cuts, 10, 10000);
    check_problems(small_problem_make_merges, check_cuts, 18, 300);
}

static void check_best(const struct extraction_problem *p, const struct selections *all)
{
    uint32_t choice[MAX_SMALL_CLASSES];
    double cost;
    struct extraction_answer answer;
    assert_int_equal(extraction_find_cheapest(p, &extraction_standard_budget, 1, NULL, choice, &cost, &answer),
                     all->list.count > 0);
    if (!all->list.count)
        return;
    assert_true(answer.cost == least_cost(all));
    assert_true(is_among(all, answer.cost, choice, p->n_classes));
    assert_true(answer.bound <= answer.cost);
    assert_int_equal(answer.end, EXTRACTION_PROVED);
}

TEST(branch_and_bound_finds_the_optimum)
{
    check_random_problems(check_best, 11, 10000);
    check_problems(small_problem_make_merges, check_best, 16, 1000);
}

enum { K = 5 };

static void check_cheapest(const struct extraction_problem *p, const struct selections *all)
{
    uint32_t choices[K * MAX_SMALL_CLASSES];
    double costs[K];
    struct extraction_answer answer = {0};
    uint32_t count = extraction_find_cheapest(p, &extraction_standard_budget, K, NULL, choices, costs, &answer);
    assert_int_equal(count, all->list.count < K ? all->list.count : K);
    assert_int_equal(answer.end, EXTRACTION_PROVED);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(costs[i] == all->list.items[i].cost);
        assert_true(is_among(all, costs[i], choices + i * p->n_classes, p->n_classes));
        for (uint32_t k = 0; k < i; k++)
            assert_memory_not_equal(choices + i * p->n_classes, choices + k * p->n_classes,
                                    p->n_classes * sizeof *choices);
    }
}

TEST(the_k_cheapest_are_those_of_trying_all)
{
    check_random_problems(check_cheapest, 15, 3000);
    check_problems(small_problem_make_merges, check_cheapest, 19, 300);
}

static bool is_always_interrupted(void *context)
{
    return true;
}

// With nothing to be spent, what it began with is what it gives.
static void check_started(const struct extraction_problem *p, const struct selections *all)
{
    struct extraction_budget budget = {0};
    uint32_t start[MAX_SMALL_CLASSES], choices[K * MAX_SMALL_CLASSES];
    double costs[K];
    struct extraction_answer answer;
    if (!all->list.count)
        return;
    memcpy(start, all->list.items[0].choice, sizeof start);
    assert_true(extraction_find_cheapest(p, &budget, K, start, choices, costs, &answer) > 0);
    assert_true(costs[0] == least_cost(all));
    assert_true(is_among(all, costs[0], choices, p->n_classes));
}

TEST(a_search_never_loses_what_it_began_with)
{
    check_random_problems(check_started, 22, 3000);
    check_problems(small_problem_make_merges, check_started, 23, 300);
}

// An interrupted search still has what greedy extraction finds, and claims nothing.
static void check_interrupted(const struct extraction_problem *p, const struct selections *all)
{
    struct extraction_budget budget = extraction_standard_budget;
    uint32_t choice[MAX_SMALL_CLASSES];
    double cost;
    struct extraction_answer answer;
    budget.is_interrupted = is_always_interrupted;
    assert_int_equal(extraction_find_cheapest(p, &budget, 1, NULL, choice, &cost, &answer), all->list.count > 0);
    if (!all->list.count)
        return;
    assert_true(is_among(all, answer.cost, choice, p->n_classes));
    assert_true(answer.bound <= least_cost(all));
    assert_true(answer.end == EXTRACTION_INTERRUPTED || answer.cost == least_cost(all));
    assert_true(answer.branches == 0);
}

TEST(an_interrupted_search_has_a_selection)
{
    check_random_problems(check_interrupted, 21, 1000);
}

static void check_program(const struct extraction_problem *p, const struct selections *all, enum ilp_form form)
{
    struct ilp_question question = {.form = form};
    uint32_t choice[MAX_SMALL_CLASSES];
    double bound, cost;
    enum ilp_status status = ilp_solve(p, &question, choice, &bound);
    assert_int_equal(status, all->list.count ? ILP_OPTIMAL : ILP_INFEASIBLE);
    if (!all->list.count)
        return;
    assert_true(extraction_settle(p, choice, &cost));
    assert_true(is_among(all, cost, choice, p->n_classes));
    assert_true(cost == least_cost(all));
    assert_true(bound <= cost + 1e-6);
}

static void check_ordered_program(const struct extraction_problem *p, const struct selections *all)
{
    check_program(p, all, ILP_ORDERED);
}

static void check_programs_without_order(const struct extraction_problem *p, const struct selections *all)
{
    if (components_largest(p) == 1)
        check_program(p, all, ILP_UNORDERED);
}

// Costs may be microseconds in seconds: the solver must not take their differences for rounding.
static void check_program_of_small_costs(const struct extraction_problem *p, const struct selections *all)
{
    enum { SMALLER = 23 };
    struct ilp_question question = {.form = ILP_ORDERED};
    struct extraction_problem small = *p;
    uint32_t choice[MAX_SMALL_CLASSES];
    double bound, cost;
    small.nodes.items = mem_new_array(struct extraction_node, p->nodes.count);
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        small.nodes.items[n] = p->nodes.items[n];
        small.nodes.items[n].cost = ldexp(p->nodes.items[n].cost, -SMALLER);
    }
    enum ilp_status status = ilp_solve(&small, &question, choice, &bound);
    mem_free_array(small.nodes.items, p->nodes.count);
    assert_int_equal(status, all->list.count ? ILP_OPTIMAL : ILP_INFEASIBLE);
    if (!all->list.count)
        return;
    assert_true(extraction_settle(p, choice, &cost));
    assert_true(cost == least_cost(all));
    assert_true(bound <= ldexp(cost + 1e-6, -SMALLER));
}

TEST(programs_find_the_optimum)
{
    if (!ilp_is_available())
        skip();
    check_random_problems(check_ordered_program, 13, 1500);
    check_problems(small_problem_make_merges, check_ordered_program, 21, 50);
    check_random_problems(check_programs_without_order, 14, 3000);
    check_random_problems(check_program_of_small_costs, 25, 300);
}
