// The search over made-up costs: it finds what is there to find, keeps values, and repeats itself exactly.
#include "core/arena.h"
#include "core/error.h"
#include "core/random.h"
#include "core/sexp.h"
#include "core/text.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "optimizer/search/pricing.h"
#include "optimizer/search/queue.h"
#include "optimizer/search/search.h"
#include "tests/support/check.h"
#include "tests/support/graph_values.h"
#include "tests/support/random_graph.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// Every operator that is not known before the graph runs costs its launch and its arithmetic; shape operators less.
static double made_up_seconds(void *context, const struct graph *g)
{
    double seconds = 0;
    struct match_index index;
    struct arena a;
    arena_init(&a);
    match_index_init(&index, g);
    for (node_id n = 0; n < g->nodes.count; n++) {
        struct definition d;
        const struct operator* op = g->nodes.items[n].op;
        if (!index.is_live[n] || index.is_weight[n] || !op->define)
            continue;
        assert_true(graph_define(g, n, &d, &a));
        seconds += (op->id == OP_SPLIT || op->id == OP_RESHAPE ? 1e-7 : 1e-6) + 1e-9 * definition_flops(&d);
        definition_free(&d);
    }
    match_index_free(&index);
    arena_free(&a);
    return seconds;
}

static const struct cost_model made_up_cost = {made_up_seconds, NULL, 0, NULL};

static const struct {
    const char *graph, *best;   // best: the kinds of computing nodes left, in order
} cases[] = {
    // Three products of one input become one.
    {"(graph (let x (input 0) (f32 1 8)) (let a (weight 0) (f32 8 4)) (let b (weight 1) (f32 8 4)) (let c (weight 2) "
     "(f32 8 4))"
     " (let p (matmul x a)) (let q (matmul x b)) (let r (matmul x c)) (output p q r))",
     "concat concat matmul split split"},
    // relu(conv), and two kernels added before the graph runs.
    {"(graph (let x (input 0) (f32 1 4 6 6)) (let a (weight 0) (f32 4 4 3 3)) (let b (weight 1) (f32 4 4 3 3))"
     " (let p (conv :pad 1 1 1 1 x a)) (let q (conv :pad 1 1 1 1 x b)) (let s (ewadd p q)) (let r (relu s)) (output "
     "r))",
     "ewadd conv"},
    // A product that reads the other product cannot be merged with it.
    {"(graph (let x (input 0) (f32 4 4)) (let a (weight 0) (f32 4 4))"
     " (let p (matmul x a)) (let q (matmul x p)) (output q))",
     "matmul matmul"},
    {"(graph (let x (input 0) (f32 4 4)) (let y (transpose :perm 1 0 x)) (let z (transpose :perm 1 0 y)) (let r (relu "
     "z)) (output r))",
     "relu"},
};

struct fixture {
    struct arena arena;
    struct rule_set rules;
    struct graph g;
};

static void set_up(struct fixture *f, const char *text)
{
    struct error error = {0};
    const struct sexp *list;
    arena_init(&f->arena);
    rule_set_init(&f->rules, &f->arena);
    graph_init(&f->g, &f->arena);
    assert_true(rule_set_read(&f->rules, getenv("TASO_RULES"), &error));
    assert_true(sexp_parse(&f->arena, "case", text, strlen(text), &list, &error));
    if (!graph_parse(&list->items[0], "case", &f->g, &error))
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
}

static void tear_down(struct fixture *f)
{
    graph_free(&f->g);
    rule_set_free(&f->rules);
    arena_free(&f->arena);
}

static char *kinds_of_nodes(const struct graph *g, struct text *out)
{
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->define)
            text_printf(out, "%s%s", out->count ? " " : "", g->nodes.items[n].op->name);
    return out->chars;
}

static void finds_the_cheapest_graph(void **state)
{
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct fixture f;
        struct search_result result;
        struct text kinds = {0};
        struct error error = {0};
        set_up(&f, cases[i].graph);
        search_graph(&f.g, &f.rules, &made_up_cost, &search_standard_options, &result);
        assert_true(graph_check(&result.graph, &error));
        assert_string_equal(kinds_of_nodes(&result.graph, &kinds), cases[i].best);
        assert_true(result.seconds_after <= result.seconds_before);
        assert_true(result.steps.count == 0 || vec_last(&result.steps).seconds_after == result.seconds_after);
        text_free(&kinds);
        search_result_free(&result);
        tear_down(&f);
    }
}

