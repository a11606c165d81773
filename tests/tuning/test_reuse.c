// Arborescences and Steiner trees beside all there are; reuse conditions, ranges and rounds by hand; and reuse beside
// the whole space, where what is good follows the paper's relation.
#include "tests/support/check.h"
#include "tuning/reuse/reuse_plan.h"
#include "tuning/reuse/steiner_tree.h"

#define NODES 6
#define ARCS 20

// --- trees -----------------------------------------------------------------------------------------------------------

static size_t make_arcs(struct arc arcs[ARCS], int n, struct random *r)
{
    size_t count = 1 + random_below(r, ARCS);
    for (size_t i = 0; i < count; i++)
        arcs[i] = (struct arc){(int)random_below(r, (uint64_t)n), (int)random_below(r, (uint64_t)n),
                               (double)random_below(r, 20)};
    return count;
}

// Every node that has an arc is reached from the root.
static bool is_tree(int n, int root, const struct arc *arcs, const int *into)
{
    for (int v = 0; v < n; v++) {
        int u = v, steps = 0;
        if (v != root && into[v] == NO_ARC)
            continue;
        for (; u != root && steps <= n && into[u] != NO_ARC; steps++)
            u = arcs[into[u]].from;
        if (u != root)
            return false;
    }
    return into[root] == NO_ARC;
}

static double arcs_cost(const struct arc *arcs, const int *into, int n)
{
    return SUM_ALL(double, int, v, n, into[v] == NO_ARC ? 0 : arcs[into[v]].cost);
}

// The least cost of all choices of arcs for the nodes of `wanted` (a bit each) alone.
static double least_of_all(int n, int root, const struct arc *arcs, size_t n_arcs, unsigned wanted, int v, int *into)
{
    if (v == n)
        return is_tree(n, root, arcs, into) ? arcs_cost(arcs, into, n) : INFINITY;
    double least = INFINITY;
    into[v] = NO_ARC;
    if (v == root || !(wanted >> v & 1))
        return least_of_all(n, root, arcs, n_arcs, wanted, v + 1, into);
    for (size_t i = 0; i < n_arcs; i++)
        if (arcs[i].to == v && (wanted >> arcs[i].from & 1)) {
            into[v] = (int)i;
            least = fmin(least, least_of_all(n, root, arcs, n_arcs, wanted, v + 1, into));
        }
    return least;
}

TEST(arborescences_are_the_cheapest_of_all)
{
    struct random r = random_seed(1);
    size_t n_found = 0;
    for (int round = 0; round < 2000; round++) {
        struct arc arcs[ARCS];
        int n = 1 + (int)random_below(&r, NODES), root = (int)random_below(&r, (uint64_t)n), into[NODES], tried[NODES];
        size_t n_arcs = make_arcs(arcs, n, &r);
        double least = least_of_all(n, root, arcs, n_arcs, (1u << n) - 1, 0, tried);
        bool is_found = arborescence_find(n, root, arcs, n_arcs, into);
        assert_int_equal(is_found, isfinite(least));
        assert_true(!is_found || (is_tree(n, root, arcs, into) && fabs(arcs_cost(arcs, into, n) - least) < 1e-9));
        n_found += is_found && n > 3;
    }
    assert_true(n_found > 100);
}

TEST(steiner_trees_reach_terminals_at_nearly_least_cost)
{
    struct random r = random_seed(2);
    double sum = 0, least_sum = 0;
    for (int round = 0; round < 1500; round++) {
        struct arc arcs[ARCS];
        int n = 2 + (int)random_below(&r, NODES - 1), root = (int)random_below(&r, (uint64_t)n), into[NODES];
        int tried[NODES], n_terminals = 0;
        size_t n_arcs = make_arcs(arcs, n, &r);
        bool is_terminal[NODES];
        unsigned terminals = 1u << root;
        for (int v = 0; v < n; v++) {
            is_terminal[v] = v != root && random_below(&r, 2);
            n_terminals += is_terminal[v];
            terminals |= (unsigned)is_terminal[v] << v;
        }
        double least = INFINITY;
        for (unsigned wanted = 0; wanted < 1u << n; wanted++)
            if ((wanted & terminals) == terminals)
                least = fmin(least, least_of_all(n, root, arcs, n_arcs, wanted, 0, tried));
        bool is_found = steiner_tree_find(n, root, is_terminal, arcs, n_arcs, into);
        assert_int_equal(is_found, isfinite(least));
        if (!is_found)
            continue;
        double cost = arcs_cost(arcs, into, n);
        for (int v = 0; v < n; v++)
            assert_true(!is_terminal[v] || into[v] != NO_ARC);
        assert_true(is_tree(n, root, arcs, into) && cost <= least * (n_terminals ? n_terminals : 1) + 1e-9);
        sum += cost;
        least_sum += least;
    }
    assert_true(sum <= 1.05 * least_sum);
}

// --- conditions and ranges -------------------------------------------------------------------------------------------

