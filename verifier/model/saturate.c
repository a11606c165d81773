// Explores an e-graph of both models near to what they share, one round at a time, further and further while nothing
// is found.
#include "verifier/model/saturate.h"

#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "egraph/convert.h"
#include "egraph/explore.h"
#include "verifier/model/concatenations.h"
#include "verifier/model/constants.h"
#include "verifier/model/nested_splits.h"

// How far the search reaches. What is near to what the models share is rewritten by small rules first; without
// progress it reaches further, and with progress it begins anew. Rules with several outputs join pairs of products,
// and their results again: each round of them squares the number of terms.
static const struct reach {
    uint32_t depth;                  // operators between a node and what is shared
    uint32_t operators;              // of a rule's source or target, the larger one
    uint32_t rounds, multi_rounds;   // the latter: of those, the last ones
} reaches[] = {{1, 4, 2, 0}, {1, 4, 3, 1}, {2, 6, 5, 3}, {2, UINT32_MAX, 3, 2}, {4, 6, 4, 2}, {8, 8, 6, 2}};
#define N_REACHES (sizeof reaches / sizeof *reaches)

struct saturating {
    struct common_graph *c;
    const struct rule_set *rules;
    const struct saturation_budget *budget;
    struct saturation *s;
    const struct reach *reach;
    struct progress progress;
    size_t n_shared_at_start;
    struct egraph e;
    enode_id *ids;   // of every tensor of the models
    struct exploration x;
    struct constants constants;
    struct shared_classes shared;
    concatenations concatenations;
    VEC(bool) is_shared;    // of every class
    VEC(uint32_t) depths;   // of every class: UINT32_MAX: it stands on nothing that is shared
};

// --- the e-graph -----------------------------------------------------------------------------------------------------

static void add_models(struct saturating *x)
{
    struct graph *g = &x->c->graph;
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < x->c->n_outputs; i++)
            graph_add_output(g, x->c->sides[side].outputs[i]);
    egraph_add_graph(&x->e, g, x->ids);
    vec_clear(&g->outputs);
    for (tensor_id t = 0; t < g->tensors.count; t++)
        if (x->ids[t] != NO_ENODE && x->ids[x->c->class_of[t]] != NO_ENODE)
            egraph_union(&x->e, x->ids[x->c->class_of[t]], x->ids[t], REASON_GIVEN);
    egraph_rebuild(&x->e);
    egraph_add_nested_splits(&x->e);
    concatenations_add(&x->concatenations, &x->e, x->ids);
    egraph_rebuild(&x->e);
}

// Each class of tensors has the name of its first one.
static void note_classes(struct saturating *x)
{
    size_t n = x->c->graph.tensors.count;
    tensor_id *first = mem_new_array(tensor_id, x->e.nodes.count + 1);
    for (size_t i = 0; i < x->e.nodes.count; i++)
        first[i] = NO_TENSOR;
    for (tensor_id t = 0; t < n; t++) {
        if (x->ids[t] == NO_ENODE)
            continue;
        tensor_id *of_class = &first[egraph_find(&x->e, x->ids[t])];
        *of_class = *of_class == NO_TENSOR ? t : *of_class;
        x->c->class_of[t] = *of_class;
    }
    mem_free_array(first, x->e.nodes.count + 1);
    shared_classes_free(&x->shared);
    shared_classes_init(&x->shared, x->c);
}

static void join_constants(struct saturating *x)
{
    size_t before = x->constants.n_computed;
    note_classes(x);
    while (constants_join(&x->constants, &x->shared))
        note_classes(x);
    x->s->constants += x->constants.n_computed - before;
}

// --- where to rewrite ------------------------------------------------------------------------------------------------

// A tuple is shared where all of its outputs that somebody reads are.
static void mark_shared(struct saturating *x)
{
    const struct egraph *e = &x->e;
    vec_clear(&x->is_shared);
    for (enode_id n = 0; n < e->nodes.count; n++)
        vec_push(&x->is_shared, !egraph_is_tensor(e, n));
    for (tensor_id t = 0; t < x->c->graph.tensors.count; t++)
        if (x->ids[t] != NO_ENODE && x->shared.is_shared[t])
            x->is_shared.items[egraph_find(e, x->ids[t])] = true;
    for (enode_id n = 0; n < e->nodes.count; n++)
        if (e->nodes.items[n].op == PROJECTION && !x->is_shared.items[egraph_find(e, n)])
            x->is_shared.items[egraph_find(e, egraph_edges(e, n)[0].child)] = false;
}

static uint32_t depth_of_node(const struct saturating *x, enode_id n)
{
    const struct enode *node = &x->e.nodes.items[n];
    uint32_t depth = 0;
    for (uint32_t i = 0; i < node->n_children; i++) {
        uint32_t below = x->depths.items[egraph_edges(&x->e, n)[i].child];
        depth = below > depth ? below : depth;
    }
    bool counts = node->op != PROJECTION && node->n_children > 0;
    return depth == UINT32_MAX ? depth : depth + counts;
}