static void gives_the_same_graph_again(void **state)
{
    struct text texts[2] = {0};
    for (int round = 0; round < 2; round++) {
        struct fixture f;
        struct search_result result;
        set_up(&f, cases[0].graph);
        search_graph(&f.g, &f.rules, &made_up_cost, &search_standard_options, &result);
        graph_print(&texts[round], &result.graph);
        search_result_free(&result);
        tear_down(&f);
    }
    assert_string_equal(texts[0].chars, texts[1].chars);
    text_free(&texts[0]);
    text_free(&texts[1]);
}

static void keeps_the_original_with_no_budget(void **state)
{
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    options.budget = 0;
    set_up(&f, cases[0].graph);
    search_graph(&f.g, &f.rules, &made_up_cost, &options, &result);
    assert_true(graph_equal(&result.graph, &f.g));
    assert_int_equal(result.steps.count, 0);
    search_result_free(&result);
    tear_down(&f);
}

// Operators at random prices drive the search wherever rules lead, along chains too: values stay.
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

static uint64_t search_random_graph(uint64_t seed)
{
    struct fixture f;
    struct random random = random_seed(seed);
    struct cost_model cost = {seconds_at_random_prices, &seed, 0, NULL};
    struct search_options options = search_standard_options;
    struct search_result result;
    struct field_values before, after;
    struct error error = {0};
    struct arena scratch;
    arena_init(&scratch);
    set_up(&f, "(graph)");
    options.budget = 60;
    options.alpha = 2;
    random_graph_fill(&f.g, &f.rules, &random, 10);
    graph_values(&before, &f.g, seed, &scratch);
    search_graph(&f.g, &f.rules, &cost, &options, &result);
    if (!graph_check(&result.graph, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    graph_values(&after, &result.graph, seed, &scratch);
    if (!field_values_equal(&before, &after))
        fail_msg("seed %llu: the search changed values", (unsigned long long)seed);
    assert_true(result.seconds_after == seconds_at_random_prices(&seed, &result.graph));
    assert_true(result.steps.count > 0 || result.seconds_after == result.seconds_before);
    uint64_t n_steps = result.steps.count;
    field_values_free(&before);
    field_values_free(&after);
    search_result_free(&result);
    tear_down(&f);
    arena_free(&scratch);
    return n_steps;
}

static void keeps_the_values_of_random_graphs(void **state)
{
    uint64_t n_steps = 0;
    for (uint64_t seed = 1; seed <= 60; seed++)
        n_steps += search_random_graph(seed);
    assert_true(n_steps > 60);
}

struct forgetful {
    uint64_t seed;
    bool is_forgetful;   // knows two graphs of three
};

static double seconds_if_known(void *context, const struct graph *g)
{
    struct forgetful *f = context;
    if (f->is_forgetful && graph_key(g) % 3 == 0)
        return NAN;
    return seconds_at_random_prices(&f->seed, g);
}

// Everything that the search tells but the time it took.
static void search_on_threads(uint64_t seed, size_t n_workers, bool is_forgetful, struct text *ret_text)
{
    struct fixture f;
    struct random random = random_seed(seed);
    struct forgetful main = {.seed = seed}, others[4];
    void *workers[4];
    for (size_t i = 0; i < COUNT_OF(others); i++) {
        others[i] = (struct forgetful){seed, is_forgetful};
        workers[i] = &others[i];
    }
    struct cost_model cost = {seconds_if_known, &main, n_workers, workers};
    struct search_options options = search_standard_options;
    struct search_result r;
    set_up(&f, "(graph)");
    options.budget = 40;
    options.alpha = 2;
    random_graph_fill(&f.g, &f.rules, &random, 24);
    search_graph(&f.g, &f.rules, &cost, &options, &r);
    graph_print(ret_text, &r.graph);
    for (size_t i = 0; i < r.steps.count; i++)
        text_printf(ret_text, "%s %.17g\n", r.steps.items[i].rule->name, r.steps.items[i].seconds_after);
    text_printf(ret_text, "%zu %zu %zu %zu %zu\n", (size_t)r.statistics.expanded, (size_t)r.statistics.matches,
                (size_t)r.statistics.queued, (size_t)r.statistics.cyclic, (size_t)r.statistics.remembered);
    search_result_free(&r);
    tear_down(&f);
}

static void threads_change_nothing(void **state)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct text alone = {0}, together = {0};
        search_on_threads(seed, 0, false, &alone);
        for (size_t n = 1; n <= 4; n++) {
            search_on_threads(seed, n, n % 2 == 0, &together);
            assert_string_equal(alone.chars, together.chars);
            text_clear(&together);
        }
        text_free(&alone);
        text_free(&together);
    }
}

