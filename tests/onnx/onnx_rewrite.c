// `onnx_rewrite RULES SEED STEPS|saturate IN OUT`: imports a model, applies rules at random places, and exports what has
// become of it; or searches by saturation what is cheapest at random prices. The rules that were applied go to stderr.
// The test scripts ask ONNX Runtime whether the two models agree.
#include "core/numbers/random.h"
#include "graph/graph_whole.h"
#include "onnx/convert/export/export.h"
#include "onnx/format/check.h"
#include "onnx/format/model_save.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "optimizer/search/saturation/saturation.h"
#include "optimizer/search/translation_validation.h"
#include "substitutions/match_index.h"
#include "tests/onnx/with_model.h"
#include "tests/support/graph_check.h"

#include <stdlib.h>
#include <string.h>

struct walk {
    struct random random;
    const struct rule_set *rules;
    struct arena scratch;
    struct graph g;
    struct match of_rule, chosen;
    uint64_t n_matches;
    uint32_t *n_taken;   // of every rule
};

// Each match of a rule is as likely as its others to be the one that stays.
static bool choose_one(void *context, const struct match *m)
{
    struct walk *w = context;
    if (random_below(&w->random, ++w->n_matches) == 0)
        w->of_rule = *m;
    return true;
}

// Of the rules that match anywhere, one of those that were taken least often: associativity alone could fill a walk.
static bool find_match(struct walk *w)
{
    uint64_t n_rules = 0;
    size_t chosen = 0;
    struct match_index index FREED_BY(match_index_free);
    match_index_init(&index, &w->g);
    for (size_t i = 0; i < w->rules->rules.count; i++) {
        w->n_matches = 0;
        rule_match(w->rules->rules.items[i], &index, NO_NODE, &w->scratch, choose_one, w);
        if (w->n_matches == 0 || (n_rules && w->n_taken[i] > w->n_taken[chosen]))
            continue;
        if (n_rules && w->n_taken[i] < w->n_taken[chosen])
            n_rules = 0;
        if (random_below(&w->random, ++n_rules) == 0) {
            w->chosen = w->of_rule;
            chosen = i;
        }
    }
    w->n_taken[chosen] += n_rules > 0;
    return n_rules > 0;
}

static void take_step(struct walk *w)
{
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    struct graph result;
    if (!find_match(w) || !match_apply(&w->chosen, &w->g, &w->scratch, old, new) ||
        !graph_replace(&result, &w->g, w->chosen.rule->n_outputs, old, new, NULL))
        return;
    fprintf(stderr, "%s ", w->chosen.rule->name);
    graph_free(&w->g);
    w->g = result;
}

static void walk(const struct graph *g, const struct rule_set *rules, uint64_t seed, long steps,
                 struct graph *ret_graph)
{
    struct walk w = {.random = random_seed(seed), .rules = rules};
    w.n_taken = mem_alloc_zero((rules->rules.count + 1) * sizeof *w.n_taken);
    graph_copy(&w.g, g);
    for (; steps > 0; steps--)
        take_step(&w);
    *ret_graph = w.g;
    mem_free(w.n_taken, (rules->rules.count + 1) * sizeof *w.n_taken);
    arena_free(&w.scratch);
}

// --- saturation ------------------------------------------------------------------------------------------------------

// The cost of an operator at the size of its result: rewrites lead anywhere.
static double seconds_at_random_prices(void *context, const struct graph *g)
{
    const uint64_t *seed = context;
    double seconds = 0;
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        if (!live[n] || !node->op->define)
            continue;
        uint64_t size = (uint64_t)type_elements(graph_type(g, node->first_output));
        seconds += 1 + (double)(random_keyed(*seed, node->op->id + size * OP_COUNT) % 8);
    }
    return seconds;
}

// A refuted rule is named, and an error: none of those that are given is wrong.
static bool saturate(const struct graph *g, const struct rule_set *rules, uint64_t seed, struct graph *ret_graph,
                     struct error *error)
{
    struct cost_model cost = {seconds_at_random_prices, &seed, 0, NULL};
    struct search_options options = search_standard_options;
    struct saturation_options saturation = saturation_standard_options;
    options.budget = seed % 2 ? 0 : 20;
    saturation.exploration.most_nodes = 3000;
    saturation.exploration.k_multi = 2;
    saturation.exploration.filtering = seed % 3 ? CYCLES_EFFICIENT : CYCLES_VANILLA;
    struct validator validator FREED_BY(validator_free);
    saturation.validator = &validator;
    validator_init(&validator);
    struct search_result result FREED_BY(search_result_free);
    search_graph(g, rules, &cost, &options, &result);
    saturation_improve(&result, rules, &cost, &saturation);
    for (size_t i = 0; i < result.steps.count; i++)
        fprintf(stderr, "%s ", result.steps.items[i].rule->name);
    bool is_fine = result.refuted.count == 0 ||
                   error_set_code(error, EXIT_INTERNAL, NULL, "%s is refuted", result.refuted.items[0]->name);
    graph_copy(ret_graph, &result.graph);
    return is_fine;
}

// --- the program -----------------------------------------------------------------------------------------------------

struct rewriting {
    const struct rule_set *rules;
    char **argv;
};

static bool export_and_write(struct imported_model *m, const struct graph *g, const char *to, struct error *error)
{
    struct onnx_model *result;
    struct exported_types types;
    struct onnx_reader reader = {exported_types_are_read_back, &types};
    return graph_check(g, error) && export_model(m, g, &result, &types, error) && onnx_model_check(result, to, error) &&
           onnx_model_write(result, m->file, to, 0, &reader, error);
}

static bool rewrite(struct imported_model *m, void *context, struct error *error)
{
    const struct rule_set *rules = ((const struct rewriting *)context)->rules;
    char **argv = ((const struct rewriting *)context)->argv;
    struct graph g FREED_BY(graph_free);
    uint64_t seed = strtoull(argv[2], NULL, 10);
    bool is_fine = true;
    if (strcmp(argv[3], "saturate") == 0)
        is_fine = saturate(&m->graph, rules, seed, &g, error);
    else
        walk(&m->graph, rules, seed, strtol(argv[3], NULL, 10), &g);
    return is_fine && export_and_write(m, &g, argv[5], error);
}

int main(int argc, char **argv)
{
    const struct import_options options = {.fold_limit = IMPORT_FOLD_LIMIT};
    struct error error = {0};
    struct arena arena;
    struct rule_set rules;
    if (argc != 6) {
        fprintf(stderr, "usage: onnx_rewrite RULES SEED STEPS|saturate IN OUT\n");
        return EXIT_USAGE;
    }
    arena_init(&arena);
    rule_set_init(&rules, &arena);
    bool is_done = rule_set_read(&rules, argv[1], &error) &&
                   with_model(argv[4], &options, rewrite, &(struct rewriting){&rules, argv}, &error);
    rule_set_free(&rules);
    arena_free(&arena);
    if (!is_done) {
        error_exit("onnx_rewrite", &error);
        return (int)error.code;
    }
    return mem_in_use() == 0 ? EXIT_DONE : EXIT_INTERNAL;
}
