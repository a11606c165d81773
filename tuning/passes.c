// A candidate is in force while it is evaluated: the backend asks for its decisions wherever it plans.
#include "tuning/passes.h"

#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/instructions/code_cache.h"
#include "backends/planning/plan_chains.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/graph_whole.h"
#include "operators/traits.h"
#include "tuning/conf_store.h"
#include "tuning/limits.def"
#include "tuning/neighbourhoods.h"
#include "tuning/saving.h"
#include "tuning/tune_graph.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define APART 1   // value of fusion
#define ANEW 1    // value of the node of layouts that stands for all: solved for what is apart
#define FINGERPRINT_OF_ALL 2

const char *const pass_names[N_TUNED_PASSES] = {"graph", "fusion", "layout", "schedules"};
#define EXPECTED "(graph 1) (layout 1) (fusion 2) (schedules 6)"
const char *const standard_pass_schedule = "(exhaustive 0.6 by-gain " EXPECTED ") (annealing 1 by-gain " EXPECTED ")";

struct known_graph {
    const struct graph *graph;
    uint64_t *of_fusion, *of_layout;   // of every node
    double *seconds;                   // of the step that computes it, where all is fused
    VEC(node_id) fusible;
};
struct known_layouts {   // of a tensor
    uint64_t fingerprint;
    unsigned mask;
};
struct passes {
    struct backend *backend;
    struct tuned_passes decisions;
    const struct joint_candidate *in_force;   // NULL: what the store knows is
    const struct passes_options *options;
    VEC(struct known_graph) graphs;
    VEC(struct known_layouts) layouts;
    double cost;   // of the candidate that was evaluated last
    struct saving saving;
    size_t n_evaluated;
    struct graph_tuning *tuning;   // of the schedules of a candidate; NULL: none so far
};

// --- the store -------------------------------------------------------------------------------------------------------

static unsigned mask_of(const struct passes *p, uint64_t fingerprint)
{
    const struct known_layouts *known = vec_find(&p->layouts, l, l->fingerprint == fingerprint);
    return known ? known->mask : (1u << LAYOUT_COUNT) - 1;
}

// Value 0 is what the solver says; then those of the mask.
static enum layout layout_of_value(unsigned mask, uint32_t value)
{
    for (enum layout l = 0; value > 0 && l < LAYOUT_COUNT; l++)
        if ((mask & LAYOUT_BIT(l)) && --value == 0)
            return l;
    return LAYOUT_ANY;
}

static void print_value(const struct passes *p, size_t pass, uint64_t fingerprint, uint32_t value,
                        char ret_text[CHOICE_SIZE])
{
    enum layout layout = pass == PASS_LAYOUT ? layout_of_value(mask_of(p, fingerprint), value) : LAYOUT_ANY;
    bool is_of_all = pass == PASS_LAYOUT && fingerprint == FINGERPRINT_OF_ALL;
    if (pass == PASS_GRAPH)
        snprintf(ret_text, CHOICE_SIZE, "%016llx", (unsigned long long)graph_key(p->options->graphs[value]));
    else if (pass == PASS_FUSION)
        snprintf(ret_text, CHOICE_SIZE, "%s", value == APART ? "apart" : "fused");
    else if (is_of_all)
        snprintf(ret_text, CHOICE_SIZE, "%s", value == ANEW ? "anew" : "solved");
    else
        snprintf(ret_text, CHOICE_SIZE, "%s", layout == LAYOUT_ANY ? "solved" : layout_name(layout));
}

static bool recall(void *context, size_t pass, const struct pass_node *node, uint32_t *ret_value)
{
    const struct passes *p = context;
    char kept[CHOICE_SIZE], text[CHOICE_SIZE];
    bool is_known = conf_store_find(p->backend, pass_names[pass], node->fingerprint, kept);
    for (uint32_t value = 0; is_known && value < node->n_values; value++) {
        print_value(p, pass, node->fingerprint, value, text);
        if (strcmp(text, kept) == 0) {
            *ret_value = value;
            return true;
        }
    }
    return false;
}

// A standard value is only kept where another value was.
static void keep(void *context, size_t pass, const struct setting *setting)
{
    struct passes *p = context;
    char kept[CHOICE_SIZE], fresh[CHOICE_SIZE];
    bool is_there = conf_store_find(p->backend, pass_names[pass], setting->node.fingerprint, kept);
    print_value(p, pass, setting->node.fingerprint, setting->value, fresh);
    if (is_there ? strcmp(kept, fresh) != 0 : setting->value != setting->node.standard)
        conf_store_put(p->backend, pass_names[pass], setting->node.fingerprint, fresh, p->cost);
}

// --- graphs ----------------------------------------------------------------------------------------------------------