// ((x + w) + tanh x) + v, twenty times over: that w + v can be known before the graph runs shows only after a step that
// gains nothing.
static void set_up_blocks(struct fixture *f)
{
    struct text text = {0};
    text_add(&text, "(graph (let x0 (input 0) (f32 8 8))");
    for (int i = 0; i < 20; i++)
        text_printf(
            &text,
            "(let w%d (weight %d) (f32 8 8)) (let v%d (weight %d) (f32 8 8)) (let t%d (tanh x%d))"
            "(let a%d (ewadd x%d w%d)) (let b%d (ewadd a%d t%d)) (let c%d (ewadd b%d v%d)) (let x%d (tanh c%d))",
            i, 2 * i, i, 2 * i + 1, i, i, i, i, i, i, i, i, i, i, i, i + 1, i);
    text_add(&text, "(output x20))");
    set_up(f, text.chars);
    text_free(&text);
}

static void finds_a_chain_once_and_uses_it_everywhere(void **state)
{
    struct fixture f;
    struct search_result result;
    set_up_blocks(&f);
    search_graph(&f.g, &f.rules, &made_up_cost, &search_standard_options, &result);
    assert_true(result.seconds_after < result.seconds_before - 19.9e-6);
    assert_int_equal(result.statistics.adopted, 1);
    search_result_free(&result);
    tear_down(&f);
}

// The whole gains a tenth of what its parts seem to.
static double seconds_gained_in_part(void *context, const struct graph *g)
{
    const size_t *least_nodes = context;
    return g->nodes.count < *least_nodes ? made_up_seconds(NULL, g) : 1 + 0.1 * made_up_seconds(NULL, g);
}

// What was estimated is wrong by as much in each block: they stay together all the same.
static void uses_a_chain_everywhere_that_gains_less_than_estimated(void **state)
{
    struct fixture f;
    struct search_result result;
    size_t least_nodes = 100;
    const struct cost_model cost = {seconds_gained_in_part, &least_nodes, 0, NULL};
    set_up_blocks(&f);
    search_graph(&f.g, &f.rules, &cost, &search_standard_options, &result);
    assert_true(result.seconds_after < result.seconds_before - 1.99e-6);
    assert_int_equal(result.statistics.adopted, 1);
    search_result_free(&result);
    tear_down(&f);
}

// (x l) w1, ..., (x l) w6: each is as good as x (l wi), whose product of weights costs nothing; but x l is gained only
// when all six are led away from it.
static void leads_all_readers_away(void **state)
{
    struct text text = {0};
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    text_add(&text, "(graph (let x (input 0) (f32 8 8)) (let l (weight 0) (f32 8 8)) (let p (matmul x l))");
    for (int i = 1; i <= 6; i++)
        text_printf(&text, "(let w%d (weight %d) (f32 8 8)) (let q%d (matmul p w%d)) (let r%d (tanh q%d))", i, i, i, i,
                    i, i);
    text_add(&text, "(output r1 r2 r3 r4 r5 r6))");
    set_up(&f, text.chars);
    const char *const names[] = {"matmul-share-left", "matmul-strassen"};
    options.disabled = names;
    options.n_disabled = COUNT_OF(names);
    options.budget = 60;
    search_graph(&f.g, &f.rules, &made_up_cost, &options, &result);
    assert_true(result.seconds_after < result.seconds_before - 1e-6);
    text_free(&text);
    search_result_free(&result);
    tear_down(&f);
}

