// Operations on whole graphs: liveness, uses, replacement, comparison.
#include "graph/graph_whole.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/heap.h"
#include "graph/extract.h"
#include <string.h>

bool graph_define(const struct graph *g, node_id node, struct definition *d, struct arena *arena)
{
    const struct node *n = &g->nodes.items[node];
    struct type *types = arena_array(arena, struct type, n->n_inputs + 1);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        types[i] = *graph_type(g, graph_inputs(g, node)[i]);
    struct operator_call call = {n->op, (int)n->n_inputs, types, n->attributes};
    definition_init(d, arena, call.n_inputs, types);
    return operator_define(d, &call);
}

static double count_flops(const struct graph *g, node_id node, double (*count)(const struct definition *d))
{
    ARENA(arena);
    struct definition d FREED_BY(definition_free) = {0};
    return graph_define(g, node, &d, &arena) ? count(&d) : 0;
}

double graph_node_flops(const struct graph *g, node_id node)
{
    return count_flops(g, node, definition_flops);
}

double graph_node_least_flops(const struct graph *g, node_id node)
{
    return count_flops(g, node, definition_least_flops);
}

static bool is_later(const void *context, const void *a, const void *b)
{
    return *(const node_id *)a > *(const node_id *)b;
}

// The latest one of those that are left comes next: all that reads it was met before.
void graph_list_ancestors(const struct graph *g, node_id node, node_list *ret_nodes)
{
    LOCAL_LIST(node_list, left);
    vec_push(&left, node);
    while (left.count) {
        node_id n = heap_pop(&left, is_later, NULL);
        if (ret_nodes->count && vec_last(ret_nodes) == n)
            continue;
        vec_push(ret_nodes, n);
        for (uint32_t i = 0; i < g->nodes.items[n].n_inputs; i++)
            heap_push(&left, g->tensors.items[graph_inputs(g, n)[i]].producer, is_later, NULL);
    }
    for (size_t i = 0, k = ret_nodes->count; i + 1 < k; i++) {
        node_id last = ret_nodes->items[--k];
        ret_nodes->items[k] = ret_nodes->items[i];
        ret_nodes->items[i] = last;
    }
}

size_t graph_bytes_of_leaves(const struct graph *g, enum operator_id kind)
{
    size_t bytes = 0;
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->id == kind)
            bytes = mem_sum(bytes, type_bytes(graph_type(g, g->nodes.items[n].first_output)));
    return bytes;
}

void graph_mark_live(const struct graph *g, bool *ret_live)
{
    memset(ret_live, 0, g->nodes.count * sizeof *ret_live);
    for (size_t i = 0; i < g->outputs.count; i++)
        ret_live[g->tensors.items[g->outputs.items[i]].producer] = true;
    for (node_id n = (node_id)g->nodes.count; n-- > 0;)
        for (uint32_t i = 0; ret_live[n] && i < g->nodes.items[n].n_inputs; i++)
            ret_live[g->tensors.items[graph_inputs(g, n)[i]].producer] = true;
}

void graph_mark_constant(const struct graph *g, bool *ret_is_constant)
{
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct operator* op = g->nodes.items[n].op;
        ret_is_constant[n] = op->flags & OPERATOR_IS_LEAF ? op->id == OP_WEIGHT : !(op->flags & OPERATOR_IS_OPAQUE);
        for (uint32_t i = 0; ret_is_constant[n] && i < g->nodes.items[n].n_inputs; i++)
            ret_is_constant[n] = ret_is_constant[g->tensors.items[graph_inputs(g, n)[i]].producer];
    }
}

void graph_count_reads(const struct graph *g, const bool *live, uint32_t *counts)
{
    for (node_id n = 0; n < g->nodes.count; n++)
        for (uint32_t i = 0; (!live || live[n]) && i < g->nodes.items[n].n_inputs; i++)
            counts[graph_inputs(g, n)[i]]++;
    for (size_t i = 0; i < g->outputs.count; i++)
        counts[g->outputs.items[i]]++;
}