static bool is_map_over(struct passes *p, const struct graph *g, node_id reader, tensor_id t)
{
    const struct node *n = &g->nodes.items[reader];
    if (n->op->flags & (OPERATOR_IS_LEAF | OPERATOR_IS_OPAQUE | OPERATOR_IS_VIEW))
        return false;
    const struct code *code = code_cache_find(p->backend->codes, g, reader);
    return code->kind == CODE_MAP && type_equal(&code->stages[0].type, graph_type(g, t));
}

// An element-wise reader may join the kernel, and a concatenation may have it written in its place.
static bool may_be_fused(struct passes *p, const struct graph *g, const struct graph_uses *uses, tensor_id t)
{
    for (uint32_t k = uses->first[t]; k < uses->first[t + 1]; k++)
        if (is_map_over(p, g, uses->nodes[k], t) || operator_joins(g->nodes.items[uses->nodes[k]].op))
            return true;
    return false;
}

static void note_fusible(struct known_graph *k, node_id node)
{
    if (node != NO_NODE && k->of_fusion[node])
        vec_push(&k->fusible, node);
}

static void note_fusible_nodes(struct passes *p, struct known_graph *k)
{
    const struct graph *g = k->graph;
    struct graph_uses uses FREED_BY(graph_uses_free);
    graph_uses_init(&uses, g, NULL);
    for (node_id i = 0; i < g->nodes.count; i++)
        if (k->of_fusion[i] && g->nodes.items[i].n_outputs == 1 &&
            may_be_fused(p, g, &uses, g->nodes.items[i].first_output))
            note_fusible(k, i);
}

static bool make_plan(struct passes *p, const struct graph *g, const uint8_t *layouts, struct arena *arena,
                      struct plan *ret_plan)
{
    struct error ignored = {0};
    struct plan_request request = backend_plan_request(p->backend, g, layouts, arena);
    return plan_make(ret_plan, &request, &ignored);
}

// Steps that could run as one with the next.
static void note_chains(struct passes *p, struct known_graph *k, const struct plan *plan)
{
    for (uint32_t i = 0; p->backend->target.chain && i < plan->steps.count; i++)
        if (plan_find_behind(plan, &p->backend->target, i) != UINT32_MAX)
            note_fusible(k, plan->steps.items[i].origin.last_node);
}

static void note_seconds(struct passes *p, struct known_graph *k, const struct plan *plan)
{
    struct step_cost cost;
    vec_each(&plan->steps, step)
        if (!step->is_constant && backend_recall_cost(p->backend, plan, step, &cost))
            for (node_id n = step->origin.first_node; n != NO_NODE; n = plan->next_node[n])
                k->seconds[n] = cost.seconds;
}

static void look_at_best_layouts(struct passes *p, struct known_graph *k)
{
    ARENA(arena);
    struct plan plan FREED_BY(plan_free) = {0};
    struct error ignored = {0};
    const uint8_t *layouts = NULL;
    p->backend->policy = LAYOUTS_BEST;
    backend_find_layouts(p->backend, k->graph, &arena, &layouts, &ignored);
    if (make_plan(p, k->graph, layouts, &arena, &plan)) {
        note_chains(p, k, &plan);
        note_seconds(p, k, &plan);
    }
}

static struct known_graph know_graph(const struct graph *g)
{
    struct known_graph k = {.graph = g,
                            .of_fusion = mem_new_array(uint64_t, g->nodes.count + 1),
                            .of_layout = mem_new_array(uint64_t, g->nodes.count + 1),
                            .seconds = mem_alloc_zero((g->nodes.count + 1) * sizeof(double))};
    neighbourhoods_find(g, HOPS_OF_FUSION, k.of_fusion);
    neighbourhoods_find(g, HOPS_OF_LAYOUT, k.of_layout);
    return k;
}

static void forget_graph(struct known_graph *k)
{
    mem_free_array(k->of_fusion, k->graph->nodes.count + 1);
    mem_free_array(k->of_layout, k->graph->nodes.count + 1);
    mem_free_array(k->seconds, k->graph->nodes.count + 1);
    vec_free(&k->fusible);
}

// --- decisions -------------------------------------------------------------------------------------------------------

static uint32_t value_of(struct passes *p, size_t pass, uint64_t fingerprint)
{
    struct pass_node node = {fingerprint, pass == PASS_FUSION ? 2 : 1 + LAYOUT_COUNT, 0, 0};
    const struct setting *s = p->in_force ? configuration_find(&p->in_force->of[pass], fingerprint) : NULL;
    uint32_t value = s ? s->value : 0;
    if (!p->in_force)
        recall(p, pass, &node, &value);
    return value;
}