// A part that tanh reads has to be copied out of what it was split from.
static double seconds_with_copies(void *context, const struct graph *g)
{
    double seconds = made_up_seconds(context, g);
    struct match_index index;
    struct arena a;
    arena_init(&a);
    match_index_init(&index, g);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        if (!index.is_live[n] || index.is_weight[n] || node->op->id != OP_TANH)
            continue;
        seconds += graph_producer(g, graph_inputs(g, n)[0])->op->id == OP_SPLIT ? 8.5e-7 : 0;
    }
    match_index_free(&index);
    arena_free(&a);
    return seconds;
}

// As above. When x (l w1) has been made, it may share x with x l, which gains a little; but then x l stays for ever.
static void small_gains_wait_for_large_promises(void **state)
{
    struct text text = {0};
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    struct cost_model cost = {seconds_with_copies, NULL, 0, NULL};
    const char *const names[] = {"matmul-strassen"};
    text_add(&text, "(graph (let x (input 0) (f32 8 8)) (let l (weight 0) (f32 8 8)) (let p (matmul x l))");
    for (int i = 1; i <= 3; i++)
        text_printf(&text, "(let w%d (weight %d) (f32 8 8)) (let q%d (matmul p w%d)) (let r%d (tanh q%d))", i, i, i, i,
                    i, i);
    text_add(&text, "(output r1 r2 r3))");
    set_up(&f, text.chars);
    options.disabled = names;
    options.n_disabled = COUNT_OF(names);
    search_graph(&f.g, &f.rules, &cost, &options, &result);
    assert_true(result.seconds_after < result.seconds_before - 1.9e-6);
    // Stopped while the small gain waits, it is not lost.
    search_result_free(&result);
    options.budget = 4;
    search_graph(&f.g, &f.rules, &cost, &options, &result);
    assert_true(result.seconds_after < result.seconds_before);
    text_free(&text);
    search_result_free(&result);
    tear_down(&f);
}

// With next to no memory allowed the search tries less, and still ends well.
static void keeps_within_its_memory(void **state)
{
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    options.max_memory = 1;
    options.budget = 50;
    set_up(&f, "(graph (let x (input 0) (f32 4 4)) (let y (input 1) (f32 4 4)) (let a (tanh x)) (let b (tanh y))"
               "(let c (ewadd x y)) (let d (ewadd c a)) (let e (ewadd d b)) (let g (ewadd e x)) (output g))");
    search_graph(&f.g, &f.rules, &made_up_cost, &options, &result);
    assert_true(result.statistics.dropped > 0);
    assert_true(result.statistics.expanded > 2);
    search_result_free(&result);
    tear_down(&f);
}

// A sum of eight different inputs: associating them gains nothing, in very many ways.
static void search_a_long_sum(const struct search_options *options, const struct cost_model *cost,
                              struct search_result *ret_result, struct fixture *f)
{
    struct text text = {0};
    text_add(&text, "(graph (let x0 (input 0) (f32 4 4)) (let s0 (tanh x0))");
    for (int i = 1; i < 8; i++)
        text_printf(&text, "(let x%d (input %d) (f32 4 4)) (let s%d (ewadd s%d x%d))", i, i, i, i - 1, i);
    text_add(&text, "(output s7))");
    set_up(f, text.chars);
    search_graph(&f->g, &f->rules, cost, options, ret_result);
    text_free(&text);
}

// Of graphs that have many matches fewer are expanded in vain than patience allows for.
static void loses_patience_by_matches_too(void **state)
{
    for (int64_t patience = 10; patience <= 40; patience *= 2) {
        struct fixture f;
        struct search_result result;
        struct search_options options = search_standard_options;
        options.patience = patience;
        search_a_long_sum(&options, &made_up_cost, &result, &f);
        assert_int_equal(result.ends.items[0], SEARCH_OUT_OF_PATIENCE);
        assert_true(result.statistics.matches >= 4 * (uint64_t)patience);
        assert_true(result.statistics.expanded < (uint64_t)patience);
        search_result_free(&result);
        tear_down(&f);
    }
}

