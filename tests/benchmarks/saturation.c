// `benchmark_saturation RULES MODEL.onnx [option=value ...]`: what exploring a model's e-graph takes, and what
// extraction makes of it under made-up costs, as one line of JSON. Options: nodes, rounds, k_multi, threads, cycles (0
// kept, 1 vanilla, 2 efficient), branches (0: greedy alone), seconds, fake (1: costs of the fake device, which
// fuses, instead), searches (1: whole searches instead: backtracking, saturation alone, and both), budget (of the former
// before saturation alone), egraphs (most of them one after the other), egraph_rules (a file; otherwise RULES), matches (of a rule in a round
// before it is banned; 0: any), form (an enum ilp_form) and program_seconds (more than 0: Tensat's integer program of that
// form instead, for at most that time).
#include "optimizer/search/saturation/saturation.h"
#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/fake/fake.h"
#include "core/system/clock.h"
#include "core/text/error.h"
#include "egraph/convert.h"
#include "egraph/extraction/components.h"
#include "egraph/extraction/ilp.h"
#include "onnx/convert/import/import.h"
#include "onnx/format/model_file.h"
#include "optimizer/search/backtracking/backtracking.h"
#include "optimizer/search/saturation/extraction_problem.h"
#include "tests/benchmarks/search_cost.h"
#include "tests/support/scoped.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct arguments {
    long nodes, rounds, k_multi, threads, cycles, branches, seconds, fake, searches, budget, egraphs, form,
        program_seconds, matches;
    const char *egraph_rules;
    size_t n_first;       // rules that backtracking has
    bool *is_of_egraph;   // by number; NULL: all are
};

static void read_option(struct arguments *a, const char *text)
{
    const struct {
        const char *name;
        long *value;
    } known[] = {{"nodes=", &a->nodes},
                 {"rounds=", &a->rounds},
                 {"k_multi=", &a->k_multi},
                 {"threads=", &a->threads},
                 {"cycles=", &a->cycles},
                 {"branches=", &a->branches},
                 {"seconds=", &a->seconds},
                 {"fake=", &a->fake},
                 {"searches=", &a->searches},
                 {"budget=", &a->budget},
                 {"egraphs=", &a->egraphs},
                 {"form=", &a->form},
                 {"program_seconds=", &a->program_seconds},
                 {"matches=", &a->matches}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strncmp(text, known[i].name, strlen(known[i].name)) == 0)
            *known[i].value = atol(text + strlen(known[i].name));
    if (strncmp(text, "egraph_rules=", 13) == 0)
        a->egraph_rules = text + 13;
}

static void tell(const struct exploration *x, double cpu, const struct candidates *all, double extracting_cpu,
                 double before)
{
    const struct egraph *e = x->e;
    TEXT(out);
    text_printf(&out,
                "{\"nodes\": %zu, \"classes\": %zu, \"rounds\": %zu, \"end\": \"%s\", \"seconds\": %.3f, \"cpu\": "
                "%.3f, \"searching\": %.3f, \"cycles\": %.3f, \"prevented\": %zu, \"filtered\": %zu, \"bytes\": %zu, "
                "\"pricing\": %.3f, \"extracting\": %.3f, \"before\": %.9g, \"bound\": %.9g",
                e->n_live, e->n_classes, x->rounds.count, exploration_end_names[x->end], x->statistics.seconds, cpu,
                x->statistics.seconds_searching, x->statistics.seconds_cycles, x->statistics.n_prevented,
                x->statistics.n_resolved, egraph_memory(e), all->seconds_pricing, all->seconds_extracting, before,
                all->bound);
    text_printf(&out, ", \"extracting_cpu\": %.3f, \"cheapest\": %.9g", extracting_cpu, all->best);
    for (size_t i = 0; i < all->items.count; i++)
        text_printf(&out, ", \"%s%s\": %.9g", all->items.items[i].extraction,
                    all->items.items[i].pricing == PRICED_ALONE ? "" : " behind", all->items.items[i].cost);
    text_add(&out, "}\n");
    fputs(out.chars, stdout);
}

