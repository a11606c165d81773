// Single entries are those of the whole evaluation; right rules pass at any shapes, wrong ones are refuted and then not
// used.
#include "expressions/evaluation/evaluate.h"
#include "expressions/evaluation/evaluate_entry.h"
#include "expressions/field.h"
#include "graph/graph_whole.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "optimizer/search/result.h"
#include "optimizer/search/translation_validation.h"
#include "substitutions/match_index.h"
#include "tests/support/parse_graph.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"

// --- single entries --------------------------------------------------------------------------------------------------

struct inputs {
    const struct definition *d;
    const uint64_t **entries;
};

static int64_t place_of(const struct inputs *x, int input, const int64_t *index)
{
    int64_t linear = 0;
    for (int i = 0; i < x->d->inputs[input].rank; i++)
        linear = linear * x->d->inputs[input].dim[i] + index[i];
    return linear;
}

static uint64_t read_entry(void *context, int input, const int64_t *index)
{
    const struct inputs *x = context;
    return x->entries[input][place_of(x, input, index)];
}

static struct inputs random_inputs(const struct definition *d, struct random *random, struct arena *a)
{
    struct inputs x = {d, arena_array(a, const uint64_t *, d->n_inputs + 1)};
    for (int i = 0; i < d->n_inputs; i++) {
        int64_t count = type_elements(&d->inputs[i]);
        uint64_t *entries = arena_array(a, uint64_t, count + 1);
        for (int64_t j = 0; j < count; j++)
            entries[j] = random_below(random, 3) ? field_reduce(random_next(random)) : random_below(random, 5);
        x.entries[i] = entries;
    }
    return x;
}

static void compare_entries(const struct graph *g, node_id n, struct random *random, struct arena *a)
{
    struct definition d FREED_BY(definition_free);
    assert_true(graph_define(g, n, &d, a));
    struct inputs x = random_inputs(&d, random, a);
    uint64_t **outputs = arena_array(a, uint64_t *, d.n_outputs + 1);
    for (int i = 0; i < d.n_outputs; i++)
        outputs[i] = arena_array(a, uint64_t, type_elements(definition_output(&d, i)) + 1);
    evaluate_field(&d, 17, x.entries, outputs, a);
    for (int i = 0; i < d.n_outputs; i++) {
        const struct type *t = definition_output(&d, i);
        for (int64_t j = 0; j < type_elements(t); j++) {
            int64_t index[MAX_RANK], rest = j;
            for (int axis = t->rank; axis-- > 0; rest /= t->dim[axis])
                index[axis] = rest % t->dim[axis];
            if (evaluate_field_entry(&d, 17, i, index, read_entry, &x) != outputs[i][j])
                fail_msg("%s: entry %lld of output %d", g->nodes.items[n].op->name, (long long)j, i);
        }
    }
}

TEST(single_entries_are_those_of_the_whole)
{
    ARENA(a);
    struct rule_set rules FREED_BY(rule_set_free);
    read_rules(&rules, &a, getenv("TASO_RULES"));
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct random random = random_seed(seed);
        struct arena_mark mark = arena_mark(&a);
        struct graph g FREED_BY(graph_free);
        graph_init(&g, &a);
        random_graph_fill(&g, &rules, &random, 12);
        for (node_id n = 0; n < g.nodes.count; n++)
            if (g.nodes.items[n].op->define)
                compare_entries(&g, n, &random, &a);
        arena_release(&a, mark);
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
    struct rule_set rules FREED_BY(rule_set_free);
    uint64_t n_checked = 0;
    read_rules(&rules, &a, getenv("TASO_RULES"));
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
    struct rule_set rules FREED_BY(rule_set_free);
    struct graph g FREED_BY(graph_free);
    struct match_index index FREED_BY(match_index_free);
    struct judging j = {.g = &g};
    rule_set_init(&rules, &a);
    validator_init(&j.validator);
    parse_rules(&rules, &a, "(rule r (source (matmul (matmul ?x ?y) ?z)) (target (matmul ?x (matmul ?y ?z))))");
    parse_graph(&g, &a,
                "(graph (let x (input 0) (f32 4 4)) (let y (input 1) (f32 4 4)) (let z (input 2) (f32 4 4))"
                " (let p (matmul x y)) (let q (matmul p z)) (output q))");
    match_index_init(&index, &g);
    rule_match(rules.rules.items[0], &index, NO_NODE, &scratch, judge_turned, &j);
    assert_int_equal(j.validator.checked, 1);
    validator_free(&j.validator);
}

// --- a search with a wrong rule --------------------------------------------------------------------------------------

static double seconds_by_count(void *context, const struct graph *g)
{
    double seconds = 0;
    bool *live = mem_new_array(bool, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        seconds += live[n] && g->nodes.items[n].op->define;
    mem_free_array(live, g->nodes.count + 1);
    return seconds;
}

static const char wrong_rule[] =
    "(rule relu-of-sum (source (ewadd (relu ?x) (relu ?y))) (target (relu (ewadd ?x ?y))))";
static const char some_graph[] =
    "(graph (let x (input 0) (f32 1000 1000)) (let y (input 1) (f32 1000 1000)) (let a (relu "
    "x)) (let b (relu y)) (let s (ewadd a b)) (output s))";

static void search_with_rule(const char *rule, const char *graph, bool validates, size_t *ret_steps,
                             size_t *ret_refuted)
{
    ARENA(a);
    struct rule_set rules FREED_BY(rule_set_free);
    struct cost_model cost = {seconds_by_count, NULL, 0, NULL};
    struct search_options options = search_standard_options;
    rule_set_init(&rules, &a);
    parse_rules(&rules, &a, rule);
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
    static const char graph[] = "(graph (let x (input 0) (f32 1 20000000)) (let y (input 1) (f32 20000000 1))"
                                " (let p (matmul x y)) (let a (relu p)) (let b (relu a)) (output b))";
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
