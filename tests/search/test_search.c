// The search over made-up costs: it finds what is there to find, keeps values, and repeats itself exactly.
#include "core/arena.h"
#include "core/error.h"
#include "core/sexp.h"
#include "core/text.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "optimizer/search/queue.h"
#include "optimizer/search/search.h"
#include "tests/support/check.h"
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

static const struct cost_model made_up_cost = {made_up_seconds, NULL};

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
        TEST(queue_gives_the_cheapest_and_drops_the_costliest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
