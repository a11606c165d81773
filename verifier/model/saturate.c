// Applies proved rules to both models until outputs meet or the budget is used.
#include "verifier/model/saturate.h"

#include "backends/reference/reference.h"
#include "core/error.h"
#include "substitutions/match.h"

#define MOST_MATCHES_OF_A_RULE 64         // at one node, in one round
#define MOST_CONSTANT_ENTRIES (1 << 28)   // computed between two findings

// How far the search reaches. What is near to what the models share is rewritten by small rules first; without
// progress it reaches further, and with progress it begins anew.
static const struct reach {
    uint32_t depth;       // operators between a node and what is shared
    uint32_t operators;   // of a rule's source or target, the larger one
    uint32_t rounds;
} reaches[] = {{1, 4, 2}, {1, UINT32_MAX, 1}, {2, 4, 3}, {3, UINT32_MAX, 1}, {4, 6, 3}, {8, 8, 3}};
#define N_REACHES (sizeof reaches / sizeof *reaches)

// --- what is shared --------------------------------------------------------------------------------------------------

static void mark_classes_of(const struct common_graph *c, const struct equalities *e, int side, bool *ret_present)
{
    const struct graph *g = &c->graph;
    for (node_id n = 0; n < c->n_nodes; n++)
        for (uint32_t i = 0; c->sides[side].is_live[n] && i < g->nodes.items[n].n_outputs; i++)
            ret_present[e->class_of.items[g->nodes.items[n].first_output + i]] = true;
}

void shared_classes_init(struct shared_classes *ret_shared, const struct common_graph *c, const struct equalities *e)
{
    size_t n = c->graph.tensors.count;
    bool *other = mem_alloc_zero(n + 1);
    *ret_shared = (struct shared_classes){.is_shared = mem_alloc_zero(n + 1), .n_tensors = n};
    mark_classes_of(c, e, 0, ret_shared->is_shared);
    mark_classes_of(c, e, 1, other);
    for (size_t t = 0; t < n; t++)
        other[t] = other[t] && ret_shared->is_shared[t];
    for (size_t t = 0; t < n; t++)
        ret_shared->is_shared[t] = other[e->class_of.items[t]];
    for (node_id node = 0; node < c->n_nodes; node++)
        for (uint32_t i = 0; i < c->graph.nodes.items[node].n_outputs; i++)
            ret_shared->count += ret_shared->is_shared[c->graph.nodes.items[node].first_output + i];
    mem_free(other, n + 1);
}

void shared_classes_free(struct shared_classes *shared)
{
    mem_free(shared->is_shared, shared->n_tensors + 1);
}

bool common_outputs_are_equal(const struct common_graph *c, const struct equalities *e)
{
    for (size_t i = 0; i < c->n_outputs; i++)
        if (!equalities_hold(e, c->sides[0].outputs[i], c->sides[1].outputs[i]))
            return false;
    return true;
}

// --- constants -------------------------------------------------------------------------------------------------------
// A tensor that rules made of weights is computed when it could be a weight of one of the models.

struct saturating {
    struct common_graph *c;
    struct equalities *e;
    struct saturation *s;
    struct arena scratch;
    VEC(bool) is_tried;   // of every tensor: was it computed before?
    int64_t entries;      // computed since the last finding
    const struct reach *reach;
    struct graph_mark models;   // what is theirs
    size_t n_words;             // of a set of weights
    uint64_t *weights_of;       // of every tensor, by class: the set of weights that a constant is made of
    VEC(struct match) matches;
    size_t n_of_rule;
};

static bool is_weight_leaf(const struct graph *g, tensor_id t)
{
    return graph_producer(g, t)->op->id == OP_WEIGHT;
}

static tensor_id leaf_of_class(const struct saturating *x, tensor_id t)
{
    tensor_id at = t;
    do {
        if (is_weight_leaf(&x->c->graph, at))
            return at;
        at = x->e->next_equal.items[at];
    } while (at != t);
    return NO_TENSOR;
}