static const struct reuse_loops of_512 = {7, 4, {1, 128, 28, 28, 512, 1, 1}},
                                of_256 = {7, 4, {1, 128, 28, 28, 256, 1, 1}}, wide = {7, 4, {1, 64, 28, 28, 64, 1, 1}},
                                deep = {7, 4, {1, 64, 14, 14, 64, 3, 3}};

TEST(steps_reuse_what_dominates_them_or_what_they_dominate)
{
    struct reuse_loops bridge, product = {3, 2, {1, 1, 1}};
    static const int64_t between[] = {1, 64, 14, 14, 64, 1, 1};   // the paper's first choice of a bridge
    assert_true(reuse_is_possible(&of_512, &of_256) && reuse_is_possible(&of_256, &of_512));
    assert_true(reuse_is_possible(&wide, &wide) && reuse_is_possible(&wide, &of_256));
    assert_false(reuse_is_possible(&wide, &deep) || reuse_is_possible(&product, &deep));
    assert_true(reuse_find_bridge(&wide, &deep, &bridge));
    assert_memory_equal(bridge.extents, between, sizeof between);
    assert_true(reuse_is_possible(&wide, &bridge) && reuse_is_possible(&bridge, &deep));
    assert_false(reuse_find_bridge(&of_512, &of_256, &bridge) || reuse_find_bridge(&product, &deep, &bridge));
}

// The paper's third example: B* 56, half the channels, so B is from 28 to 112; T and M from half of those to them.
TEST(ranges_are_those_of_the_example)
{
    static const double blocks[] = {14, 27, 28, 32, 49, 56, 64, 98, 112, 113, 224};
    const struct reuse_schedule best = {0, 56, 56 * 224, 56 * 11264.0, 1, 1};
    struct reuse_schedule all[3 * COUNT_OF(blocks)];
    size_t n = 0;
    for (size_t i = 0; i < COUNT_OF(blocks); i++)
        for (int k = 0; k < 3; k++, n++)   // too few lanes, half of them, too many
            all[n] = (struct reuse_schedule){(int64_t)n, blocks[i], best.t * (k == 0 ? 0.49 : k == 1 ? 0.5 : 1.01),
                                             best.m,     1,         1};
    struct reuse_search *s = reuse_search_new(&of_256, all, n, &of_512, &best);
    int64_t points[COUNT_OF(all)];
    assert_int_equal(reuse_search_propose(s, COUNT_OF(all), points), 7);
    for (int i = 0; i < 7; i++)
        assert_int_equal(points[i], 3 * (2 + i) + 1);
    assert_int_equal(reuse_search_propose(s, COUNT_OF(all), points), 0);   // nobody was told: no best T
    reuse_search_free(s);
}

TEST(the_first_round_is_of_b_and_t_the_second_of_m)
{
    // Two B with two T each, and three M of each pair, of which the middle one reads least; the largest is out of range.
    struct reuse_schedule all[12], best = {0, 8, 64, 800, 1, 1};
    for (int i = 0; i < 12; i++)
        all[i] = (struct reuse_schedule){
            i, i < 6 ? 8 : 16, i / 3 % 2 ? 64 : 128, (double[]){400, 800, 4000}[i % 3], 5 - (i % 3 == 1), 1};
    struct reuse_loops twice = {1, 1, {2}}, once = {1, 1, {1}};
    struct reuse_search *s = reuse_search_new(&twice, all, 12, &once, &best);
    int64_t points[12];
    assert_int_equal(reuse_search_propose(s, 12, points), 4);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(points[i] % 3, 1);
        reuse_search_tell(s, points[i], points[i] == 4 || points[i] == 7 ? 1 : 2);
    }
    for (int i = 0; i < 12; i++)
        assert_int_equal(reuse_search_propose(s, 12, points), 0);   // 800 to 1,600: no other M of these is
    reuse_search_free(s);
    for (int i = 0; i < 12; i++)
        all[i].m = (double[]){900, 800, 4000}[i % 3];
    s = reuse_search_new(&twice, all, 12, &once, &best);
    assert_int_equal(reuse_search_propose(s, 12, points), 4);
    for (int i = 0; i < 4; i++)
        reuse_search_tell(s, points[i], points[i] == 4 || points[i] == 7 ? 1 : 2);
    assert_int_equal(reuse_search_propose(s, 12, points), 2);
    assert_true(points[0] == 3 && points[1] == 6);
    reuse_search_free(s);
    assert_true(fabs(reuse_estimate_trials(&twice, all, 12, &once, &best, 1, 1) - 6) < 1e-9);
}

// --- beside the whole space ------------------------------------------------------------------------------------------

#define SCHEDULES 400