void graph_uses_init(struct graph_uses *ret_uses, const struct graph *g, const bool *live)
{
    struct graph_uses u = {.n_tensors = g->tensors.count, .n_edges = g->edges.count};
    u.first = mem_alloc_zero((u.n_tensors + 2) * sizeof *u.first);
    u.nodes = mem_new_array(node_id, u.n_edges + 1);
    for (node_id n = 0; n < g->nodes.count; n++)
        for (uint32_t i = 0; (!live || live[n]) && i < g->nodes.items[n].n_inputs; i++)
            u.first[graph_inputs(g, n)[i] + 2]++;
    for (size_t t = 2; t < u.n_tensors + 2; t++)
        u.first[t] += u.first[t - 1];
    for (node_id n = 0; n < g->nodes.count; n++)
        for (uint32_t i = 0; (!live || live[n]) && i < g->nodes.items[n].n_inputs; i++)
            u.nodes[u.first[graph_inputs(g, n)[i] + 1]++] = n;
    *ret_uses = u;
}

void graph_uses_free(struct graph_uses *uses)
{
    mem_free(uses->first, (uses->n_tensors + 2) * sizeof *uses->first);
    mem_free(uses->nodes, (uses->n_edges + 1) * sizeof *uses->nodes);
}

// --- replacement ----------------------------------------------------------------------------------------------------

// Depth-first from the outputs with an explicit stack. A replaced tensor stands for its replacement, so the order of
// the result is found anew; meeting a node that is still open means a cycle.

enum visit { VISIT_NONE, VISIT_OPEN, VISIT_DONE };

struct replacing {
    const struct graph *g;
    struct graph *result;
    tensor_id *instead;   // of every tensor of g: itself, or its replacement
    tensor_id *moved;     // of every tensor of g: where it is in the result
    uint8_t *visits;      // of every node of g
    node_list *stack;
};

static bool open_node(struct replacing *r, tensor_id tensor)
{
    node_id producer = r->g->tensors.items[r->instead[tensor]].producer;
    if (r->visits[producer] == VISIT_OPEN)
        return false;
    if (r->visits[producer] == VISIT_NONE)
        vec_push(r->stack, producer);
    return true;
}

static tensor_id find_moved(void *context, tensor_id t)
{
    const struct replacing *r = context;
    return r->moved[r->instead[t]];
}

static void note_moved(void *context, tensor_id t, tensor_id there)
{
    ((struct replacing *)context)->moved[t] = there;
}

static void close_node(struct replacing *r, node_id n)
{
    const struct graph_extraction x = {
        .from = r->g, .to = r->result, .context = r, .find = find_moved, .note = note_moved};
    graph_extract_node(&x, n, false);
    r->visits[n] = VISIT_DONE;
}

// Opens everything the node reads that is not done; closes it when nothing is left. False: cycle.
static bool step_into(struct replacing *r, node_id n)
{
    size_t before = r->stack->count;
    r->visits[n] = VISIT_OPEN;
    if (ANY(uint32_t, i, r->g->nodes.items[n].n_inputs, !open_node(r, graph_inputs(r->g, n)[i])))
        return false;
    if (r->stack->count == before) {
        close_node(r, n);
        r->stack->count--;
    }
    return true;
}

static bool move_everything_live(struct replacing *r)
{
    for (size_t i = 0; i < r->g->outputs.count; i++) {
        open_node(r, r->g->outputs.items[i]);
        while (r->stack->count) {
            node_id top = vec_last(r->stack);
            if (r->visits[top] == VISIT_DONE)
                r->stack->count--;
            else if (!step_into(r, top))
                return false;
        }
    }
    return true;
}

// A tensor made for the replacement stands for the old one's value: every reader's key is as before. One that was in
// use already has a key of its own and keeps it, whatever it comes to replace.
static void inherit_value_keys(struct graph *g, size_t n, const tensor_id *old, const tensor_id *new)
{
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (size_t i = 0; i < n; i++)
        if (!live[g->tensors.items[new[i]].producer])
            g->tensors.items[new[i]].value = g->tensors.items[old[i]].value;
}

