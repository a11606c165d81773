// Random graphs, rewritten at random by whatever rules match, step after step: every graph on the way passes the check
// and keeps the values of the original. Wrong rules, planted, are found out.
#include "graph/cycle.h"
#include "graph/graph_whole.h"
#include "substitutions/match_index.h"
#include "tests/support/cases.h"
#include "tests/support/graph_check.h"
#include "tests/support/graph_values.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"

enum { GRAPHS = 400, STEPS = 6 };

struct walk {
    struct arena arena, scratch;
    struct random random;
    const struct rule_set *rules;
    struct graph g;
    struct field_values values;
    struct match chosen;
    uint64_t n_matches;
    uint64_t *applications;   // of every rule; NULL: not counted
    const struct rule *culprit;
};

// The cycles that are foreseen are those that replacing finds.
static void check_cycle(struct walk *w, const struct match *m)
{
    struct graph with_target, result;
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    graph_copy(&with_target, &w->g);
    if (match_apply(m, &with_target, &w->scratch, old, new)) {
        bool is_replaced = graph_replace(&result, &with_target, m->rule->n_outputs, old, new, NULL);
        if (is_replaced == graph_replacement_has_cycle(&with_target, m->rule->n_outputs, old, new))
            fail_msg("%s: a cycle is %s", m->rule->name, is_replaced ? "feared" : "overlooked");
        if (is_replaced)
            graph_free(&result);
    }
    graph_free(&with_target);
}

static bool choose_one(void *context, const struct match *m)
{
    struct walk *w = context;
    check_cycle(w, m);
    if (random_below(&w->random, ++w->n_matches) == 0)
        w->chosen = *m;
    return true;
}

static void choose_match(struct walk *w, const struct match_index *index)
{
    w->n_matches = 0;
    for (size_t i = 0; i < w->rules->rules.count; i++)
        rule_match(w->rules->rules.items[i], index, NO_NODE, &w->scratch, choose_one, w);
}

static void count_application(struct walk *w, const struct rule *rule)
{
    for (size_t i = 0; w->applications && i < w->rules->rules.count; i++)
        w->applications[i] += w->rules->rules.items[i] == rule;
}

static bool has_kept_values(struct walk *w, const struct graph *g)
{
    ARENA_MARK(mark, &w->scratch);
    struct field_values now FREED_BY(field_values_free);
    graph_values(&now, g, 5, &w->scratch);
    return field_values_equal(&now, &w->values);
}

// False when the rule changed the values.
static bool apply_chosen(struct walk *w)
{
    struct graph result;
    struct error error = {0};
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    const struct rule *rule = w->chosen.rule;
    if (!match_apply(&w->chosen, &w->g, &w->scratch, old, new) ||
        !graph_replace(&result, &w->g, rule->n_outputs, old, new, NULL))
        return true;
    if (!graph_check(&result, &error))
        fail_msg("after %s: %s", rule->name, error.message);
    count_application(w, rule);
    graph_free(&w->g);
    w->g = result;
    w->culprit = has_kept_values(w, &w->g) ? NULL : rule;
    return !w->culprit;
}

static bool take_step(struct walk *w)
{
    struct match_index index FREED_BY(match_index_free);
    match_index_init(&index, &w->g);
    choose_match(w, &index);
    return w->n_matches == 0 || apply_chosen(w);
}

// The rule that changed the values of the graph grown from this seed; NULL: none did.
static const struct rule *walk_from(uint64_t seed, const struct rule_set *rules, uint64_t *applications)
{
    struct walk w = {.random = random_seed(seed), .rules = rules, .applications = applications};
    struct error error = {0};
    graph_init(&w.g, &w.arena);
    random_graph_fill(&w.g, rules, &w.random, 8);
    if (!graph_check(&w.g, &error))
        fail_msg("seed %llu: %s", (unsigned long long)seed, error.message);
    graph_values(&w.values, &w.g, 5, &w.scratch);
    for (int step = 0; step < STEPS && take_step(&w); step++)
        continue;
    graph_free(&w.g);
    field_values_free(&w.values);
    arena_free(&w.arena);
    arena_free(&w.scratch);
    return w.culprit;
}

// Walks with the rules of a file; the share of them that were applied somewhere, in percent.
static size_t walk_with(const char *path)
{
    ARENA(a);
    RULES_OF(rules, &a, path);
    uint64_t *applications = arena_array(&a, uint64_t, rules.rules.count);
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        const struct rule *culprit = walk_from(seed, &rules, applications);
        if (culprit)
            fail_msg("seed %llu: %s changes values", (unsigned long long)seed, culprit->name);
    }
    size_t n_applied = COUNT(size_t, i, rules.rules.count, applications[i] > 0);
    return n_applied * 100 / rules.rules.count;
}

TEST(random_rewrites_keep_values)
{
    assert_true(walk_with(getenv("TASO_WANTED")) >= 80);
    assert_true(walk_with(getenv("TASO_RULES")) > 0);
}

TEST_OF_CASES(finds_out_wrong_rules, c, "substitutions/wrong.cases")
{
    ARENA(a);
    const struct rule *culprit = NULL;
    RULES(rules, &a, text_of(&a, c));
    for (uint64_t seed = 1; seed <= GRAPHS && !culprit; seed++)
        culprit = walk_from(seed, &rules, NULL);
    if (!culprit)
        fail_msg("%s was not found out", rules.rules.items[0]->name);
}
