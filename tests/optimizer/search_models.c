// `search_models RULES FIRST END MODEL...`: searches imported models at random prices, one run for each seed from FIRST
// up to END, and compares all entries of all outputs with the original's over the prime field. Prices are what measured
// costs may be on some machine: each step's by its arithmetic and memory traffic, times a random factor of 0.3 to 2.
#include "optimizer/search/backtracking/backtracking.h"
#include "optimizer/search/saturation/saturation.h"
#include "tests/benchmarks/search_cost.h"
#include "tests/onnx/with_model.h"
#include "tests/support/graph_check.h"
#include "tests/support/graph_values.h"

#include <stdlib.h>

struct run {
    struct arena arena;
    struct rule_set rules;
    uint64_t first, end;
    uint64_t n_steps, n_repeated, n_wrong;
};

// Goes on with an e-graph of the original and of what was found.
static void saturate(struct run *r, const struct graph *g, const struct cost_model *cost, struct search_result *found)
{
    struct saturation_options options = saturation_standard_options;
    options.exploration.most_nodes = 4000;
    options.exploration.k_multi = 2;
    options.most_egraphs = 4;
    saturation_improve(found, &r->rules, cost, &options);
}

static void search_at_prices_of(struct run *r, const char *model, const struct graph *g,
                                const struct field_values *before, uint64_t seed)
{
    struct random_prices prices = {.seed = seed, .low = 0.3, .high = 2};
    struct cost_model cost = {seconds_at_random_prices, &prices, 0, NULL};
    struct search_options options = search_standard_options;
    struct field_values after FREED_BY(field_values_free);
    ARENA(scratch);
    options.budget = 100;
    options.validates = seed % 2;   // which must not be what keeps the values
    struct search_result result FREED_BY(search_result_free);
    search_graph(g, &r->rules, &cost, &options, &result);
    saturate(r, g, &cost, &result);
    bool is_sound = graph_check(&result.graph, &(struct error){0});
    graph_values(&after, &result.graph, 1, &scratch);
    if (!is_sound || !field_values_equal(before, &after)) {
        printf("%s, prices %llu: the search changed values\n", model, (unsigned long long)seed);
        r->n_wrong++;
    }
    r->n_steps += result.steps.count;
    r->n_repeated += result.statistics.repeated;
}

static bool search_model(struct imported_model *m, void *context, struct error *error)
{
    struct run *r = context;
    struct field_values before FREED_BY(field_values_free);
    struct arena scratch = {0};
    if (ANY(node_id, n, m->graph.nodes.count, m->graph.nodes.items[n].op->flags & OPERATOR_IS_OPAQUE))
        return true;
    graph_values(&before, &m->graph, 1, &scratch);
    arena_free(&scratch);
    for (uint64_t seed = r->first; seed < r->end; seed++)
        search_at_prices_of(r, m->file->path, &m->graph, &before, seed);
    return true;
}

int main(int argc, char **argv)
{
    const struct import_options options = {.fold_limit = IMPORT_FOLD_LIMIT};
    struct run r = {0};
    struct error error = {.code = EXIT_BAD_INPUT};
    if (argc < 5) {
        fprintf(stderr, "usage: search_models RULES FIRST END MODEL...\n");
        return EXIT_USAGE;
    }
    rule_set_init(&r.rules, &r.arena);
    r.first = strtoull(argv[2], NULL, 10);
    r.end = strtoull(argv[3], NULL, 10);
    bool is_fine = rule_set_read(&r.rules, argv[1], &error);
    for (int i = 4; is_fine && i < argc; i++)
        is_fine = with_model(argv[i], &options, search_model, &r, &error);
    rule_set_free(&r.rules);
    arena_free(&r.arena);
    if (!is_fine) {
        error_exit("search_models", &error);
        return (int)error.code;
    }
    printf("%llu rewrites, %llu regions met again\n", (unsigned long long)r.n_steps, (unsigned long long)r.n_repeated);
    return r.n_wrong || r.n_steps == 0 || r.n_repeated == 0 || mem_in_use() ? EXIT_CHECK_FAILED : EXIT_DONE;
}
