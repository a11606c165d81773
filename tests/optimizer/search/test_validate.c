// Single entries are those of the whole evaluation; right rules pass at any shapes, wrong ones are refuted and then not
// used.
#include "graph/graph_whole.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "optimizer/search/translation_validation.h"
#include "substitutions/match_index.h"
#include "tests/support/graph_values.h"
#include "tests/support/parse_graph.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"

// --- single entries --------------------------------------------------------------------------------------------------

static void compare_entries(const struct graph *g, node_id n, const struct graph_entries *e, struct arena *a)
{
    struct definition d FREED_BY(definition_free);
    const uint64_t **inputs = arena_array(a, const uint64_t *, g->nodes.items[n].n_inputs + 1);
    assert_true(graph_define(g, n, &d, a));
    for (int i = 0; i < d.n_inputs; i++)
        inputs[i] = e->field[graph_inputs(g, n)[i]];
    for (int i = 0; i < d.n_outputs; i++) {
        int64_t place = find_other_entry(&d, i, inputs, e->field[graph_output_of(g, n, (uint32_t)i)]);
        if (place >= 0)
            fail_msg("%s: entry %lld of output %d", g->nodes.items[n].op->name, (long long)place, i);
    }
}

TEST(single_entries_are_those_of_the_whole)
{
    ARENA(a);
    RULES_OF(rules, &a, getenv("TASO_RULES"));
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct random random = random_seed(seed);
        ARENA_MARK(mark, &a);
        struct graph g FREED_BY(graph_free);
        graph_init(&g, &a);
        random_graph_fill(&g, &rules, &random, 12);
        struct graph_entries e = graph_entries_of(&g, seed, ENTRIES_AND_INTEGERS, &a);
        for (node_id n = 0; n < g.nodes.count; n++)
            if (g.nodes.items[n].op->define)
                compare_entries(&g, n, &e, &a);
    }
}

// --- verdicts --------------------------------------------------------------------------------------------------------

struct judging {
    struct validator validator;
    const struct graph *g;
};

static bool judge(void *context, const struct match *m)
{
    struct judging *j = context;
    if (validator_judge(&j->validator, m, j->g) == VERDICT_DIFFERENT)
        fail_msg("%s was refuted", m->rule->name);
    return true;
}

TEST(right_rules_pass)
{
    ARENA(scratch);
    ARENA(a);
    uint64_t n_checked = 0;
    RULES_OF(rules, &a, getenv("TASO_RULES"));
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct random random = random_seed(seed);
        struct match_index index FREED_BY(match_index_free);
        struct graph g FREED_BY(graph_free);
        struct judging j = {.g = &g};
        validator_init(&j.validator);
        graph_init(&g, &a);
        random_graph_fill(&g, &rules, &random, 10);
        match_index_init(&index, &g);
        for (size_t i = 0; i < rules.rules.count; i++)
            rule_match(rules.rules.items[i], &index, NO_NODE, &scratch, judge, &j);
        n_checked += j.validator.checked;
        validator_free(&j.validator);
    }
    assert_true(n_checked > 500);
}

// The right nodes in wrong places: the rule says nothing of them.
static bool judge_turned(void *context, const struct match *m)
{
    struct judging *j = context;
    struct match turned = *m;
    turned.nodes[0] = m->nodes[1];
    turned.nodes[1] = m->nodes[0];
    assert_int_equal(validator_judge(&j->validator, m, j->g), VERDICT_EQUAL);
    assert_int_equal(validator_judge(&j->validator, &turned, j->g), VERDICT_NO_MATCH);
    turned = *m;
    turned.variables[0] = m->variables[1];
    assert_int_equal(validator_judge(&j->validator, &turned, j->g), VERDICT_NO_MATCH);
    return true;
}

TEST(what_is_no_match_does_not_pass)
{
    ARENA(scratch);
    ARENA(a);
    struct graph g FREED_BY(graph_free);
    struct match_index index FREED_BY(match_index_free);
    struct judging j = {.g = &g};
    validator_init(&j.validator);
    RULES(rules, &a, "(rule r (source (matmul (matmul ?x ?y) ?z)) (target (matmul ?x (matmul ?y ?z))))");
    parse_graph(&g, &a, "x y z = f32 4 4; p = matmul x y; q = matmul p z");
    match_index_init(&index, &g);
    rule_match(rules.rules.items[0], &index, NO_NODE, &scratch, judge_turned, &j);
    assert_int_equal(j.validator.checked, 1);
    validator_free(&j.validator);
}

// --- a search with a wrong rule --------------------------------------------------------------------------------------

static double seconds_by_count(void *context, const struct graph *g)
{
    double seconds = 0;
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        seconds += live[n] && g->nodes.items[n].op->define;
    return seconds;
}

static const char wrong_rule[] =
    "(rule relu-of-sum (source (ewadd (relu ?x) (relu ?y))) (target (relu (ewadd ?x ?y))))";
static const char some_graph[] = "x y = f32 1000 1000; a = relu x; b = relu y; s = ewadd a b";

static void search_with_rule(const char *rule, const char *graph, bool validates, size_t *ret_steps,
                             size_t *ret_refuted)
{
    ARENA(a);
    struct cost_model cost = {seconds_by_count, NULL, 0, NULL};
    struct search_options options = search_standard_options;
    RULES(rules, &a, rule);
    GRAPH(g, &a, graph);
    options.validates = validates;
    struct search_result result FREED_BY(search_result_free);
    search_graph(&g, &rules, &cost, &options, &result);
    *ret_steps = result.steps.count;
    *ret_refuted = result.refuted.count;
}

TEST(the_search_refutes_wrong_rules)
{
    size_t n_steps, n_refuted;
    search_with_rule(wrong_rule, some_graph, false, &n_steps, &n_refuted);
    assert_int_equal(n_steps, 1);
    assert_int_equal(n_refuted, 0);
    search_with_rule(wrong_rule, some_graph, true, &n_steps, &n_refuted);
    assert_int_equal(n_steps, 0);
    assert_int_equal(n_refuted, 1);
}

// An entry is a sum of 20 million products: too many to compute one.
TEST(what_is_only_checked_needs_validation)
{
    static const char graph[] = "x = f32 1 20000000; y = f32 20000000 1; p = matmul x y; a = relu p; b = relu a";
#define TWICE "(rule twice (source (relu (relu (matmul ?x ?y)))) (target (relu (matmul ?x ?y)))"
    static const char *const rules[] = {TWICE ")", TWICE " (checked (tested (instances 1))))",
                                        TWICE " (proof (symbols (families 1))))"};
    for (int i = 0; i < 3; i++) {
        size_t n_steps, n_refuted;
        search_with_rule(rules[i], graph, true, &n_steps, &n_refuted);
        assert_int_equal(n_steps, i == 2);
        assert_int_equal(n_refuted, 0);
    }
}