static void decide_node(struct passes *p, const struct known_graph *k, node_id i, uint8_t *decisions)
{
    uint64_t of_layout = k->of_layout[i];
    uint8_t *decision = &decisions[k->graph->nodes.items[i].first_output];
    enum layout layout = layout_of_value(mask_of(p, of_layout), value_of(p, PASS_LAYOUT, of_layout));
    *decision = (uint8_t)layout | (value_of(p, PASS_FUSION, k->of_fusion[i]) == APART ? PLAN_APART : 0);
}

static bool decide_nodes(struct passes *p, const struct known_graph *k, uint8_t *decisions)
{
    for (node_id i = 0; i < k->graph->nodes.count; i++)
        if (k->of_fusion[i])
            decide_node(p, k, i, decisions);
    return value_of(p, PASS_LAYOUT, FINGERPRINT_OF_ALL) == ANEW;
}

static bool decide(void *context, const struct graph *g, uint8_t *decisions)
{
    struct passes *p = context;
    const struct known_graph *known = vec_find(&p->graphs, k, k->graph == g);
    if (known)
        return decide_nodes(p, known, decisions);
    struct known_graph unknown = know_graph(g);
    bool is_solved_anew = decide_nodes(p, &unknown, decisions);
    forget_graph(&unknown);
    return is_solved_anew;
}

struct passes *passes_new(struct backend *b)
{
    struct passes *p = mem_alloc_zero(sizeof *p);
    p->backend = b;
    p->decisions = (struct tuned_passes){p, decide};
    return p;
}

void passes_free(struct passes *p)
{
    vec_free(&p->layouts);
    mem_free(p, sizeof *p);
}

const struct tuned_passes *passes_decisions(const struct passes *p)
{
    return &p->decisions;
}

// --- the problem -----------------------------------------------------------------------------------------------------

static const struct known_graph *graph_of(const struct passes *p, const struct joint_candidate *c)
{
    const struct configuration *of_graph = &c->of[PASS_GRAPH];
    return &p->graphs.items[of_graph->settings.count ? of_graph->settings.items[0].value : p->options->standard_graph];
}

static void note_layouts(struct passes *p, uint64_t fingerprint, unsigned mask, double seconds, pass_nodes *ret_nodes)
{
    if (!vec_find(&p->layouts, l, l->fingerprint == fingerprint))
        vec_push(&p->layouts, ((struct known_layouts){fingerprint, mask}));
    uint32_t n_values = 1 + (uint32_t)__builtin_popcount(mask_of(p, fingerprint));
    vec_push(ret_nodes, ((struct pass_node){fingerprint, n_values, 0, seconds}));
}

// Which tensors have a choice depends on what is fused, and on no layout.
static void list_layouts(struct passes *p, const struct known_graph *k, pass_nodes *ret_nodes)
{
    ARENA(arena);
    struct plan plan FREED_BY(plan_free) = {0};
    uint8_t *decisions = arena_array(&arena, uint8_t, k->graph->tensors.count + 1);
    memset(decisions, LAYOUT_ANY, k->graph->tensors.count);
    decide_nodes(p, k, decisions);
    bool is_planned = make_plan(p, k->graph, decisions, &arena, &plan);
    if (is_planned && plan.choices.count)
        vec_push(ret_nodes, ((struct pass_node){FINGERPRINT_OF_ALL, 2, 0, 0}));
    for (size_t i = 0; is_planned && i < plan.choices.count; i++) {
        const struct layout_choice *c = &plan.choices.items[i];
        node_id maker = k->graph->tensors.items[c->tensor].producer;
        if (k->of_layout[maker])
            note_layouts(p, k->of_layout[maker], c->mask, k->seconds[maker], ret_nodes);
    }
}

static void list_nodes(void *context, const struct joint_candidate *c, size_t pass, pass_nodes *ret_nodes)
{
    struct passes *p = context;
    const struct passes_options *o = p->options;
    if (pass == PASS_GRAPH && o->n_graphs > 1)
        vec_push(ret_nodes, ((struct pass_node){graph_key(o->graphs[0]), (uint32_t)o->n_graphs, o->standard_graph, 0}));
    p->in_force = c;
    const struct known_graph *k = pass == PASS_GRAPH ? NULL : graph_of(p, c);
    for (size_t i = 0; pass == PASS_FUSION && i < k->fusible.count; i++) {
        node_id n = k->fusible.items[i];
        vec_push(ret_nodes, ((struct pass_node){k->of_fusion[n], 2, 0, k->seconds[n]}));
    }
    if (pass == PASS_LAYOUT)
        list_layouts(p, k, ret_nodes);
    p->in_force = NULL;
}

