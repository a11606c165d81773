// Saturation as a search: it finds what takes several rules at once, never makes worse what another search has found,
// keeps values, and tells by which rules; wrong rules are refuted when a result rests on them.
#include "core/numbers/random.h"
#include "optimizer/search/saturation/saturation.h"
#include "optimizer/search/translation_validation.h"
#include "tests/search/made_up.h"
#include "tests/support/graph_values.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"
#include <math.h>
#include <stdlib.h>

// How many random graphs: TASO_SATURATION_GRAPHS, or some.
static uint64_t n_graphs(void)
{
    const char *asked = getenv("TASO_SATURATION_GRAPHS");
    return asked ? strtoull(asked, NULL, 10) : 60;
}

static void saturate(struct fixture *f, const struct cost_model *cost, int64_t budget, struct search_result *ret_result)
{
    struct search_options options = search_standard_options;
    struct saturation_options saturation = saturation_standard_options;
    struct validator validator;
    validator_init(&validator);
    options.budget = budget;
    options.alpha = 2;
    search_graph(&f->g, &f->rules, cost, &options, ret_result);
    double before = ret_result->seconds_after;
    saturation.exploration.most_nodes = 3000;
    saturation.exploration.rounds = 5;
    saturation.exploration.k_multi = 2;
    saturation.exploration.threads = 1;
    saturation.validator = &validator;
    saturation_improve(ret_result, &f->g, &f->rules, cost, &saturation);
    assert_true(ret_result->seconds_after <= before);
    assert_true(ret_result->saturation.is_done);
    assert_int_equal(ret_result->saturation.is_better, ret_result->seconds_after < before);
    validator_free(&validator);
}

static void merges_three_products(void **state)
{
    struct fixture f;
    struct search_result result;
    size_t n_products = 0;
    set_up(&f, THREE_PRODUCTS);
    saturate(&f, &made_up_cost, 0, &result);
    for (node_id n = 0; n < result.graph.nodes.count; n++)
        n_products += result.graph.nodes.items[n].op->id == OP_MATMUL;
    assert_int_equal(n_products, 1);
    assert_true(result.steps.count >= 2);
    assert_true(vec_last(&result.steps).seconds_after == result.seconds_after);
    search_result_free(&result);
    tear_down(&f);
}

// Operators at random prices lead wherever rules do.
static double seconds_at_random_prices(void *context, const struct graph *g)
{
    const uint64_t *seed = context;
    double seconds = 0;
    bool *live = mem_new_array(bool, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (live[n] && g->nodes.items[n].op->define)
            seconds += 1 + (double)(random_keyed(*seed, g->nodes.items[n].op->id) % 8);
    mem_free_array(live, g->nodes.count + 1);
    return seconds;
}

static void check_result(const struct fixture *f, const struct search_result *result, uint64_t seed)
{
    struct field_values before, after;
    struct error error = {0};
    struct arena scratch;
    arena_init(&scratch);
    graph_values(&before, &f->g, seed, &scratch);
    graph_values(&after, &result->graph, seed, &scratch);
    if (!graph_check(&result->graph, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    if (!field_values_equal(&before, &after))
        fail_msg("seed %llu: saturation changed values", (unsigned long long)seed);
    assert_true(result->seconds_after == seconds_at_random_prices(&seed, &result->graph));
    assert_true(result->steps.count > 0 || result->seconds_after == result->seconds_before);
    field_values_free(&before);
    field_values_free(&after);
    arena_free(&scratch);
}

static bool improves_random_graph(uint64_t seed, int64_t budget)
{
    struct fixture f;
    struct random random = random_seed(seed);
    struct cost_model cost = {seconds_at_random_prices, &seed, 0, NULL};
    struct search_result result;
    set_up(&f, "(graph)");
    random_graph_fill(&f.g, &f.rules, &random, 8);
    saturate(&f, &cost, budget, &result);
    assert_int_equal(result.refuted.count, 0);
    check_result(&f, &result, seed);
    bool is_better = result.saturation.is_better;
    search_result_free(&result);
    tear_down(&f);
    return is_better;
}

static void keeps_the_values_of_random_graphs(void **state)
{
    size_t n_alone = 0, n_after = 0;
    for (uint64_t seed = 1; seed <= n_graphs(); seed++)
        if (seed % 2)
            n_alone += improves_random_graph(seed, 0);
        else
            n_after += improves_random_graph(seed, 20);
    assert_true(n_alone > n_graphs() / 8);
    assert_true(n_after > 0);
}

static void refutes_planted_rules(void **state)
{
    static const char *const planted[] = {
        "(rule wrong (source (relu ?x)) (target ?x))",
        "(rule wrong (source (ewmul ?x ?y)) (target (ewadd ?x ?y)))",
    };
    for (size_t i = 0; i < COUNT_OF(planted); i++) {
        uint64_t n_refuted = 0;
        for (uint64_t seed = 1; seed <= 15; seed++) {
            struct fixture f;
            struct random random = random_seed(seed);
            struct cost_model cost = {seconds_at_random_prices, &seed, 0, NULL};
            struct search_result result;
            set_up(&f, "(graph)");
            random_graph_fill(&f.g, &f.rules, &random, 8);
            parse_rules(&f.rules, &f.arena, planted[i]);
            saturate(&f, &cost, 0, &result);
            for (size_t k = 0; k < result.refuted.count; k++)
                assert_string_equal(result.refuted.items[k]->name, "wrong");
            n_refuted += result.refuted.count;
            check_result(&f, &result, seed);
            search_result_free(&result);
            tear_down(&f);
        }
        if (n_refuted == 0)
            fail_msg("%s is not refuted", planted[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(merges_three_products),
        TEST(keeps_the_values_of_random_graphs),
        TEST(refutes_planted_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
