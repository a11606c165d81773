// Saturation as a search: it finds what takes several rules at once, never makes worse what another search has found,
// keeps values, and tells by which rules; wrong rules are refuted when a result rests on them.
#include "optimizer/search/saturation/saturation.h"
#include "optimizer/search/translation_validation.h"
#include "tests/optimizer/search/made_up.h"
#include "tests/support/random_graph.h"

// How many random graphs: TASO_SATURATION_GRAPHS, or some.
static uint64_t n_graphs(void)
{
    const char *asked = getenv("TASO_SATURATION_GRAPHS");
    return asked ? strtoull(asked, NULL, 10) : some_of(60);
}

static void saturate(struct fixture *f, const struct cost_model *cost, int64_t budget)
{
    struct saturation_options saturation = saturation_standard_options;
    struct validator validator FREED_BY(validator_free);
    validator_init(&validator);
    OPTIONS(options.budget = budget, options.alpha = 2);
    search(f, cost, &options);
    double before = f->result.seconds_after;
    saturation.exploration.most_nodes = 3000;
    saturation.exploration.rounds = 5;
    saturation.exploration.k_multi = 2;
    saturation.exploration.threads = 1;
    // The right result does not depend on how near to the optimum an extraction comes.
    saturation.extraction.branches = 20;
    saturation.validator = &validator;
    saturation_improve(&f->result, &f->rules, cost, &saturation);
    assert_true(f->result.seconds_after <= before);
    assert_true(f->result.saturation.is_done);
    assert_int_equal(f->result.saturation.is_better, f->result.seconds_after < before);
}

static size_t count_products(const struct graph *g)
{
    return COUNT(node_id, n, g->nodes.count, g->nodes.items[n].op->id == OP_MATMUL);
}

TEST(merges_three_products)
{
    FIXTURE(&f, THREE_PRODUCTS);
    saturate(&f, &made_up_cost, 0);
    assert_int_equal(count_products(&f.result.graph), 1);
    assert_true(f.result.steps.count >= 2);
    assert_true(vec_last(&f.result.steps).seconds_after == f.result.seconds_after);
}

TEST(extracts_no_larger_weights)
{
    const size_t one = 8 * 4 * sizeof(float);
    for (size_t most = 2; most <= 3; most++) {
        struct saturation_options saturation = saturation_standard_options;
        OPTIONS(options.budget = 0);
        saturation.weights.most_bytes = most * one;
        SEARCHED(f, THREE_PRODUCTS, &made_up_cost, &options);
        saturation_improve(&f.result, &f.rules, &made_up_cost, &saturation);
        assert_int_equal(count_products(&f.result.graph), most == 3 ? 1 : 3);
    }
}

static double counted_seconds(void *context, const struct graph *g)
{
    size_t *n_measured = context;
    ++*n_measured;
    return made_up_seconds(NULL, g);
}

// Products of more columns than the original's are not.
static double seconds_if_narrow(void *context, const struct graph *g)
{
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->id == OP_MATMUL && graph_type(g, graph_output_of(g, n, 0))->dim[1] > 4)
            return NAN;
    return made_up_seconds(NULL, g);
}

// Estimates lead to what is cheaper and not known, and one graph of each e-graph is measured.
TEST(measures_little)
{
    size_t n_measured = 0;
    const struct cost_model cost = {counted_seconds, &n_measured, .known_seconds = seconds_if_narrow};
    FIXTURE(&f, THREE_PRODUCTS);
    saturate(&f, &cost, 0);
    assert_int_equal(count_products(&f.result.graph), 1);
    assert_true(f.result.saturation.egraphs > 0);
    assert_true(n_measured <= 1 + f.result.saturation.egraphs);
}

static double counted_if_unknown(void *context, const struct graph *g)
{
    size_t *n_measured = context;
    *n_measured += isnan(seconds_if_narrow(NULL, g));
    return made_up_seconds(NULL, g);
}

