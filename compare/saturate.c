// Explores an e-graph of both models near to what they share, one round at a time, further and further while nothing
// is found.
#include "compare/saturate.h"

#include "compare/concatenations.h"
#include "compare/constants.h"
#include "compare/nestings.h"
#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "egraph/convert.h"
#include "egraph/explore.h"
#include "operators/traits.h"

// How far the search reaches. What is near to what the models share is rewritten by small rules first; without
// progress it reaches further, and with progress it begins anew. Rules with several outputs join pairs of products,
// and their results again: each round of them squares the number of terms. What a large rule makes (the convolutions
// of Winograd) is only put in order by small ones. Simplifying ends by itself, and may reach far.
static const struct reach {
    uint32_t depth;                  // operators between a node and what is shared
    uint32_t operators;              // of a rule's source or target, the larger one
    uint32_t rounds, multi_rounds;   // the latter: of those, the last ones
    bool begins_anew;
    bool simplifies;   // rules that leave fewer operators, or fewer concatenations, may have any number of operators
} reaches[] = {{1, 4, 2, 0, false},        {1, 4, 3, 1, false}, {2, 4, 4, 0, false}, {3, UINT32_MAX, 1, 0, true},
               {10, 2, 6, 0, false, true}, {3, 4, 5, 1, true},  {2, 6, 5, 3, false}, {2, UINT32_MAX, 3, 2, false},
               {4, 6, 4, 2, false},        {8, 8, 6, 2, false}};
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
    enode_id *ids;        // of every tensor of the models
    size_t n_of_models;   // e-nodes that the models have
    struct exploration x;
    struct constants constants;
    struct shared_classes shared;
    VEC(bool) is_shared;      // of every class
    VEC(uint32_t) depths;     // of every class: UINT32_MAX: it stands on nothing that is shared
    VEC(bool) is_open;        // of every class: an output that is not known to be equal needs it, by what is not shared
    VEC(bool) is_of_models;   // of every class: it has a tensor of the models
    VEC(bool) is_repeated;    // of every class: an operator that repeats what it reads makes it
    VEC(eclass_id) stack;
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
    x->n_of_models = x->e.nodes.count;
}

// Each class of tensors has the name of its first one.
static void note_classes(struct saturating *x)
{
    size_t n = x->c->graph.tensors.count;
    LOCAL_ARRAY(tensor_id, first, x->e.nodes.count + 1);
    for (size_t i = 0; i < x->e.nodes.count; i++)
        first[i] = NO_TENSOR;
    for (tensor_id t = 0; t < n; t++) {
        if (x->ids[t] == NO_ENODE)
            continue;
        tensor_id *of_class = &first[egraph_find(&x->e, x->ids[t])];
        *of_class = *of_class == NO_TENSOR ? t : *of_class;
        x->c->class_of[t] = *of_class;
    }
    shared_classes_free(&x->shared);
    shared_classes_init(&x->shared, x->c);
}

static void join_constants(struct saturating *x)
{
    note_classes(x);
    while (constants_join(&x->constants, &x->shared) || concatenations_join(&x->constants, &x->shared))
        note_classes(x);
}

