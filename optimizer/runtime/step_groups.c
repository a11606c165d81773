// Nodes that ONNX Runtime is likely to fuse are one group: an anchor with what follows entry by entry.
#include "optimizer/runtime/step_groups.h"

#include "core/memory/arena.h"
#include "graph/extract.h"
#include "graph/graph_whole.h"
#include "operators/traits.h"
#include "optimizer/limits.def"
#include "optimizer/search/repeated_weight.h"

// --- who is run ------------------------------------------------------------------------------------------------------

static void find_varying(struct step_groups *s, const bool *live)
{
    const struct graph *g = s->graph;
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        bool varies = node->op->id == OP_INPUT;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            varies = varies || s->varies[graph_inputs(g, n)[i]];
        for (uint32_t i = 0; i < node->n_outputs; i++)
            s->varies[node->first_output + i] = varies;
        s->is_run[n] = live[n] && varies && node->n_inputs > 0 && !operator_repeats(node->op);
    }
}

// --- groups ----------------------------------------------------------------------------------------------------------

static bool is_anchor(const struct node *n)
{
    return operator_has(n->op, TRAIT_CONTRACTS);
}

// The node that makes the tensor, when it is run and nobody else reads that.
static node_id only_maker(const struct step_groups *s, tensor_id t)
{
    node_id maker = s->graph->tensors.items[t].producer;
    return s->uses[t] == 1 && s->is_run[maker] ? maker : NO_NODE;
}

static bool takes_part(const struct step_groups *s, node_id n, node_id maker, const uint32_t *length)
{
    const struct node *node = &s->graph->nodes.items[n], *anchor = &s->graph->nodes.items[s->first[maker]];
    if (node->op->flags & OPERATOR_IS_ELEMENTWISE)
        return is_anchor(anchor) && length[s->first[maker]] < LONGEST_CHAIN;
    return operator_joins(node->op) && operator_joins(anchor->op) && operator_joins(s->graph->nodes.items[maker].op);
}

// The one that comes last, with several to choose from: it can wait for the others. Chains have single readers, so
// nothing outside of a group stands between its nodes.
static void join_chain(struct step_groups *s, node_id n, uint32_t *length)
{
    node_id best = NO_NODE;
    for (uint32_t i = 0; i < s->graph->nodes.items[n].n_inputs; i++) {
        node_id maker = only_maker(s, graph_inputs(s->graph, n)[i]);
        if (maker != NO_NODE && takes_part(s, n, maker, length) && (best == NO_NODE || maker > best))
            best = maker;
    }
    s->first[n] = best == NO_NODE ? n : s->first[best];
    length[s->first[n]]++;
}

// A split of a part of a split needs nothing else; other readers of the part make it an output of the group.
static bool join_split(struct step_groups *s, node_id n)
{
    node_id maker = s->graph->tensors.items[graph_inputs(s->graph, n)[0]].producer;
    if (!operator_splits(s->graph->nodes.items[n].op) || !s->is_run[maker] ||
        !operator_splits(s->graph->nodes.items[maker].op))
        return false;
    s->first[n] = s->first[maker];
    return true;
}

// A transposition that only a product reads stands before it: its group takes the product's number.
static void join_transpositions(struct step_groups *s, node_id product)
{
    for (uint32_t i = 0; i < s->graph->nodes.items[product].n_inputs; i++) {
        node_id maker = only_maker(s, graph_inputs(s->graph, product)[i]);
        if (maker != NO_NODE && operator_permutes(s->graph->nodes.items[maker].op))
            s->first[maker] = product;
    }
}

static void link_groups(struct step_groups *s)
{
    size_t n = s->graph->nodes.count;
    node_id *last = arena_array(s->arena, node_id, n + 1), *least = arena_array(s->arena, node_id, n + 1);
    for (node_id i = 0; i < n; i++)
        last[i] = least[i] = NO_NODE;
    for (node_id i = 0; i < n; i++) {
        node_id group = s->first[i];
        if (group == NO_NODE)
            continue;
        if (last[group] == NO_NODE)
            least[group] = i;
        else
            s->next[last[group]] = i;
        last[group] = i;
    }
    for (node_id i = 0; i < n; i++)
        if (s->first[i] != NO_NODE)
            s->first[i] = least[s->first[i]];
}

void step_groups_find(struct step_groups *ret_groups, const struct graph *g, struct arena *arena)
{
    struct step_groups s = {.graph = g, .arena = arena};
    size_t n = g->nodes.count;
    bool *live = arena_array(arena, bool, n + 1);
    uint32_t *length = arena_array(arena, uint32_t, n + 1);
    s.is_run = arena_array(arena, bool, n + 1);
    s.varies = arena_array(arena, bool, g->tensors.count + 1);
    s.uses = arena_array(arena, uint32_t, g->tensors.count + 1);
    s.first = arena_array(arena, node_id, n + 1);
    s.next = arena_array(arena, node_id, n + 1);
    graph_mark_live(g, live);
    find_varying(&s, live);
    graph_count_reads(g, live, s.uses);
    for (node_id i = 0; i < n; i++) {
        s.first[i] = s.next[i] = NO_NODE;
        if (s.is_run[i] && !join_split(&s, i))
            join_chain(&s, i, length);
        if (s.is_run[i] && operator_multiplies_matrices(g->nodes.items[i].op))
            join_transpositions(&s, i);
    }
    link_groups(&s);
    *ret_groups = s;
}

