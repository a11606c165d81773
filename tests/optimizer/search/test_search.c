// The search over made-up costs: it finds what is there to find, keeps values, and repeats itself exactly.
#include "optimizer/search/backtracking/queue.h"
#include "optimizer/search/weight_bytes.h"
#include "tests/optimizer/search/made_up.h"
#include "tests/support/random_graph.h"

static const struct {
    const char *graph, *best;   // best: the kinds of computing nodes left, in order
} cases[] = {
    // Three products of one input become one.
    {THREE_PRODUCTS, "concat concat matmul split split"},
    // relu(conv), and two kernels added before the graph runs.
    {"x = f32 1 4 6 6; a b = weight f32 4 4 3 3; p = conv :pad 1 1 1 1 x a; q = conv :pad 1 1 1 1 x b; s = ewadd p q; "
     "r = relu s",
     "ewadd conv"},
    // A product that reads the other product cannot be merged with it.
    {"x = f32 4 4; a = weight f32 4 4; p = matmul x a; q = matmul x p", "matmul matmul"},
    {"x = f32 4 4; y = transpose :perm 1 0 x; z = transpose :perm 1 0 y; r = relu z", "relu"},
};

static char *kinds_of_nodes(const struct graph *g, struct text *out)
{
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->define)
            text_printf(out, "%s%s", out->count ? " " : "", g->nodes.items[n].op->name);
    return out->chars;
}

TEST_OF_EACH(finds_the_cheapest_graph, row, cases)
{
    TEXT(kinds);
    SEARCHED(f, row->graph, &made_up_cost, &search_standard_options);
    assert_true(graph_check(&f.result.graph, &(struct error){0}));
    assert_string_equal(kinds_of_nodes(&f.result.graph, &kinds), row->best);
    assert_true(f.result.seconds_after <= f.result.seconds_before);
    assert_true(f.result.steps.count == 0 || vec_last(&f.result.steps).seconds_after == f.result.seconds_after);
}

TEST(gives_the_same_graph_again)
{
    struct text texts[2] = {0};
    for (int round = 0; round < 2; round++) {
        SEARCHED(f, cases[0].graph, &made_up_cost, &search_standard_options);
        graph_print(&texts[round], &f.result.graph);
    }
    assert_string_equal(texts[0].chars, texts[1].chars);
    text_free(&texts[0]);
    text_free(&texts[1]);
}

TEST(keeps_the_original_with_no_budget)
{
    OPTIONS(options.budget = 0);
    SEARCHED(f, cases[0].graph, &made_up_cost, &options);
    assert_true(graph_equal(&f.result.graph, &f.g));
    assert_int_equal(f.result.steps.count, 0);
}

static size_t search_random_graph(uint64_t seed)
{
    struct random random = random_seed(seed);
    struct cost_model cost = {seconds_at_random_prices, &seed, 0, NULL};
    FIXTURE(&f, "(graph)");
    OPTIONS(options.budget = 60, options.alpha = 2);
    random_graph_fill(&f.g, &f.rules, &random, 10);
    search(&f, &cost, &options);
    require_same_values(&f, seed);
    return f.result.steps.count;
}

TEST(keeps_the_values_of_random_graphs)
{
    uint64_t n_steps = 0;
    for (uint64_t seed = 1; seed <= some_of(60); seed++)
        n_steps += search_random_graph(seed);
    assert_true(n_steps > some_of(60));
}

struct forgetful {
    uint64_t seed;
    bool is_forgetful;        // knows two graphs of three
    VEC(uint64_t) expected;   // graphs that it was told of,
    size_t n_asked, n_told;   // and those that only it knows: that it was asked for, and told of before
};

static double seconds_if_known(void *context, const struct graph *g)
{
    struct forgetful *f = context;
    bool is_hard = graph_key(g) % 3 == 0;
    if (f->is_forgetful && is_hard)
        return NAN;
    f->n_asked += is_hard;
    f->n_told += is_hard && ANY(size_t, i, f->expected.count, f->expected.items[i] == graph_key(g));
    return seconds_at_random_prices(&f->seed, g);
}

static double expect_graph(void *context, const struct graph *g)
{
    vec_push(&((struct forgetful *)context)->expected, graph_key(g));
    return NAN;
}