static void add_given_facts(struct saturating *x)
{
    egraph_nest_concats_and_splits(&x->e);
    egraph_rebuild(&x->e);
    join_constants(x);
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

static void open_class(struct saturating *x, eclass_id c)
{
    if (x->is_shared.items[c] || x->is_open.items[c])
        return;
    x->is_open.items[c] = true;
    vec_push(&x->stack, c);
}

static void open_what_is_read(struct saturating *x)
{
    while (x->stack.count) {
        eclass_id c = vec_pop(&x->stack);
        for (enode_id n = egraph_first_node(&x->e, c); n != NO_ENODE; n = egraph_next_node(&x->e, c, n))
            for (uint32_t i = 0; i < x->e.nodes.items[n].n_children; i++)
                open_class(x, egraph_edges(&x->e, n)[i].child);
    }
}

static bool reads_open(const struct saturating *x, enode_id n)
{
    return ANY(uint32_t, i, x->e.nodes.items[n].n_children, x->is_open.items[egraph_edges(&x->e, n)[i].child]);
}

// A class that facts and rules made of open ones is open, although nothing may need it yet.
static bool open_readers(struct saturating *x)
{
    bool is_any_new = false;
    for (enode_id n = 0; n < x->e.nodes.count; n++) {
        eclass_id c = egraph_find(&x->e, n);
        if (x->is_of_models.items[c] || x->is_shared.items[c] || x->is_open.items[c] || !reads_open(x, n))
            continue;
        open_class(x, c);
        open_what_is_read(x);
        is_any_new = true;
    }
    return is_any_new;
}

// Marks all that outputs need that are not known to be equal: the rest of the models has no part in it any more.
static void mark_open(struct saturating *x)
{
    vec_clear(&x->is_open);
    vec_clear(&x->is_of_models);
    for (enode_id n = 0; n < x->e.nodes.count; n++) {
        vec_push(&x->is_open, false);
        vec_push(&x->is_of_models, false);
    }
    for (tensor_id t = 0; t < x->c->graph.tensors.count; t++)
        if (x->ids[t] != NO_ENODE)
            x->is_of_models.items[egraph_find(&x->e, x->ids[t])] = true;
    for (size_t i = 0; i < x->c->n_outputs; i++)
        for (int side = 0; side < 2; side++)
            open_class(x, egraph_find(&x->e, x->ids[x->c->sides[side].outputs[i]]));
    open_what_is_read(x);
    while (open_readers(x))
        continue;
}

static uint32_t depth_of_node(const struct saturating *x, enode_id n)
{
    const struct enode *node = &x->e.nodes.items[n];
    uint32_t depth =
        LARGEST(uint32_t, 0, uint32_t, i, node->n_children, x->depths.items[egraph_edges(&x->e, n)[i].child]);
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

// Classes with an application of an operator that repeats what it reads: asked for each e-node that reads them.
static void mark_repeated(struct saturating *x)
{
    vec_clear(&x->is_repeated);
    for (enode_id n = 0; n < x->e.nodes.count; n++)
        vec_push(&x->is_repeated, false);
    for (enode_id n = 0; n < x->e.nodes.count; n++)
        if (egraph_operator(&x->e, n) && operator_repeats(egraph_operator(&x->e, n)))
            x->is_repeated.items[egraph_find(&x->e, n)] = true;
}

// Constants are computed and not rewritten, but for what rules made of repeated ones: that is large, and what is
// repeated is not.
static bool is_made_of_repeated(const struct saturating *x, enode_id n)
{
    const struct enode *node = &x->e.nodes.items[n];
    return n >= x->n_of_models && node->n_children > 1 &&
           x->is_repeated.items[egraph_find(&x->e, egraph_edges(&x->e, n)[0].child)];
}

static bool is_root(void *context, enode_id n)
{
    const struct saturating *x = context;
    eclass_id c = egraph_find(&x->e, n);
    return x->is_open.items[c] && (!x->e.classes.items[c].is_weight || is_made_of_repeated(x, n)) &&
           x->depths.items[c] <= x->reach->depth;
}

static void note_needed(const struct pattern *p, const term_id *terms, uint32_t n, bool *is_needed)
{
    for (uint32_t i = 0; i < n; i++)
        if (!p->terms.items[terms[i]].is_variable)
            is_needed[p->terms.items[terms[i]].index] = true;
}

static uint32_t count_concatenations(const struct pattern *p, const term_id *terms, uint32_t n)
{
    bool is_needed[MAX_RULE_NODES] = {false};
    uint32_t count = 0;
    note_needed(p, terms, n, is_needed);
    for (size_t k = p->nodes.count; k-- > 0;)
        if (is_needed[k]) {
            count += operator_joins(p->nodes.items[k].op);
            note_needed(p, p->nodes.items[k].inputs, p->nodes.items[k].n_inputs, is_needed);
        }
    return count;
}

static bool takes_concatenations_apart(const struct rule *r)
{
    return count_concatenations(&r->pattern, r->targets, r->n_outputs) <
           count_concatenations(&r->pattern, r->sources, r->n_outputs);
}

static bool is_rule_used(void *context, const struct rule *r)
{
    const struct saturating *x = context;
    size_t n_target = r->pattern.nodes.count - r->n_source_nodes;
    size_t n_operators = n_target > r->n_source_nodes ? n_target : r->n_source_nodes;
    bool is_simpler = n_target < r->n_source_nodes || takes_concatenations_apart(r);
    return n_operators <= x->reach->operators || (x->reach->simplifies && is_simpler);
}

// --- rounds ----------------------------------------------------------------------------------------------------------

static void begin(struct saturating *x)
{
    egraph_init(&x->e);
    x->ids = mem_new_array(enode_id, x->c->graph.tensors.count + 1);
    add_models(x);
    constants_begin(&x->constants, &x->e, x->ids);
    add_given_facts(x);
    struct exploration_options options = exploration_standard_options;
    options.most_nodes = x->e.nodes.count + x->budget->most_nodes;
    options.rounds = 1;
    options.threads = 1;
    options.filtering = CYCLES_KEPT;
    options.is_root = is_root;
    options.is_used = is_rule_used;
    options.may_share = true;
    options.context = x;
    exploration_init(&x->x, &x->e, x->rules, &options);
}

static void end(struct saturating *x)
{
    constants_end(&x->constants);
    exploration_free(&x->x);
    egraph_free(&x->e);
    mem_free_array(x->ids, x->c->graph.tensors.count + 1);
}

// A class that was no place to begin at before may be one now: all is searched anew.
static void explore(struct saturating *x, uint32_t round)
{
    for (size_t i = 0; i < x->rules->rules.count; i++)
        x->x.of_rules.items[i].since = 0;
    mark_shared(x);
    mark_open(x);
    measure_depths(x);
    mark_repeated(x);
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

// Rounds of one reach, and more while each finds something: what led to it may lead further. True: the models have more
// in common than before.
static bool makes_progress(struct saturating *x)
{
    size_t before = x->shared.count, last = before;
    x->x.end = EXPLORATION_ROUNDS;
    for (uint32_t round = 0; (round < x->reach->rounds || x->shared.count > last) && x->x.end == EXPLORATION_ROUNDS &&
                             !common_outputs_are_equal(x->c) && !has_to_stop(x);
         round++) {
        last = x->shared.count;
        explore(x, round);
    }
    return x->shared.count > before;
}

static void begin_anew(struct saturating *x)
{
    end(x);
    begin(x);
}

// The first of the reaches that lead to one, from an e-graph without what others made.
static size_t first_of(size_t reach)
{
    while (reach > 0 && !reaches[reach].begins_anew)
        reach--;
    return reach;
}

// Layers are often alike: what found something is tried first behind it, and then all from the nearest on.
static void rewrite_until_equal(struct saturating *x)
{
    size_t reach = 0, found = N_REACHES;   // N_REACHES: what found something last was tried
    while (!common_outputs_are_equal(x->c) && reach < N_REACHES && !has_to_stop(x)) {
        x->reach = &reaches[reach];
        bool is_better = makes_progress(x), is_full = x->x.end == EXPLORATION_NODES;
        bool is_repeated = !is_better && reach == found;
        x->s->is_exhausted = !is_better && (is_full || x->s->is_exhausted);
        found = is_better ? reach : is_repeated ? N_REACHES : found;
        reach = is_better ? first_of(reach) : is_repeated ? 0 : reach + 1;
        if (is_better || is_full || is_repeated || (reach < N_REACHES && reaches[reach].begins_anew))
            begin_anew(x);
    }
    x->s->is_exhausted = !common_outputs_are_equal(x->c) && (x->s->is_exhausted || has_to_stop(x));
}

static size_t count_live(const struct common_graph *c)
{
    return SUM_ALL(size_t, node_id, n, c->n_nodes,
                   c->sides[0].is_live[n] || c->sides[1].is_live[n] ? c->graph.nodes.items[n].n_outputs : 0);
}

void common_graph_saturate(struct common_graph *c, const struct rule_set *rules, const struct saturation_budget *budget,
                           struct saturation *ret_saturation)
{
    struct saturating x = {.c = c, .rules = rules, .budget = budget, .s = ret_saturation};
    *ret_saturation = (struct saturation){0};
    shared_classes_init(&x.shared, c);
    constants_init(&x.constants, c);
    begin(&x);
    x.n_shared_at_start = x.shared.count;
    progress_start(&x.progress, budget->progress, "rules", count_live(c) - x.shared.count);
    if (rules->rules.count)
        rewrite_until_equal(&x);
    progress_end(&x.progress);
    end(&x);
    ret_saturation->constants = x.constants.n_computed;
    ret_saturation->rounded = x.constants.n_rounded;
    ret_saturation->largest_rounding = x.constants.largest_rounding;
    constants_free(&x.constants);
    shared_classes_free(&x.shared);
    vecs_free(&x, is_shared, depths, is_open, is_repeated, is_of_models, stack);
}