// A step whose least lies at so many blocks of so many lanes: both grow with the step.
static size_t make_step(const struct reuse_loops *l, struct reuse_schedule *ret, double *ret_values, struct random *r)
{
    double size = (double)(l->extents[0] * l->extents[1]), depth = (double)l->extents[2];
    for (int i = 0; i < SCHEDULES; i++) {
        double b = exp2(i % 20 * 0.5), t = exp2(5 + i / 20 * 0.5), noise = 1 + 0.02 * random_unit(r);
        ret[i] = (struct reuse_schedule){i, b, t, b * t, b + t, t};
        ret_values[i] =
            size * depth * noise * (1 + 0.3 * fabs(log2(b / sqrt(size))) + 0.2 * fabs(log2(t / (size / 4))));
    }
    return SCHEDULES;
}

static size_t least_index(const double *values)
{
    size_t best = 0;
    for (size_t i = 1; i < SCHEDULES; i++)
        best = values[i] < values[best] ? i : best;
    return best;
}

TEST(reuse_finds_good_schedules_in_few_trials)
{
    struct random r = random_seed(9);
    double quality = 0, share = 0, ratio = 0;
    for (int round = 0; round < 50; round++) {
        struct reuse_loops a = {3, 2, {16 << random_below(&r, 3), 16 << random_below(&r, 3), 64}};
        struct reuse_loops b = {3, 2, {a.extents[0] / 2, a.extents[1], 64}};
        struct reuse_schedule of_a[SCHEDULES], of_b[SCHEDULES];
        double values_a[SCHEDULES], values_b[SCHEDULES], least = INFINITY;
        make_step(&a, of_a, values_a, &r);
        make_step(&b, of_b, values_b, &r);
        size_t best_b = least_index(values_b), n_trials = 0;
        struct reuse_search *s = reuse_search_new(&a, of_a, SCHEDULES, &b, &of_b[best_b]);
        int64_t points[16];
        for (size_t n; (n = reuse_search_propose(s, 16, points)); n_trials += n)
            for (size_t i = 0; i < n; i++) {
                reuse_search_tell(s, points[i], values_a[points[i]]);
                least = fmin(least, values_a[points[i]]);
            }
        reuse_search_free(s);
        quality += values_a[least_index(values_a)] / least / 50;
        share += (double)n_trials / SCHEDULES / 50;
        ratio += reuse_estimate_trials(&a, of_a, SCHEDULES, &b, &of_b[best_b], 1, 1) / (double)n_trials / 50;
    }
    assert_true(quality > 0.95 && share < 0.1);
    assert_true(ratio > 0.8 && ratio < 1.25);
}

// --- plans -----------------------------------------------------------------------------------------------------------

static struct reuse_node node_of(const struct reuse_loops *l, struct reuse_schedule *schedules, double from_nothing,
                                 bool is_bridge)
{
    struct random r = random_seed(1);
    double ignored[SCHEDULES];
    return (struct reuse_node){"dense", *l, schedules, make_step(l, schedules, ignored, &r), from_nothing, is_bridge};
}

TEST(plans_take_bridges_that_spare_trials)
{
    static const struct reuse_loops flat = {3, 2, {64, 16, 64}}, tall = {3, 2, {16, 64, 64}};
    struct reuse_schedule schedules[3][SCHEDULES];
    struct reuse_bridge bridges[4];
    int parents[3];
    struct reuse_node nodes[3] = {node_of(&flat, schedules[0], 200, false), node_of(&tall, schedules[1], 200, false)};
    reuse_plan_find(nodes, 2, 1, parents);
    assert_true(parents[0] == TUNED_FROM_NOTHING && parents[1] == TUNED_FROM_NOTHING);
    assert_int_equal(reuse_plan_list_bridges(nodes, 2, parents, 4, bridges), 1);
    assert_true(bridges[0].loops.extents[0] == 16 && bridges[0].loops.extents[1] == 16);
    nodes[2] = node_of(&bridges[0].loops, schedules[2], 200, true);
    assert_int_equal(reuse_plan_list_bridges(nodes, 3, parents, 4, bridges), 0);   // it is there
    reuse_plan_find(nodes, 3, 1, parents);
    int searched = parents[0] == TUNED_FROM_NOTHING ? 0 : 1;   // the bridge reuses it, and the other one the bridge
    assert_true(parents[searched] == TUNED_FROM_NOTHING && parents[2] == searched && parents[!searched] == 2);
    for (int i = 0; i < 3; i++)
        nodes[i].from_nothing = 4;
    reuse_plan_find(nodes, 3, 1, parents);
    assert_true(parents[0] == TUNED_FROM_NOTHING && parents[1] == TUNED_FROM_NOTHING && parents[2] == NOT_TUNED);
    nodes[1].family = "lanewise";
    nodes[0].from_nothing = nodes[1].from_nothing = nodes[2].from_nothing = 200;
    reuse_plan_find(nodes, 3, 1, parents);
    assert_true(parents[0] == TUNED_FROM_NOTHING && parents[1] == TUNED_FROM_NOTHING && parents[2] == NOT_TUNED);
    nodes[0].from_nothing = 0;   // what is tuned needs no bridge
    assert_int_equal(reuse_plan_list_bridges(nodes, 2, parents, 4, bridges), 0);
}
