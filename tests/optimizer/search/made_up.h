// The part that tests of the search share: made-up costs, and a graph with the rules and what a search made of it.
#pragma once
#include "graph/graph_whole.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "substitutions/match_index.h"
#include "tests/support/graph_check.h"
#include "tests/support/graph_values.h"
#include "tests/support/parse_graph.h"
#include "tests/support/parse_rules.h"

// Every operator that is not known before the graph runs costs its launch and its arithmetic; shape operators less.
static inline double made_up_seconds(void *context, const struct graph *g)
{
    double seconds = 0;
    ARENA(a);
    struct match_index index FREED_BY(match_index_free);
    match_index_init(&index, g);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct operator* op = g->nodes.items[n].op;
        if (!index.is_live[n] || index.is_weight[n] || !op->define)
            continue;
        struct definition d FREED_BY(definition_free);
        assert_true(graph_define(g, n, &d, &a));
        seconds += (op->id == OP_SPLIT || op->id == OP_RESHAPE ? 1e-7 : 1e-6) + 1e-9 * definition_flops(&d);
    }
    return seconds;
}

static const struct cost_model made_up_cost = {made_up_seconds, NULL, 0, NULL};

// Operators at random prices drive a search wherever rules lead, along chains too. The context is a seed.
static inline double seconds_at_random_prices(void *context, const struct graph *g)
{
    const uint64_t *seed = context;
    double seconds = 0;
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (live[n] && g->nodes.items[n].op->define)
            seconds += 1 + (double)(random_keyed(*seed, g->nodes.items[n].op->id) % 8);
    return seconds;
}

// Three products of one input, which become one.
#define THREE_PRODUCTS                                                                                                 \
    "x = f32 1 8; a b c = weight f32 8 4; p = matmul x a; q = matmul x b; r = matmul x c; output p q r"

struct fixture {
    struct arena arena;
    struct rule_set rules;
    struct graph g;
    struct search_result result;
};

static inline void set_up(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    read_rules(&f->rules, &f->arena, getenv("TASO_RULES"));
    parse_graph(&f->g, &f->arena, text);
}

// In place of what was searched before.
static inline void search(struct fixture *f, const struct cost_model *cost, const struct search_options *options)
{
    search_result_free(&f->result);
    search_graph(&f->g, &f->rules, cost, options, &f->result);
}

static inline void set_up_and_search(struct fixture *f, const char *text, const struct cost_model *cost,
                                     const struct search_options *options)
{
    set_up(f, text);
    search(f, cost, options);
}

// The result is a graph, of the values and at the price that it should have, prices being random by the same seed.
static inline void require_same_values(const struct fixture *f, uint64_t seed)
{
    const struct search_result *result = &f->result;
    struct field_values before, after;
    struct error error = {0};
    ARENA(scratch);
    graph_values(&before, &f->g, seed, &scratch);
    graph_values(&after, &result->graph, seed, &scratch);
    if (!graph_check(&result->graph, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    if (!field_values_equal(&before, &after))
        fail_msg("seed %llu: the search changed values", (unsigned long long)seed);
    assert_true(result->seconds_after == seconds_at_random_prices(&seed, &result->graph));
    assert_true(result->steps.count > 0 || result->seconds_after == result->seconds_before);
    field_values_free(&before);
    field_values_free(&after);
}

static inline void tear_down(struct fixture *f)
{
    search_result_free(&f->result);
    graph_free(&f->g);
    rule_set_free(&f->rules);
    arena_free(&f->arena);
}

// A fixture that ends with its block, searched; and `options` that are the standard ones but for these:
// `OPTIONS(options.budget = 0);`.
#define SEARCHED(f, ...)                                                                                               \
    struct fixture f FREED_BY(tear_down);                                                                              \
    set_up_and_search(&f, __VA_ARGS__)
#define OPTIONS(...)                                                                                                   \
    struct search_options options = search_standard_options;                                                           \
    (void)(__VA_ARGS__)