// Everything that the search tells but the time it took.
static void search_on_threads(uint64_t seed, size_t n_workers, bool is_forgetful, struct forgetful *ret_main,
                              struct text *ret_text)
{
    struct random random = random_seed(seed);
    struct forgetful others[4];
    void *workers[4];
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        others[i] = (struct forgetful){.seed = seed, .is_forgetful = is_forgetful};
        workers[i] = &others[i];
    }
    struct cost_model cost = {seconds_if_known, ret_main, n_workers, workers, .expected_seconds = expect_graph};
    *ret_main = (struct forgetful){.seed = seed};
    FIXTURE(&f, "(graph)");
    OPTIONS(options.budget = 40, options.alpha = 2);
    random_graph_fill(&f.g, &f.rules, &random, 24);
    search(&f, &cost, &options);
    const struct search_statistics *s = &f.result.statistics;
    graph_print(ret_text, &f.result.graph);
    for (size_t i = 0; i < f.result.steps.count; i++)
        text_printf(ret_text, "%s %.17g\n", f.result.steps.items[i].rule->name, f.result.steps.items[i].seconds_after);
    text_printf(ret_text, "%zu %zu %zu %zu %zu\n", (size_t)s->expanded, (size_t)s->matches, (size_t)s->queued,
                (size_t)s->cyclic, (size_t)s->remembered);
}

TEST(threads_change_nothing)
{
    size_t n_asked = 0, n_told = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct text alone = {0}, together = {0};
        struct forgetful main;
        search_on_threads(seed, 0, false, &main, &alone);
        assert_int_equal(main.expected.count, 0);   // all is known as soon as it is asked for
        for (size_t n = 1; n <= 4; n++) {
            search_on_threads(seed, n, n % 2 == 0, &main, &together);
            assert_string_equal(alone.chars, together.chars);
            text_clear(&together);
            n_asked += n % 2 == 0 ? main.n_asked : 0;
            n_told += n % 2 == 0 ? main.n_told : 0;
            vec_free(&main.expected);
        }
        text_free(&alone);
        text_free(&together);
    }
    assert_true(n_asked > 0 && 2 * n_told > n_asked);
}

// ((x + w) + tanh x) + v, twenty times over: that w + v can be known before the graph runs shows only after a step that
// gains nothing.
static void set_up_blocks(struct fixture *f)
{
    TEXT(text);
    text_add(&text, "x1 = f32 8 8; ");
    graph_text_add_blocks(
        &text,
        "w# v# = weight f32 8 8; t# = tanh x#; a# = ewadd x# w#; b# = ewadd a# t#; c# = ewadd b# v#; x@ = tanh c#; ",
        20);
    set_up(f, text.chars);
}

TEST(finds_a_chain_once_and_uses_it_everywhere)
{
    struct fixture f FREED_BY(tear_down);
    set_up_blocks(&f);
    search(&f, &made_up_cost, &search_standard_options);
    assert_true(f.result.seconds_after < f.result.seconds_before - 19.9e-6);
    assert_int_equal(f.result.statistics.adopted, 1);
}

// The whole gains a tenth of what its parts seem to.
static double seconds_gained_in_part(void *context, const struct graph *g)
{
    const size_t *least_nodes = context;
    return g->nodes.count < *least_nodes ? made_up_seconds(NULL, g) : 1 + 0.1 * made_up_seconds(NULL, g);
}

// The estimates are wrong by as much in each block: all stay together all the same.
TEST(uses_a_chain_everywhere_that_gains_less_than_estimated)
{
    struct fixture f FREED_BY(tear_down);
    size_t least_nodes = 100;
    const struct cost_model cost = {seconds_gained_in_part, &least_nodes, 0, NULL};
    set_up_blocks(&f);
    search(&f, &cost, &search_standard_options);
    assert_true(f.result.seconds_after < f.result.seconds_before - 1.99e-6);
    assert_int_equal(f.result.statistics.adopted, 1);
}

static bool leads_away(const struct rule *r, const void *context)
{
    return strcmp(r->name, "matmul-split-7cfd9b8eb4b8") != 0 && strcmp(r->name, "matmul-strassen") != 0;
}

// (x l) w1, ..., (x l) w6: each is as good as x (l wi), whose product of weights costs nothing; but x l is gained only
// when all six are led away from it.
TEST(leads_all_readers_away)
{
    TEXT(text);
    text_add(&text, "x = f32 8 8; l = weight f32 8 8; p = matmul x l; ");
    graph_text_add_blocks(&text, "w# = weight f32 8 8; q# = matmul p w#; r# = tanh q#; ", 6);
    text_add(&text, "output r1 r2 r3 r4 r5 r6");
    FIXTURE(&f, text.chars);
    rule_set_filter(&f.rules, leads_away, NULL);
    OPTIONS(options.budget = 60);
    search(&f, &made_up_cost, &options);
    assert_true(f.result.seconds_after < f.result.seconds_before - 1e-6);
}