bool graph_replace(struct graph *ret_result, const struct graph *g, size_t n, const tensor_id *old,
                   const tensor_id *new, tensor_id *ret_map)
{
    LOCAL_ARRAY(struct tensor, tensors, g->tensors.count + 1);
    LOCAL_ARRAY(tensor_id, instead, g->tensors.count + 1);
    LOCAL_ARRAY(tensor_id, moved, g->tensors.count + 1);
    LOCAL_ZEROS(uint8_t, visits, g->nodes.count + 1);
    LOCAL_LIST(node_list, stack);
    struct graph source = *g;   // with tensors of its own
    source.tensors.items = tensors;
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        tensors[t] = g->tensors.items[t];
        instead[t] = t;
        moved[t] = NO_TENSOR;
    }
    for (size_t i = 0; i < n; i++)
        instead[old[i]] = new[i];
    inherit_value_keys(&source, n, old, new);
    graph_init(ret_result, g->arena);
    graph_reserve(ret_result, g->nodes.count, g->edges.count, g->tensors.count);
    struct replacing r = {&source, ret_result, instead, moved, visits, &stack};
    bool is_acyclic = move_everything_live(&r);
    for (size_t i = 0; is_acyclic && i < g->outputs.count; i++)
        graph_add_output(ret_result, moved[instead[g->outputs.items[i]]]);
    for (tensor_id t = 0; ret_map && t < g->tensors.count; t++)
        ret_map[t] = moved[instead[t]];
    if (!is_acyclic)
        graph_free(ret_result);
    return is_acyclic;
}

// --- comparison ------------------------------------------------------------------------------------------------------

uint64_t graph_key(const struct graph *g)
{
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    uint64_t key = 0;
    for (node_id n = 0; n < g->nodes.count; n++)
        if (live[n])
            key += g->nodes.items[n].key;
    for (size_t i = 0; i < g->outputs.count; i++)
        key = hash_mix(key, g->tensors.items[g->outputs.items[i]].value);
    return key;
}

struct comparing {
    const struct graph *a, *b;
    node_id *partner;   // of every node of a: its node in b, or NO_NODE
};

bool node_is_same_operation(const struct node *x, const struct node *y)
{
    return x->op == y->op && x->label == y->label && x->n_inputs == y->n_inputs && x->n_outputs == y->n_outputs &&
           attributes_equal(x->op, x->attributes, y->attributes);
}

static bool pair_tensors(struct comparing *c, tensor_id x, tensor_id y)
{
    const struct tensor *tx = &c->a->tensors.items[x], *ty = &c->b->tensors.items[y];
    if (tx->output != ty->output || !type_equal(tx->type, ty->type))
        return false;
    if (c->partner[tx->producer] == NO_NODE) {
        c->partner[tx->producer] = ty->producer;
        return node_is_same_operation(graph_producer(c->a, x), graph_producer(c->b, y));
    }
    return c->partner[tx->producer] == ty->producer;
}

static bool pair_inputs(struct comparing *c, node_id n)
{
    const struct node *x = &c->a->nodes.items[n];
    const tensor_id *in_a = graph_inputs(c->a, n), *in_b = graph_inputs(c->b, c->partner[n]);
    return ALL(uint32_t, i, x->n_inputs, pair_tensors(c, in_a[i], in_b[i]));
}

// Inputs of commutative nodes stand in one order in both graphs, by what makes them, so position decides. Where that
// leaves their value keys to decide, graphs whose keys differ by history compare as different; that costs a duplicate
// and no soundness.
bool graph_pair(const struct graph *a, const struct graph *b, node_id *ret_partners)
{
    if (a->outputs.count != b->outputs.count)
        return false;
    struct comparing c = {a, b, ret_partners};
    for (node_id n = 0; n < a->nodes.count; n++)
        c.partner[n] = NO_NODE;
    if (ANY(size_t, i, a->outputs.count, !pair_tensors(&c, a->outputs.items[i], b->outputs.items[i])))
        return false;
    for (node_id n = (node_id)a->nodes.count; n-- > 0;)
        if (c.partner[n] != NO_NODE && !pair_inputs(&c, n))
            return false;
    return true;
}

bool graph_equal(const struct graph *a, const struct graph *b)
{
    LOCAL_ARRAY(node_id, partners, a->nodes.count + 1);
    return graph_pair(a, b, partners);
}