// --- costs -----------------------------------------------------------------------------------------------------------

static double fake_seconds(void *context, const struct graph *g)
{
    struct estimate estimate;
    struct error error = {0};
    return backend_estimate(context, g, &estimate, &error) ? estimate.seconds : INFINITY;
}

// --- whole searches --------------------------------------------------------------------------------------------------

struct searched {
    double before, after, seconds, cpu;
    uint64_t egraphs;
};

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static struct searched search(const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                              const struct arguments *a, bool backtracks, bool saturates)
{
    struct search_options options = search_standard_options;
    struct saturation_options saturation = saturation_standard_options;
    struct search_result result;
    options.budget = backtracks ? options.budget : a->budget;
    saturation.exploration.most_nodes = (size_t)a->nodes;
    saturation.exploration.rounds = (uint32_t)a->rounds;
    saturation.exploration.k_multi = (uint32_t)a->k_multi;
    saturation.exploration.threads = (uint32_t)a->threads;
    saturation.is_chosen = a->is_of_egraph;
    saturation.most_egraphs = (size_t)a->egraphs;
    struct rule_set first = {.arena = rules->arena};
    for (size_t i = 0; i < a->n_first; i++)
        vec_push(&first.rules, rules->rules.items[i]);
    double started = clock_seconds(), cpu = cpu_seconds();
    search_graph(g, &first, cost, &options, &result);
    if (saturates)
        saturation_improve(&result, rules, cost, &saturation);
    struct searched s = {result.seconds_before, result.seconds_after, clock_seconds() - started, cpu_seconds() - cpu,
                         result.saturation.egraphs};
    search_result_free(&result);
    vec_free(&first.rules);
    return s;
}

static void tell_search(const char *name, const struct searched *s)
{
    printf(", \"%s\": %.9g, \"%s_seconds\": %.3f, \"%s_cpu\": %.3f, \"%s_egraphs\": %lu", name, s->after, name,
           s->seconds, name, s->cpu, name, (unsigned long)s->egraphs);
}

static void search_all_ways(const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                            const struct arguments *a)
{
    struct searched backtracking = search(g, rules, cost, a, true, false);
    struct searched alone = search(g, rules, cost, a, false, true), both = search(g, rules, cost, a, true, true);
    printf("{\"before\": %.9g", backtracking.before);
    tell_search("backtracking", &backtracking);
    tell_search("saturation", &alone);
    tell_search("both", &both);
    printf("}\n");
}

// --- one e-graph -----------------------------------------------------------------------------------------------------

static void solve_program(const struct egraph *e, const struct cost_model *cost, const enode_id *outputs,
                          size_t n_outputs, const struct arguments *a)
{
    struct extraction_problem p FREED_BY(extraction_free);
    struct ilp_question question = {.form = (enum ilp_form)a->form, .max_seconds = (double)a->program_seconds};
    candidates_pose(e, cost, outputs, n_outputs, &p);
    LOCAL_ARRAY(uint32_t, choice, p.n_classes + 1);
    double bound, found, started = clock_seconds(), cpu = cpu_seconds();
    enum ilp_status status = ilp_solve(&p, &question, choice, &bound);
    bool has_selection = status <= ILP_FEASIBLE && extraction_settle(&p, choice, &found);
    printf("{\"nodes\": %u, \"classes\": %u, \"component\": %u, \"optimal\": %s, \"seconds\": %.3f, \"cpu\": %.3f",
           p.n_nodes, p.n_classes, components_largest(&p), status == ILP_OPTIMAL ? "true" : "false",
           clock_seconds() - started, cpu_seconds() - cpu);
    if (has_selection)
        printf(", \"cost\": %.9g", found);
    printf("}\n");
}