static double seconds_with_dear_splits(void *context, const struct graph *g)
{
    double seconds = made_up_seconds(context, g);
    for (node_id n = 0; n < g->nodes.count; n++)
        seconds += g->nodes.items[n].op->id == OP_SPLIT ? 2e-6 : 0;
    return seconds;
}

// Eight layers of four products each, the last of which is what the next layer reads, as in the BERT that TASO measured.
// Between the products that are read by four others there is much to do that leads nowhere.
TEST(leads_all_readers_away_in_every_layer)
{
    TEXT(text);
    TEXT(outputs);
    struct fixture f FREED_BY(tear_down);
    const struct cost_model cost = {seconds_with_dear_splits, NULL, 0, NULL};
    text_add(&text, "p0 = f32 8 8; ");
    for (int i = 0; i < 32; i++) {
        text_printf(&text, "w%d = weight f32 8 8; p%d = matmul p%d w%d; ", i, i + 1, i / 4 * 4, i);
        if (i % 4 == 3)
            continue;
        text_printf(&text, "r%d = tanh p%d; ", i, i + 1);
        text_printf(&outputs, " r%d", i);
    }
    text_printf(&text, "output%s p32", outputs.chars);
    set_up_and_search(&f, text.chars, &cost, &search_standard_options);
    assert_true(f.result.seconds_after < f.result.seconds_before - 6 * 2e-6);
}

static size_t bytes_of(const char *text)
{
    FIXTURE(&f, text);
    return graph_weight_bytes(&f.g);
}

// A weight that running nodes read counts once, and not one that only weights are computed from.
TEST(weights_are_counted_once)
{
    const size_t one = 8 * 4 * sizeof(float);
    assert_int_equal(bytes_of(THREE_PRODUCTS), 3 * one);
    assert_int_equal(bytes_of("x = f32 8 4; a b = weight f32 8 4; s = ewadd a b; p = ewmul x s; q = ewadd p s"), one);
    assert_int_equal(bytes_of("x = f32 8 4; a = weight f32 1 4; b = broadcast :shape 8 4 a; p = ewmul x b"),
                     4 * sizeof(float));
}

// Three products become one with as many weights: not where fewer are allowed.
TEST(keeps_no_graph_of_larger_weights)
{
    const size_t one = 8 * 4 * sizeof(float);
    for (int i = 0; i < 2; i++) {
        TEXT(kinds);
        OPTIONS(options.weights.most_bytes = i == 0 ? 3 * one : 2 * one);
        SEARCHED(f, THREE_PRODUCTS, &made_up_cost, &options);
        assert_string_equal(kinds_of_nodes(&f.result.graph, &kinds),
                            i == 0 ? "concat concat matmul split split" : "matmul matmul matmul");
    }
}

// x + a + b: of halves, a sum of -65504 and -65504 is infinite, and so may be one of unknown numbers.
static const struct {
    double magnitudes[2];
    const char *dtype;
    bool is_added;
} sums[] = {
    {{65504, 65504}, "f16", false}, {{65504, 16}, "f16", false},   {{65504, 15}, "f16", true},
    {{NAN, 1}, "f16", false},       {{65504, 65504}, "f32", true}, {{3e38, 3e38}, "f32", false},
    {{3e38, 3e38}, "bf16", false},  {{NAN, 1}, "f32", true},       {{3e38, 3e38}, "f64", true},
};

TEST_OF_EACH(adds_no_weights_that_overflow, row, sums)
{
    TEXT(text);
    text_printf(&text, "x = %s 4 4; a = weight %s 4 4; b = weight %s 4 4; p = ewadd x a; q = ewadd p b", row->dtype,
                row->dtype, row->dtype);
    OPTIONS(options.weights.magnitudes = row->magnitudes);
    SEARCHED(f, text.chars, &made_up_cost, &options);
    assert_int_equal(f.result.seconds_after < f.result.seconds_before, row->is_added);
}

TEST(queue_gives_the_cheapest_and_drops_the_costliest)
{
    struct rule rule = {0};
    struct queue queue FREED_BY(queue_free) = {.limit = 100};
    for (int i = 0; i < 150; i++)
        queue_push(&queue, &(struct candidate){.seconds = (i * 37) % 150, .match.rule = &rule});
    assert_true(queue.dropped > 0);
    double last = -1;
    size_t n = 0;
    for (struct candidate *c; (c = queue_pop(&queue)); n++) {
        assert_true(c->seconds > last);
        last = c->seconds;
        if (n < 40)
            assert_true(c->seconds <= 2 * (double)n + 1);
        candidate_free(c);
    }
    assert_int_equal(n + queue.dropped, 150);
    queue_push(&queue, &(struct candidate){.match.rule = &rule});
    queue_drop_costlier_half(&queue);
    assert_int_equal(queue.heap.count, 1);
}
