#include "optimizer/search/neighbourhood.h"

#include "core/arena.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_UP 2      // what the matched nodes read: producers that a backend may fuse into them
#define STEPS_DOWN 3    // their readers: bias, residual, activation
#define MAX_READERS 8   // a tensor with more readers is a border

struct neighbourhood {
    const struct graph *g;
    const struct match_index *index;
    size_t n_before;
    VEC(node_id) members;      // ascending once sorted
    struct graph local;        // the members and the target nodes
    VEC(tensor_id) from, to;   // where tensors of g are in `local`
};

static bool is_member(const struct neighbourhood *h, node_id n)
{
    for (size_t i = 0; i < h->members.count; i++)
        if (h->members.items[i] == n)
            return true;
    return false;
}

static void add_member(struct neighbourhood *h, node_id n)
{
    if (!(h->g->nodes.items[n].op->flags & OPERATOR_IS_LEAF) && !is_member(h, n))
        vec_push(&h->members, n);
}

static void grow_up(struct neighbourhood *h, size_t first)
{
    size_t end = h->members.count;
    for (size_t i = first; i < end; i++) {
        node_id n = h->members.items[i];
        for (uint32_t j = 0; j < h->g->nodes.items[n].n_inputs; j++)
            add_member(h, h->g->tensors.items[graph_inputs(h->g, n)[j]].producer);
    }
}

static void add_readers(struct neighbourhood *h, tensor_id t)
{
    const struct graph_uses *uses = &h->index->uses;
    uint32_t first = uses->first[t], end = uses->first[t + 1];
    for (uint32_t i = first; end - first <= MAX_READERS && i < end; i++)
        add_member(h, uses->nodes[i]);
}

static void grow_down(struct neighbourhood *h)
{
    size_t end = h->members.count;
    for (size_t i = 0; i < end; i++) {
        const struct node *n = &h->g->nodes.items[h->members.items[i]];
        for (uint32_t j = 0; j < n->n_outputs; j++)
            add_readers(h, n->first_output + j);
    }
}

static int compare_nodes(const void *a, const void *b)
{
    node_id x = *(const node_id *)a, y = *(const node_id *)b;
    return x < y ? -1 : x > y;
}

static void collect_members(struct neighbourhood *h, const struct match *m)
{
    const struct rule *r = m->rule;
    for (uint32_t i = 0; i < r->n_source_nodes; i++)
        add_member(h, m->nodes[i]);
    for (uint32_t v = 0; v < r->pattern.n_variables; v++)
        if (m->variables[v] != NO_TENSOR)
            add_member(h, h->g->tensors.items[m->variables[v]].producer);
    for (int step = 0; step < STEPS_DOWN; step++)
        grow_down(h);
    for (int step = 0; step < STEPS_UP; step++)
        grow_up(h, 0);
    qsort(h->members.items, h->members.count, sizeof *h->members.items, compare_nodes);
}

static tensor_id find_moved(const struct neighbourhood *h, tensor_id t)
{
    for (size_t i = h->from.count; i-- > 0;)
        if (h->from.items[i] == t)
            return h->to.items[i];
    return NO_TENSOR;
}

static void note_moved(struct neighbourhood *h, tensor_id from, tensor_id to)
{
    vec_push(&h->from, from);
    vec_push(&h->to, to);
}

// A tensor from beyond the border: a leaf, known before the graph runs where the original is.
static tensor_id import_tensor(struct neighbourhood *h, tensor_id t)
{
    tensor_id moved = find_moved(h, t);
    if (moved != NO_TENSOR)
        return moved;
    node_id producer = h->g->tensors.items[t].producer;
    bool is_weight = producer < h->n_before && h->index->is_weight[producer];
    moved = graph_add_leaf(&h->local, operators[is_weight ? OP_WEIGHT : OP_INPUT], t, graph_type(h->g, t));
    note_moved(h, t, moved);
    return moved;
}

static void copy_node(struct neighbourhood *h, node_id n)
{
    const struct node *node = &h->g->nodes.items[n];
    tensor_id *inputs = mem_new_array(tensor_id, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = import_tensor(h, graph_inputs(h->g, n)[i]);
    node_id copy = graph_add_copy(&h->local, h->g, n, inputs);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        note_moved(h, node->first_output + i, graph_output_of(&h->local, copy, i));
    mem_free_array(inputs, node->n_inputs + 1);
}

static bool is_read_outside(const struct neighbourhood *h, tensor_id t)
{
    const struct graph_uses *uses = &h->index->uses;
    for (uint32_t i = uses->first[t]; i < uses->first[t + 1]; i++)
        if (!is_member(h, uses->nodes[i]))
            return true;
    for (size_t i = 0; i < h->g->outputs.count; i++)
        if (h->g->outputs.items[i] == t)
            return true;
    return false;
}

static void build_local_graph(struct neighbourhood *h)
{
    for (size_t i = 0; i < h->members.count; i++)
        copy_node(h, h->members.items[i]);
    for (size_t i = 0; i < h->members.count; i++) {
        const struct node *n = &h->g->nodes.items[h->members.items[i]];
        for (uint32_t j = 0; j < n->n_outputs; j++)
            if (is_read_outside(h, n->first_output + j))
                graph_add_output(&h->local, find_moved(h, n->first_output + j));
    }
    for (node_id n = (node_id)h->n_before; n < h->g->nodes.count; n++)
        copy_node(h, n);
}

bool neighbourhood_cost_change(const struct graph *g, size_t n_before, const struct match_index *index,
                               const struct match *m, const tensor_id *old, const tensor_id *new,
                               const struct cost_model *cost, double *ret_change)
{
    struct neighbourhood h = {.g = g, .index = index, .n_before = n_before};
    struct graph after;
    tensor_id local_old[MAX_RULE_OUTPUTS], local_new[MAX_RULE_OUTPUTS];
    graph_init(&h.local, g->arena);
    collect_members(&h, m);
    build_local_graph(&h);
    for (uint32_t i = 0; i < m->rule->n_outputs; i++) {
        local_old[i] = find_moved(&h, old[i]);
        local_new[i] = import_tensor(&h, new[i]);
    }
    double before = cost->graph_seconds(cost->context, &h.local);
    bool is_priced = graph_replace(&after, &h.local, m->rule->n_outputs, local_old, local_new, NULL);
    if (is_priced) {
        *ret_change = cost->graph_seconds(cost->context, &after) - before;
        is_priced = isfinite(*ret_change);
        graph_free(&after);
    }
    graph_free(&h.local);
    vec_free(&h.members);
    vec_free(&h.from);
    vec_free(&h.to);
    return is_priced;
}