static void extract_all_ways(const struct exploration *x, double cpu, const struct graph *g,
                             const struct cost_model *cost, const enode_id *outputs, size_t n_outputs,
                             const struct arguments *a)
{
    struct extraction_budget budget = extraction_standard_budget;
    struct candidates all FREED_BY(candidates_free);
    budget.branches = (uint64_t)a->branches;
    budget.seconds = (double)a->seconds;
    double started = cpu_seconds();
    candidates_find(&all, x->e, cost, a->branches ? &budget : NULL, outputs, n_outputs);
    tell(x, cpu, &all, cpu_seconds() - started, cost->graph_seconds(cost->context, g));
}

static void explore(const struct graph *g, const struct rule_set *rules, const struct cost_model *cost,
                    const struct arguments *a)
{
    struct exploration_options options = exploration_standard_options;
    struct egraph e;
    struct exploration x;
    LOCAL_ARRAY(enode_id, ids, g->tensors.count + 1);
    VEC(enode_id) outputs = {0};
    options.most_nodes = (size_t)a->nodes;
    options.rounds = (uint32_t)a->rounds;
    options.k_multi = (uint32_t)a->k_multi;
    options.threads = (uint32_t)a->threads;
    options.filtering = (enum cycle_filtering)a->cycles;
    options.most_matches = (uint32_t)a->matches;
    egraph_init(&e);
    egraph_add_graph(&e, g, ids);
    for (size_t i = 0; i < g->outputs.count; i++)
        vec_push(&outputs, ids[g->outputs.items[i]]);
    exploration_init(&x, &e, rules, &options);
    double started = cpu_seconds();
    exploration_run(&x);
    double cpu = cpu_seconds() - started;
    if (a->program_seconds > 0)
        solve_program(&e, cost, outputs.items, outputs.count, a);
    else
        extract_all_ways(&x, cpu, g, cost, outputs.items, outputs.count, a);
    exploration_free(&x);
    egraph_free(&e);
    vec_free(&outputs);
}

static bool read_rules(struct rule_set *rules, const char *path, struct arguments *a, struct error *error)
{
    if (!rule_set_read(rules, path, error))
        return false;
    a->n_first = rules->rules.count;
    if (!a->egraph_rules)
        return true;
    bool is_read = rule_set_read(rules, a->egraph_rules, error);
    a->is_of_egraph = arena_array(rules->arena, bool, rules->rules.count + 1);
    for (size_t i = 0; i < rules->rules.count; i++)
        a->is_of_egraph[i] = i >= a->n_first;
    return is_read;
}

int main(int argc, char **argv)
{
    struct arguments a = {.nodes = 50000,
                          .rounds = 15,
                          .k_multi = 2,
                          .threads = 1,
                          .cycles = CYCLES_EFFICIENT,
                          .matches = exploration_standard_options.most_matches,
                          .egraphs = (long)saturation_standard_options.most_egraphs};
    struct error error = {.code = EXIT_BAD_INPUT};
    struct import_options import = {.fold_limit = IMPORT_FOLD_LIMIT};
    ARENA(arena);
    struct rule_set rules;
    struct onnx_file file;
    struct imported_model model;
    if (argc < 3)
        return EXIT_USAGE;
    for (int i = 3; i < argc; i++)
        read_option(&a, argv[i]);
    rule_set_init(&rules, &arena);
    if (!read_rules(&rules, argv[1], &a, &error) || !onnx_file_open(&file, argv[2], &error) ||
        !import_model(&model, &file, &import, &error)) {
        error_exit("benchmark_saturation", &error);
        return (int)error.code;
    }
    struct backend *fake = fake_backend_open(&(struct fake_device){0}, &error);
    struct cost_model cost = {a.fake ? fake_seconds : made_up_seconds, fake, 0, NULL};
    (a.searches ? search_all_ways : explore)(&model.graph, &rules, &cost, &a);
    backend_close(fake);
    imported_model_free(&model);
    onnx_file_close(&file);
    rule_set_free(&rules);
    return EXIT_DONE;
}