bool step_groups_is_first(const struct step_groups *s, node_id n)
{
    return s->first[n] == n;
}

enum operator_id step_groups_kind(const struct step_groups *s, node_id first)
{
    for (node_id n = first; n != NO_NODE; n = s->next[n])
        if (is_anchor(&s->graph->nodes.items[n]))
            return s->graph->nodes.items[n].op->id;
    return s->graph->nodes.items[first].op->id;
}

// --- a group alone ---------------------------------------------------------------------------------------------------

struct extraction {
    const struct step_groups *groups;
    struct graph_extraction taken;
    int64_t n_inputs, n_weights;
    tensor_id *weights;
};

static tensor_id add_weight(struct extraction *e, tensor_id original, const struct type *type)
{
    e->weights[e->n_weights] = original;
    return graph_add_leaf(e->taken.to, operators[OP_WEIGHT], e->n_weights++, type);
}

// A weight with one entry along these axes, as ONNX would have it, broadcast.
static tensor_id repeated_weight(struct extraction *e, const struct type *type, unsigned axes)
{
    struct type small = type_make(type->dtype, 0, NULL);
    int leading = FIRST_OF(int, i, type->rank, !(axes >> i & 1));
    small.rank = type->rank - leading;
    for (int i = 0; i < small.rank; i++)
        small.dim[i] = axes >> (leading + i) & 1 ? 1 : type->dim[leading + i];
    tensor_id leaf = add_weight(e, NO_TENSOR, &small);
    struct attribute_value shape = {.count = (uint32_t)type->rank, .ints = type->dim};
    node_id node;
    return graph_add(e->taken.to, operators[OP_BROADCAST], &shape, 1, &leaf, &node)
               ? graph_output_of(e->taken.to, node, 0)
               : add_weight(e, NO_TENSOR, type);
}

// Split trees are left behind: all sizes are explicit.
static tensor_id add_leaf(struct extraction *e, tensor_id t)
{
    const struct type *type = graph_type(e->groups->graph, t);
    struct type plain = type_make(type->dtype, type->rank, type->dim);
    bool varies = e->groups->varies[t];
    unsigned repeated = varies ? 0 : tensor_repeated_axes(e->groups->graph, t);
    if (repeated)
        return repeated_weight(e, &plain, repeated);
    return varies ? graph_add_leaf(e->taken.to, operators[OP_INPUT], e->n_inputs++, &plain) : add_weight(e, t, &plain);
}

// A node that repeats a smaller tensor is part of every group that reads it.
static tensor_id repeat_or_add_leaf(void *context, tensor_id t)
{
    struct extraction *e = context;
    const struct graph *g = e->groups->graph;
    node_id maker = g->tensors.items[t].producer;
    if (!operator_repeats(g->nodes.items[maker].op))
        return add_leaf(e, t);
    return graph_output_of(e->taken.to, graph_extract_node(&e->taken, maker, false), 0);
}

static uint32_t uses_within(const struct step_groups *s, node_id first, tensor_id t)
{
    uint32_t uses = 0;
    for (node_id n = first; n != NO_NODE; n = s->next[n])
        for (uint32_t i = 0; i < s->graph->nodes.items[n].n_inputs; i++)
            uses += graph_inputs(s->graph, n)[i] == t;
    return uses;
}

void step_groups_extract(const struct step_groups *s, node_id first, struct graph *ret_graph, tensor_id *ret_weights)
{
    struct extraction e = {.groups = s, .weights = ret_weights};
    e.taken = (struct graph_extraction){.from = s->graph,
                                        .to = ret_graph,
                                        .context = &e,
                                        .moved = arena_array(s->arena, tensor_id, s->graph->tensors.count + 1),
                                        .find = repeat_or_add_leaf};
    graph_extraction_clear(&e.taken);
    graph_init(ret_graph, s->arena);
    for (node_id n = first; n != NO_NODE; n = s->next[n])
        graph_extract_node(&e.taken, n, false);
    for (node_id n = first; n != NO_NODE; n = s->next[n])
        for (uint32_t i = 0; i < s->graph->nodes.items[n].n_outputs; i++) {
            tensor_id t = s->graph->nodes.items[n].first_output + i;
            if (s->uses[t] > uses_within(s, first, t))
                graph_add_output(ret_graph, e.taken.moved[t]);
        }
}