// How many operators stand between a class and what is shared, on the longest way of its shortest term.
static void measure_depths(struct saturating *x)
{
    const struct egraph *e = &x->e;
    bool is_changed = true;
    vec_clear(&x->depths);
    for (enode_id n = 0; n < e->nodes.count; n++)
        vec_push(&x->depths, x->is_shared.items[n] || e->classes.items[n].is_weight ? 0 : UINT32_MAX);
    while (is_changed) {
        is_changed = false;
        for (enode_id n = 0; n < e->nodes.count; n++) {
            uint32_t *known = &x->depths.items[egraph_find(e, n)];
            uint32_t depth = e->nodes.items[n].is_redundant ? UINT32_MAX : depth_of_node(x, n);
            is_changed = is_changed || depth < *known;
            *known = depth < *known ? depth : *known;
        }
    }
}

static bool is_root(void *context, enode_id n)
{
    const struct saturating *x = context;
    eclass_id c = egraph_find(&x->e, n);
    return !x->is_shared.items[c] && !x->e.classes.items[c].is_weight && x->depths.items[c] <= x->reach->depth;
}

static bool is_rule_used(void *context, const struct rule *r)
{
    const struct saturating *x = context;
    size_t n_target = r->pattern.nodes.count - r->n_source_nodes;
    size_t n_operators = n_target > r->n_source_nodes ? n_target : r->n_source_nodes;
    return n_operators <= x->reach->operators;
}

// --- rounds ----------------------------------------------------------------------------------------------------------

static void begin(struct saturating *x)
{
    egraph_init(&x->e, 0);
    x->ids = mem_new_array(enode_id, x->c->graph.tensors.count + 1);
    add_models(x);
    struct exploration_options options = exploration_standard_options;
    options.most_nodes = x->e.nodes.count + x->budget->most_nodes;
    options.rounds = 1;
    options.threads = 1;
    options.filtering = CYCLES_KEPT;
    options.is_root = is_root;
    options.is_used = is_rule_used;
    options.context = x;
    exploration_init(&x->x, &x->e, x->rules, &options);
    constants_init(&x->constants, x->c, &x->e, x->ids);
    join_constants(x);
}

static void end(struct saturating *x)
{
    constants_free(&x->constants);
    exploration_free(&x->x);
    egraph_free(&x->e);
    mem_free_array(x->ids, x->c->graph.tensors.count + 1);
}

// What was no place to begin at before may be one now: all is searched anew.
static void explore(struct saturating *x, uint32_t round)
{
    for (size_t i = 0; i < x->rules->rules.count; i++)
        x->x.of_rules.items[i].since = 0;
    mark_shared(x);
    measure_depths(x);
    x->x.options.k_multi = round + x->reach->multi_rounds >= x->reach->rounds;
    size_t before = x->x.applications.count;
    exploration_run(&x->x);
    x->s->unions += x->x.applications.count - before;
    x->s->rounds++;
    join_constants(x);
    progress_update(&x->progress, x->shared.count - x->n_shared_at_start, "round %u, %zu e-nodes", x->s->rounds,
                    x->e.n_live);
}

static bool has_to_stop(const struct saturating *x)
{
    return interrupt_requested() || x->s->rounds >= x->budget->most_rounds;
}

// Rounds of one reach. True: the models have more in common than before.
static bool makes_progress(struct saturating *x)
{
    size_t before = x->shared.count;
    x->x.end = EXPLORATION_ROUNDS;
    for (uint32_t round = 0; round < x->reach->rounds && x->x.end == EXPLORATION_ROUNDS && !has_to_stop(x); round++) {
        explore(x, round);
        if (x->shared.count > before)
            return true;
    }
    return false;
}

static void begin_anew(struct saturating *x)
{
    end(x);
    begin(x);
}

static void rewrite_until_equal(struct saturating *x)
{
    size_t reach = 0;
    while (!common_outputs_are_equal(x->c) && reach < N_REACHES && !has_to_stop(x)) {
        x->reach = &reaches[reach];
        bool is_better = makes_progress(x), is_full = x->x.end == EXPLORATION_NODES;
        x->s->is_exhausted = !is_better && (is_full || x->s->is_exhausted);
        reach = is_better ? 0 : reach + 1;
        if (is_better || is_full)
            begin_anew(x);
    }
    x->s->is_exhausted = !common_outputs_are_equal(x->c) && (x->s->is_exhausted || has_to_stop(x));
}

static size_t count_live(const struct common_graph *c)
{
    size_t count = 0;
    for (node_id n = 0; n < c->n_nodes; n++)
        count += c->sides[0].is_live[n] || c->sides[1].is_live[n] ? c->graph.nodes.items[n].n_outputs : 0;
    return count;
}

void common_graph_saturate(struct common_graph *c, const struct rule_set *rules, const struct saturation_budget *budget,
                           struct saturation *ret_saturation)
{
    struct saturating x = {.c = c, .rules = rules, .budget = budget, .s = ret_saturation};
    *ret_saturation = (struct saturation){0};
    shared_classes_init(&x.shared, c);
    concatenations_find(c, &x.shared, &x.concatenations);
    begin(&x);
    x.n_shared_at_start = x.shared.count;
    progress_start(&x.progress, budget->progress, "rules", count_live(c) - x.shared.count);
    if (rules->rules.count)
        rewrite_until_equal(&x);
    progress_end(&x.progress);
    end(&x);
    shared_classes_free(&x.shared);
    vec_free(&x.concatenations);
    vec_free(&x.is_shared);
    vec_free(&x.depths);
}