// A sum of seven inputs, each made of twelve: associating has large surroundings.
static void loses_patience_by_work_too(void **state)
{
    struct text text = {0};
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    options.patience = 20;
    text_add(&text, "(graph");
    for (int i = 0; i < 7; i++) {
        for (int j = 0; j < 12; j++)
            text_printf(&text, "(let i%d_%d (input %d) (f32 1 1 1 1 1 2))", i, j, 12 * i + j);
        text_printf(&text, "(let x%d (concat 5", i);
        for (int j = 0; j < 12; j++)
            text_printf(&text, " i%d_%d", i, j);
        text_printf(&text, "))");
        text_printf(&text, i ? "(let s%d (ewadd s%d x%d))" : "(let s0 (tanh x0))", i, i - 1, i);
    }
    text_add(&text, "(output s6))");
    set_up(&f, text.chars);
    search_graph(&f.g, &f.rules, &made_up_cost, &options, &result);
    assert_int_equal(result.ends.items[0], SEARCH_OUT_OF_PATIENCE);
    assert_true(result.statistics.expanded < 20);
    assert_true(result.statistics.matches < 5 * 20);
    text_free(&text);
    search_result_free(&result);
    tear_down(&f);
}

// The work that the budget allows ends the search, and is told as the reason.
static void ends_when_the_work_of_the_budget_is_done(void **state)
{
    for (int64_t per_graph = 10; per_graph <= 40; per_graph *= 2) {
        struct fixture f;
        struct search_result result;
        struct search_options options = search_standard_options;
        options.patience = 0;
        options.work_per_graph = per_graph;
        options.work_per_node = 1000;
        options.usual_nodes = 5;
        search_a_long_sum(&options, &made_up_cost, &result, &f);
        uint64_t most = 1000 * (uint64_t)(per_graph + (int64_t)f.g.nodes.count - 5);
        assert_int_equal(result.ends.items[0], SEARCH_OUT_OF_WORK);
        assert_true(result.statistics.work >= most && result.statistics.work < most + 10000);
        assert_true(result.statistics.expanded < 1000);
        search_result_free(&result);
        tear_down(&f);
    }
}

// What improves is applied, even where all the work was done to find it.
static void applies_what_was_found_when_the_work_is_done(void **state)
{
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    options.work_per_graph = 0;
    options.work_per_node = 1;
    options.usual_nodes = 0;
    set_up(&f, cases[0].graph);
    search_graph(&f.g, &f.rules, &made_up_cost, &options, &result);
    assert_int_equal(result.ends.items[0], SEARCH_OUT_OF_WORK);
    assert_int_equal(result.statistics.expanded, 1);
    assert_true(result.statistics.adopted > 0 && result.seconds_after < result.seconds_before);
    search_result_free(&result);
    tear_down(&f);
}

// Two products are merged, then the third one with them. Where no gain matters, patience is not renewed by the first.
static void patience_is_renewed_by_gains_that_matter(void **state)
{
    for (int matters = 0; matters <= 1; matters++) {
        struct fixture f;
        struct search_result result;
        struct search_options options = search_standard_options;
        options.patience = 1;
        options.renewing_gain = matters ? 0 : 0.99;
        set_up(&f, cases[0].graph);
        search_graph(&f.g, &f.rules, &made_up_cost, &options, &result);
        assert_true(result.statistics.adopted > 0);
        assert_int_equal(result.statistics.adopted > 1, matters);
        search_result_free(&result);
        tear_down(&f);
    }
}