static bool compute(struct saturating *x, tensor_id t, struct tensor_value *ret_value)
{
    const struct graph *g = &x->c->graph;
    tensor_id leaf = leaf_of_class(x, t);
    const struct node *node = graph_producer(g, t);
    struct error ignored;
    if (leaf != NO_TENSOR) {
        *ret_value = x->c->weights.items[graph_producer(g, leaf)->attributes[0].ints[0]].value;
        return ret_value->data != NULL;
    }
    if (!node->op->define || node->n_inputs == 0 || !type_is_known(graph_type(g, t)))
        return false;
    struct tensor_value *inputs = arena_array(&x->scratch, struct tensor_value, node->n_inputs + 1);
    struct tensor_value *outputs = arena_array(&x->scratch, struct tensor_value, node->n_outputs + 1);
    node_id n = g->tensors.items[t].producer;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        if (!compute(x, graph_inputs(g, n)[i], &inputs[i]))
            return false;
    x->entries += type_elements(graph_type(g, t));
    if (x->entries > MOST_CONSTANT_ENTRIES || !reference_run_node(g, n, inputs, outputs, &x->scratch, &ignored))
        return false;
    *ret_value = outputs[g->tensors.items[t].output];
    return true;
}

static bool is_wanted(const struct saturating *x, const struct shared_classes *shared, tensor_id t)
{
    const struct graph *g = &x->c->graph;
    for (node_id n = 0; n < x->c->n_nodes; n++) {
        tensor_id leaf = g->nodes.items[n].first_output;
        if (g->nodes.items[n].op->id == OP_WEIGHT && !shared->is_shared[leaf] &&
            type_equal(graph_type(g, leaf), graph_type(g, t)))
            return true;
    }
    return false;
}

// Of every tensor: is it made of weights alone?
static void mark_constants(const struct saturating *x, bool *ret_constant)
{
    const struct graph *g = &x->c->graph;
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        bool is_constant = node->op->id == OP_WEIGHT || (node->op->define && node->n_inputs > 0);
        for (uint32_t i = 0; i < node->n_inputs; i++)
            is_constant = is_constant && ret_constant[graph_inputs(g, n)[i]];
        for (uint32_t i = 0; i < node->n_outputs; i++)
            ret_constant[node->first_output + i] = is_constant;
    }
}

static void compute_if_wanted(struct saturating *x, const struct shared_classes *shared, tensor_id t)
{
    struct arena_mark mark = arena_mark(&x->scratch);
    struct tensor_value value;
    if (leaf_of_class(x, t) != NO_TENSOR || !is_wanted(x, shared, t))
        return;
    x->is_tried.items[t] = true;
    if (compute(x, t, &value)) {
        tensor_id leaf = common_graph_find_weight(x->c, &value);
        x->s->constants++;
        if (leaf != NO_TENSOR)
            equalities_join(x->e, leaf, t);
    }
    arena_release(&x->scratch, mark);
}

static void compute_constants(struct saturating *x)
{
    size_t n = x->c->graph.tensors.count;
    struct shared_classes shared;
    bool *is_constant = mem_alloc_zero(n + 1);
    while (x->is_tried.count < n)
        vec_push(&x->is_tried, false);
    shared_classes_init(&shared, x->c, x->e);
    mark_constants(x, is_constant);
    for (tensor_id t = 0; t < n; t++)
        if (is_constant[t] && !x->is_tried.items[t])
            compute_if_wanted(x, &shared, t);
    shared_classes_free(&shared);
    mem_free(is_constant, n + 1);
    equalities_close(x->e);
}

// --- where to rewrite ------------------------------------------------------------------------------------------------

// By class: how many operators stand between the tensor and what is shared, on the longest way of the shortest term.
static void measure_depths(const struct saturating *x, const struct shared_classes *shared, const bool *is_constant,
                           uint32_t *ret_depths)
{
    const struct graph *g = &x->c->graph;
    const tensor_id *class_of = x->e->class_of.items;
    bool is_changed = true;
    for (tensor_id t = 0; t < g->tensors.count; t++)
        ret_depths[t] = UINT32_MAX;
    for (tensor_id t = 0; t < g->tensors.count; t++)
        if (shared->is_shared[t] || is_constant[t])
            ret_depths[class_of[t]] = 0;
    while (is_changed) {
        is_changed = false;
        for (node_id n = 0; n < g->nodes.count; n++) {
            const struct node *node = &g->nodes.items[n];
            uint32_t depth = 0;
            for (uint32_t i = 0; i < node->n_inputs; i++) {
                uint32_t below = ret_depths[class_of[graph_inputs(g, n)[i]]];
                depth = below > depth ? below : depth;
            }
            depth = depth == UINT32_MAX ? depth : node->n_inputs ? depth + 1 : 0;
            for (uint32_t i = 0; i < node->n_outputs; i++) {
                uint32_t *known = &ret_depths[class_of[node->first_output + i]];
                is_changed = is_changed || depth < *known;
                *known = depth < *known ? depth : *known;
            }
        }
    }
}