// Nothing is measured for what has more e-nodes of unknown cost than may be.
TEST(measures_no_more_than_it_may)
{
    size_t n_measured = 0;
    const struct cost_model cost = {counted_if_unknown, &n_measured, .known_seconds = seconds_if_narrow};
    struct saturation_options saturation = saturation_standard_options;
    OPTIONS(options.budget = 0);
    saturation.most_unknown = 0;
    SEARCHED(f, THREE_PRODUCTS, &cost, &options);
    n_measured = 0;
    saturation_improve(&f.result, &f.rules, &cost, &saturation);
    assert_int_equal(n_measured, 0);
    assert_int_equal(count_products(&f.result.graph), 3);
}

// A pair in each round: one e-graph of one round makes two products of four, and the next one begins with these.
static size_t products_left_of_four(size_t most_egraphs)
{
    struct fixture f FREED_BY(tear_down);
    struct saturation_options saturation = saturation_standard_options;
    OPTIONS(options.budget = 0);
    saturation.exploration.rounds = saturation.exploration.k_multi = 1;
    saturation.most_egraphs = most_egraphs;
    set_up_and_search(&f,
                      "x = f32 1 8; a b c d = weight f32 8 4; p = matmul x a; q = matmul x b; r = matmul x c; "
                      "s = matmul x d; output p q r s",
                      &made_up_cost, &options);
    saturation_improve(&f.result, &f.rules, &made_up_cost, &saturation);
    size_t n_products = count_products(&f.result.graph);
    assert_true(f.result.saturation.egraphs <= most_egraphs);
    return n_products;
}

TEST(begins_anew_with_what_it_found)
{
    assert_int_equal(products_left_of_four(1), 2);
    assert_int_equal(products_left_of_four(20), 1);
}

// The rules stay: reading them takes longer than a small search.
static void make_random_graph(struct fixture *f, uint64_t seed)
{
    struct random random = random_seed(seed);
    graph_free(&f->g);
    graph_init(&f->g, &f->arena);
    random_graph_fill(&f->g, &f->rules, &random, 8);
}

static bool improves_random_graph(struct fixture *f, uint64_t seed, int64_t budget)
{
    struct cost_model cost = {seconds_at_random_prices, &seed, 0, NULL};
    make_random_graph(f, seed);
    saturate(f, &cost, budget);
    assert_int_equal(f->result.refuted.count, 0);
    require_same_values(f, seed);
    return f->result.saturation.is_better;
}

TEST(keeps_the_values_of_random_graphs)
{
    size_t n_alone = 0, n_after = 0;
    FIXTURE(&f, "(graph)");
    for (uint64_t seed = 1; seed <= n_graphs(); seed++)
        if (seed % 2)
            n_alone += improves_random_graph(&f, seed, 0);
        else
            n_after += improves_random_graph(&f, seed, 5);
    assert_true(n_alone > n_graphs() / 8);
    assert_true(n_after > 0 || n_graphs() < 60);   // two of thirty are
}

static const char *const planted[] = {
    "(rule wrong (source (relu ?x)) (target ?x))",
    "(rule wrong (source (ewmul ?x ?y)) (target (ewadd ?x ?y)))",
};

TEST_OF_EACH(refutes_planted_rules, row, planted)
{
    struct fixture f;
    uint64_t n_refuted = 0;
    set_up(&f, "(graph)");
    parse_rules(&f.rules, &f.arena, *row);
    for (uint64_t seed = 1; seed <= 15; seed++) {
        struct cost_model cost = {seconds_at_random_prices, &seed, 0, NULL};
        make_random_graph(&f, seed);
        saturate(&f, &cost, 0);
        for (size_t k = 0; k < f.result.refuted.count; k++)
            assert_string_equal(f.result.refuted.items[k]->name, "wrong");
        n_refuted += f.result.refuted.count;
        require_same_values(&f, seed);
    }
    tear_down(&f);
    if (n_refuted == 0)
        fail_msg("%s is not refuted", *row);
}