// Lists of words of which one is a beginning of the other, too, and words that differ in one bit.
static void different_words_are_spelled_differently(void **state)
{
    struct spelling lists[600] = {0};
    size_t n = 0;
    for (int bit = 0; bit < 64; bit++)
        for (int k = 0; k < 8; k++) {
            int64_t word = (int64_t)(((uint64_t)1 << bit) - (uint64_t)(k & 1)), sign = k & 2 ? -1 : 0;
            spelling_add(&lists[n], word ^ sign);
            if (k & 4)
                spelling_add(&lists[n], bit);
            assert_int_equal(lists[n++].n_words, k & 4 ? 2 : 1);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            struct key_words a = spelling_key(&lists[i]), b = spelling_key(&lists[j]);
            bool is_same = a.n_bytes == b.n_bytes && memcmp(a.bytes, b.bytes, a.n_bytes) == 0;
            int bit_a = (int)(i / 8), bit_b = (int)(j / 8);
            int64_t word_a = (int64_t)(((uint64_t)1 << bit_a) - (uint64_t)(i & 1)) ^ (i & 2 ? -1 : 0);
            int64_t word_b = (int64_t)(((uint64_t)1 << bit_b) - (uint64_t)(j & 1)) ^ (j & 2 ? -1 : 0);
            bool is_same_list = word_a == word_b && (i & 4) == (j & 4) && (!(i & 4) || bit_a == bit_b);
            assert_int_equal(is_same, is_same_list);
        }
    for (size_t i = 0; i < n; i++)
        spelling_free(&lists[i]);
}

// Counts how often a device is asked.
static double counted_seconds(void *context, const struct graph *g)
{
    ++*(uint64_t *)context;
    return made_up_seconds(NULL, g);
}

// Rewrites that differ may leave the same of their surroundings: what is left is priced once.
static void equal_graphs_are_priced_once(void **state)
{
    struct fixture f;
    struct search_result result;
    uint64_t n_asked = 0;
    const struct cost_model counting = {counted_seconds, &n_asked, 0, NULL};
    struct search_options options = search_standard_options;
    options.patience = 100;
    search_a_long_sum(&options, &counting, &result, &f);
    assert_true(n_asked < result.statistics.priced - result.statistics.remembered);
    search_result_free(&result);
    tear_down(&f);
}

// What a part of the graph may be fused into depends on a path that leads out of it and back in, however long.
static void what_lies_between_is_near(void **state)
{
    struct text text = {0};
    struct fixture f;
    struct match_index index;
    struct scribe scribe;
    text_add(&text,
             "(graph (let x (input 0) (f32 4 4)) (let w (weight 0) (f32 4 4)) (let a (tanh x)) (let p0 (matmul a w))");
    for (int i = 1; i <= 9; i++)
        text_printf(&text, "(let p%d (matmul p%d w))", i, i - 1);
    text_add(&text, "(let y (ewadd a p9)) (output y))");
    set_up(&f, text.chars);
    match_index_init(&index, &f.g);
    scribe_init(&scribe, NULL);
    node_id a = f.g.tensors.items[graph_inputs(&f.g, (node_id)f.g.nodes.count - 1)[0]].producer;
    struct rewrite rewrite = {.g = &f.g, .n_before = f.g.nodes.count, .index = &index, .n_nodes = 1, .nodes = &a};
    scribe_describe(&scribe, &rewrite);
    assert_int_equal(scribe.members.count, 12);
    scribe_free(&scribe);
    match_index_free(&index);
    text_free(&text);
    tear_down(&f);
}

// A device on which rewrites of a part seem to gain, and none of the whole does.
struct deceiver {
    size_t least_nodes;   // of the whole
    int n_whole;          // times that it was asked for that
};

static double deceiving_seconds(void *context, const struct graph *g)
{
    struct deceiver *d = context;
    if (g->nodes.count < d->least_nodes)
        return made_up_seconds(NULL, g);
    d->n_whole++;
    return 1;
}

// Twenty equal rewrites that gain nothing: all together and one alone say so, and the chain that begins with one is
// told. The original is priced, too.
static void asks_no_more_where_the_first_gains_nothing(void **state)
{
    struct text text = {0};
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    struct deceiver deceiver = {.least_nodes = 16};
    const struct cost_model cost = {deceiving_seconds, &deceiver, 0, NULL};
    options.budget = 2;
    text_add(&text, "(graph (let x0 (input 0) (f32 8 4))");
    for (int i = 0; i < 20; i++)
        text_printf(&text,
                    "(let a%d (transpose :perm 1 0 x%d)) (let b%d (transpose :perm 1 0 a%d)) (let x%d (tanh b%d))", i,
                    i, i, i, i + 1, i);
    text_add(&text, "(output x20))");
    set_up(&f, text.chars);
    search_graph(&f.g, &f.rules, &cost, &options, &result);
    assert_int_equal(result.steps.count, 0);
    assert_int_equal(deceiver.n_whole, 3);
    text_free(&text);
    search_result_free(&result);
    tear_down(&f);
}