static bool is_active(const struct saturating *x, const struct shared_classes *shared, const uint32_t *depths,
                      const bool *is_constant, node_id n)
{
    const struct node *node = &x->c->graph.nodes.items[n];
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        tensor_id t = node->first_output + i;
        if (!shared->is_shared[t] && !is_constant[t] && depths[x->e->class_of.items[t]] <= x->reach->depth)
            return true;
    }
    return false;
}

// --- rewriting -------------------------------------------------------------------------------------------------------

static uint64_t *weights_of(const struct saturating *x, tensor_id t)
{
    return x->weights_of + x->n_words * x->e->class_of.items[t];
}

static void collect_weights(struct saturating *x, const bool *is_constant)
{
    const struct graph *g = &x->c->graph;
    x->n_words = x->c->weights.count / 64 + 1;
    x->weights_of = mem_alloc_zero((g->tensors.count + 1) * x->n_words * sizeof *x->weights_of);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        for (uint32_t i = 0; i < node->n_outputs && is_constant[node->first_output + i]; i++) {
            uint64_t *set = weights_of(x, node->first_output + i);
            if (node->op->id == OP_WEIGHT)
                set[node->attributes[0].ints[0] / 64] |= (uint64_t)1 << node->attributes[0].ints[0] % 64;
            for (uint32_t k = 0; k < node->n_inputs; k++)
                for (size_t w = 0; w < x->n_words; w++)
                    set[w] |= weights_of(x, graph_inputs(g, n)[k])[w];
        }
    }
}

// Rules with several outputs make one operator of two. Of two that have a weight in common that leads nowhere but to
// larger and larger ones.
static bool reads_a_weight_twice(const struct saturating *x, const struct match *m)
{
    for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++)
        for (uint32_t w = 0; w < v; w++)
            for (size_t i = 0; m->variables[v] != NO_TENSOR && m->variables[w] != NO_TENSOR && i < x->n_words; i++)
                if (weights_of(x, m->variables[v])[i] & weights_of(x, m->variables[w])[i])
                    return true;
    return false;
}

static bool collect_match(void *context, const struct match *m)
{
    struct saturating *x = context;
    if (m->rule->n_outputs > 1 && reads_a_weight_twice(x, m))
        return true;
    vec_push(&x->matches, *m);
    return ++x->n_of_rule < MOST_MATCHES_OF_A_RULE;
}

static uint32_t operators_of_rule(const struct rule *r)
{
    uint32_t n_target = (uint32_t)r->pattern.nodes.count - r->n_source_nodes;
    return n_target > r->n_source_nodes ? n_target : r->n_source_nodes;
}

static void match_at(struct saturating *x, const struct match_index *index, const struct rule_set *rules, node_id n)
{
    for (size_t i = 0; i < rules->rules.count; i++) {
        const struct rule *r = rules->rules.items[i];
        const struct term *first = &r->pattern.terms.items[r->sources[0]];
        x->n_of_rule = 0;
        if (operators_of_rule(r) <= x->reach->operators && !first->is_variable &&
            r->pattern.nodes.items[first->index].op == x->c->graph.nodes.items[n].op)
            rule_match(r, index, n, &x->scratch, collect_match, x);
    }
}

// All nodes are of interest, whatever the outputs: each is an output for the time of the search.
static void make_index(struct saturating *x, struct match_index *ret_index)
{
    struct graph *g = &x->c->graph;
    for (tensor_id t = 0; t < g->tensors.count; t++)
        graph_add_output(g, t);
    match_index_init(ret_index, g);
    vec_clear(&g->outputs);
    ret_index->class_of = x->e->class_of.items;
    ret_index->next_equal = x->e->next_equal.items;
}