static void put_in_force(struct passes *p, const struct joint_candidate *c)
{
    p->in_force = c;
    p->backend->policy = LAYOUTS_TUNED;
    p->backend->tuned = &p->decisions;
}

static bool evaluate(void *context, const struct joint_candidate *c, double *ret_cost)
{
    struct passes *p = context;
    struct estimate estimate;
    struct error ignored = {0};
    put_in_force(p, c);
    bool is_known = backend_estimate(p->backend, graph_of(p, c)->graph, &estimate, &ignored);
    p->in_force = NULL;
    p->n_evaluated++;
    *ret_cost = p->cost = is_known ? estimate.seconds : INFINITY;
    return !interrupt_requested();
}

static double clock_of(void *context)
{
    const struct passes *p = context;
    return p->options->clock ? p->options->clock(p->options->context) : clock_seconds();
}

static void end_tuning(struct passes *p)
{
    if (p->tuning)
        graph_tuning_free(p->tuning);
    p->tuning = NULL;
}

static double slice_of(const struct passes *p)
{
    return SHARE_OF_SLICE * p->options->seconds;
}

static void begin_tuning(struct passes *p, const struct graph *g)
{
    const struct tuning_options options = {.seconds = slice_of(p),
                                           .seed = p->options->seed,
                                           .learns = !p->options->learns_nothing,
                                           .reuses = true,
                                           .clock = clock_of,
                                           .context = p};
    end_tuning(p);
    p->tuning = graph_tuning_new(p->backend, g, LAYOUTS_TUNED, &options);
}

// Schedules of another plan are begun anew: the database knows what was tried.
static bool work(void *context, const struct joint_candidate *best, size_t pass)
{
    struct passes *p = context;
    struct error ignored = {0};
    const struct graph *g = graph_of(p, best)->graph;
    if (pass != PASS_SCHEDULES || !p->backend->methods->list_spaces)
        return false;
    put_in_force(p, best);
    if (!p->tuning || !graph_tuning_holds(p->tuning, p->backend, g, LAYOUTS_TUNED))
        begin_tuning(p, g);
    p->in_force = NULL;
    return p->tuning && plan_tuning_advance(graph_tuning_of_plan(p->tuning), slice_of(p), &ignored);
}

static void tell(void *context, double before, const struct joint_candidate *best)
{
    struct passes *p = context;
    if (p->options->progress)
        p->options->progress(p->options->context, before, best->cost, p->n_evaluated);
    saving_consider(&p->saving, p->backend);
}

// --- from beginning to end -------------------------------------------------------------------------------------------

static struct joint_problem problem_of(struct passes *p)
{
    const struct passes_options *o = p->options;
    return (struct joint_problem){.context = p,
                                  .n_passes = N_TUNED_PASSES,
                                  .seed = o->seed,
                                  .list_nodes = list_nodes,
                                  .evaluate = evaluate,
                                  .work = work,
                                  .recall = o->has_store ? recall : NULL,
                                  .keep = o->has_store ? keep : NULL,
                                  .clock = clock_of,
                                  .tell = tell};
}

static void know_graphs(struct passes *p)
{
    for (size_t i = 0; i < p->options->n_graphs; i++) {
        struct known_graph k = know_graph(p->options->graphs[i]);
        note_fusible_nodes(p, &k);
        look_at_best_layouts(p, &k);
        vec_push(&p->graphs, k);
    }
}

static void forget_graphs(struct passes *p)
{
    for (size_t i = 0; i < p->graphs.count; i++)
        forget_graph(&p->graphs.items[i]);
    vec_free(&p->graphs);
}

bool passes_search(struct passes *p, const struct passes_options *options, struct passes_report *ret_report,
                   struct error *error)
{
    struct pass_schedule schedule;
    struct joint_candidate best = {0};
    struct error ignored = {0};
    enum layout_policy former = p->backend->policy;
    const struct tuned_passes *former_tuned = p->backend->tuned;
    if (!pass_schedule_parse(&schedule, options->schedule ? options->schedule : standard_pass_schedule, pass_names,
                             N_TUNED_PASSES, error))
        return false;
    *ret_report = (struct passes_report){0};
    p->options = options;
    know_graphs(p);
    const struct joint_problem problem = problem_of(p);
    joint_search(&problem, &schedule, options->seconds, options->most_steps, &best, &ret_report->joint);
    end_tuning(p);
    ret_report->graph =
        best.of[PASS_GRAPH].settings.count ? best.of[PASS_GRAPH].settings.items[0].value : options->standard_graph;
    backend_save_costs(p->backend, &ignored);
    joint_candidate_free(&best);
    forget_graphs(p);
    p->backend->policy = former;
    p->backend->tuned = former_tuned;
    return true;
}