// In the whole, two transpositions in a row save what three reshapes cost; parts do not show it.
static double seconds_saved_by_transposing(void *context, const struct graph *g)
{
    struct deceiver *d = context;
    double seconds = 1;
    if (g->nodes.count < d->least_nodes)
        return made_up_seconds(NULL, g);
    d->n_whole++;
    for (node_id n = 0; n < g->nodes.count; n++)
        seconds += 1e-6 * ((g->nodes.items[n].op->id == OP_RESHAPE) - 1.5 * (g->nodes.items[n].op->id == OP_TRANSPOSE));
    return seconds;
}

// `to` is an element-wise function of `from`, of so many operators.
static void add_chain(struct text *out, char from, char to, int number, int length)
{
    text_printf(out, "(let %c%d_0 (tanh %c%d))", to, number, from, number);
    for (int i = 1; i < length; i++)
        text_printf(out, "(let %c%d_%d (%s %c%d_%d))", to, number, i, i % 2 ? "sigmoid" : "tanh", to, number, i - 1);
    text_printf(out, "(let %c%d (exp %c%d_%d))", to, number, to, number, length - 1);
}

// Ten rewrites that gain and ten that only seem to, in turns. The original is priced, all rewrites together, one of each
// kind, and then those that gain; the others, which are near enough to be estimated anew, are not believed again.
static void believes_no_part_that_the_whole_refutes(void **state)
{
    struct text text = {0};
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    struct deceiver deceiver = {.least_nodes = 30};
    const struct cost_model cost = {seconds_saved_by_transposing, &deceiver, 0, NULL};
    options.budget = 3;
    text_add(&text, "(graph (let x0 (input 0) (f32 8 4))");
    for (int i = 0; i < 10; i++) {
        const char *shape = i % 2 ? "8 4" : "4 8";
        add_chain(&text, 'x', 'a', i, 4);
        text_printf(&text, "(let s%d (transpose :perm 1 0 a%d)) (let t%d (transpose :perm 1 0 s%d))", i, i, i, i);
        add_chain(&text, 't', 'c', i, 6);
        text_printf(&text, "(let r%d (reshape :shape 32 c%d)) (let x%d (reshape :shape %s r%d))", i, i, i + 1, shape,
                    i);
    }
    text_add(&text, "(output x10))");
    set_up(&f, text.chars);
    search_graph(&f.g, &f.rules, &cost, &options, &result);
    assert_int_equal(result.steps.count, 10);
    assert_int_equal(deceiver.n_whole, 5);
    text_free(&text);
    search_result_free(&result);
    tear_down(&f);
}

static bool moves_axes(const struct node *n)
{
    return n->op->id == OP_TRANSPOSE && n->attributes[0].ints[0] != 0;
}

// Two pairs of transpositions with tanh between them. Without the first pair it costs less, and then the second may go;
// before, that costs a little more.
static double seconds_of_two_pairs(void *context, const struct graph *g)
{
    int n_left = 0;
    bool is_first_left = true;
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        n_left += moves_axes(node);
        if (node->op->id == OP_TANH)
            is_first_left = moves_axes(graph_producer(g, graph_inputs(g, n)[0]));
    }
    return n_left == 4 ? 4 : n_left == 2 && !is_first_left ? 3 : n_left == 0 ? 1 : 4.1;
}