static void collect_matches(struct saturating *x, const struct shared_classes *shared, const struct rule_set *rules)
{
    const struct graph *g = &x->c->graph;
    size_t n = g->tensors.count;
    uint32_t *depths = mem_new_array(uint32_t, n + 1);
    bool *is_constant = mem_alloc_zero(n + 1);
    struct match_index index;
    make_index(x, &index);
    mark_constants(x, is_constant);
    measure_depths(x, shared, is_constant, depths);
    collect_weights(x, is_constant);
    vec_clear(&x->matches);
    for (node_id node = 0; node < g->nodes.count; node++)
        if (is_active(x, shared, depths, is_constant, node))
            match_at(x, &index, rules, node);
    match_index_free(&index);
    mem_free_array(depths, n + 1);
    mem_free(is_constant, n + 1);
    mem_free(x->weights_of, (n + 1) * x->n_words * sizeof *x->weights_of);
}

static void apply_match(struct saturating *x, const struct match *m)
{
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    if (!match_apply(m, &x->c->graph, &x->scratch, old, new))
        return;
    x->s->matches++;
    equalities_grow(x->e);
    for (uint32_t i = 0; i < m->rule->n_outputs; i++)
        equalities_join(x->e, old[i], new[i]);
}

static bool apply_matches(struct saturating *x)
{
    size_t most = x->c->n_nodes + (size_t)x->s->most_nodes;
    for (size_t i = 0; i < x->matches.count; i++) {
        if (x->c->graph.nodes.count >= most)
            return false;
        apply_match(x, &x->matches.items[i]);
    }
    return true;
}

// One round. False: nothing new, or the budget is spent.
static bool rewrite(struct saturating *x, const struct rule_set *rules)
{
    size_t joined = x->e->n_joined, nodes = x->c->graph.nodes.count;
    struct shared_classes shared;
    shared_classes_init(&shared, x->c, x->e);
    collect_matches(x, &shared, rules);
    shared_classes_free(&shared);
    x->s->is_exhausted = !apply_matches(x);
    equalities_close(x->e);
    compute_constants(x);
    return !x->s->is_exhausted && (x->e->n_joined > joined || x->c->graph.nodes.count > nodes);
}

static size_t count_shared(const struct saturating *x)
{
    struct shared_classes shared;
    shared_classes_init(&shared, x->c, x->e);
    size_t count = shared.count;
    shared_classes_free(&shared);
    return count;
}

// Rounds of one reach. True: the models have more in common than before.
static bool makes_progress(struct saturating *x, const struct rule_set *rules)
{
    size_t before = count_shared(x);
    for (uint32_t round = 0; round < x->reach->rounds; round++) {
        x->s->rounds++;
        bool goes_on = rewrite(x, rules);
        if (count_shared(x) > before)
            return true;
        if (!goes_on)
            return false;
    }
    return false;
}

// What rules have added has done its work once two tensors are found to be equal: the next part starts without it.
static void forget_terms(struct saturating *x)
{
    graph_rollback(&x->c->graph, x->models);
    equalities_truncate(x->e, x->models.tensors);
    x->is_tried.count = x->models.tensors;
    x->entries = 0;
}

static void rewrite_until_equal(struct saturating *x, const struct rule_set *rules)
{
    size_t reach = 0;
    while (!common_outputs_are_equal(x->c, x->e) && reach < N_REACHES) {
        x->reach = &reaches[reach];
        bool is_better = makes_progress(x, rules);
        if (is_better || x->s->is_exhausted)
            forget_terms(x);
        reach = is_better ? 0 : reach + 1;
    }
    x->s->is_exhausted = x->s->is_exhausted && !common_outputs_are_equal(x->c, x->e);
}

void common_graph_saturate(struct common_graph *c, struct equalities *e, const struct rule_set *rules,
                           struct saturation *s)
{
    struct saturating x = {.c = c, .e = e, .s = s, .models = graph_mark(&c->graph)};
    arena_init(&x.scratch);
    s->rounds = 0;
    s->matches = s->constants = 0;
    s->is_exhausted = false;
    compute_constants(&x);
    rewrite_until_equal(&x, rules);
    vec_free(&x.is_tried);
    vec_free(&x.matches);
    arena_free(&x.scratch);
}