// What gained nothing is priced anew when what is near it has changed and nothing else improves: no chain is needed.
static void prices_anew_what_gained_nothing(void **state)
{
    struct fixture f;
    struct search_result result;
    const struct cost_model cost = {seconds_of_two_pairs, NULL, 0, NULL};
    struct search_options options = search_standard_options;
    options.budget = 3;
    set_up(&f, "(graph (let x (input 0) (f32 8 4)) (let a (transpose :perm 1 0 x)) (let b (transpose :perm 1 0 a))"
               " (let y (tanh b)) (let c (transpose :perm 1 0 y)) (let d (transpose :perm 1 0 c)) (let z (exp d))"
               " (output z))");
    search_graph(&f.g, &f.rules, &cost, &options, &result);
    assert_true(result.seconds_after == 1);
    assert_int_equal(result.statistics.queued, 0);
    assert_int_equal(result.steps.count, 2);
    search_result_free(&result);
    tear_down(&f);
}

// Several threads may find different prices of one description, if a device tells equal graphs apart: the first counts.
static void equal_descriptions_have_one_price(void **state)
{
    struct pricer pricer;
    struct spelling words = {0};
    pricer_init(&pricer, &made_up_cost);
    spelling_add(&words, 1);
    struct description d = {.before = spelling_key(&words)};
    spelling_add(&words, 2);
    d.all = spelling_key(&words);
    d.before.bytes = d.all.bytes;
    struct price first = pricer_note(&pricer, &d, (struct price){5, -1});
    struct price second = pricer_note(&pricer, &d, (struct price){6, -3});
    assert_true(first.before == 5 && first.change == -1);
    assert_true(second.before == 5 && second.change == -1);
    spelling_free(&words);
    pricer_free(&pricer);
}

static void uses_no_disabled_rule(void **state)
{
    const char *const names[] = {"matmul-share-left", "matmul-relu"};
    struct fixture f;
    struct search_result result;
    struct search_options options = search_standard_options;
    options.disabled = names;
    options.n_disabled = COUNT_OF(names);
    set_up(&f, cases[0].graph);
    search_graph(&f.g, &f.rules, &made_up_cost, &options, &result);
    assert_int_equal(result.steps.count, 0);
    search_result_free(&result);
    tear_down(&f);
}

// relu(transpose(transpose x)): the rule that takes both away has a source of two operators.
static void uses_no_rule_that_is_too_large(void **state)
{
    for (size_t most = 0; most <= 2; most++) {
        struct fixture f;
        struct search_result result;
        struct text kinds = {0};
        struct search_options options = search_standard_options;
        options.max_rule_operators = most;
        set_up(&f, cases[3].graph);
        search_graph(&f.g, &f.rules, &made_up_cost, &options, &result);
        assert_string_equal(kinds_of_nodes(&result.graph, &kinds), most == 1 ? "transpose transpose relu" : "relu");
        text_free(&kinds);
        search_result_free(&result);
        tear_down(&f);
    }
}

static void queue_gives_the_cheapest_and_drops_the_costliest(void **state)
{
    struct rule rule = {0};
    struct queue queue = {.limit = 100};
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
    queue_free(&queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(finds_the_cheapest_graph),
        TEST(gives_the_same_graph_again),
        TEST(keeps_the_original_with_no_budget),
        TEST(keeps_the_values_of_random_graphs),
        TEST(threads_change_nothing),
        TEST(finds_a_chain_once_and_uses_it_everywhere),
        TEST(uses_a_chain_everywhere_that_gains_less_than_estimated),
        TEST(leads_all_readers_away),
        TEST(small_gains_wait_for_large_promises),
        TEST(keeps_within_its_memory),
        TEST(loses_patience_by_matches_too),
        TEST(asks_no_more_where_the_first_gains_nothing),
        TEST(believes_no_part_that_the_whole_refutes),
        TEST(what_lies_between_is_near),
        TEST(loses_patience_by_work_too),
        TEST(ends_when_the_work_of_the_budget_is_done),
        TEST(applies_what_was_found_when_the_work_is_done),
        TEST(patience_is_renewed_by_gains_that_matter),
        TEST(different_words_are_spelled_differently),
        TEST(equal_graphs_are_priced_once),
        TEST(prices_anew_what_gained_nothing),
        TEST(equal_descriptions_have_one_price),
        TEST(uses_no_disabled_rule),
        TEST(uses_no_rule_that_is_too_large),
        TEST(queue_gives_the_cheapest_and_drops_the_costliest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
