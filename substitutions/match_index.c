// Facts that matching looks up in a graph: its live nodes by operator, readers of tensors, and which nodes are weights.
#include "substitutions/match_index.h"

#include "graph/graph_whole.h"

#include "operators/traits.h"

// A part of a graph that is searched by itself has leaves for weights that are computed outside of it: those from
// FIRST_COMPUTED_WEIGHT on.
static bool is_given(const struct match_index *index, node_id n)
{
    const struct graph *g = index->graph;
    const struct node *node = &g->nodes.items[n];
    if (operator_permutes(node->op))
        return index->is_given[g->tensors.items[graph_inputs(g, n)[0]].producer];
    return node->op->id == OP_WEIGHT && node->attributes[0].ints[0] < FIRST_COMPUTED_WEIGHT;
}

static void mark_given(struct match_index *index)
{
    for (node_id n = 0; n < index->graph->nodes.count; n++)
        index->is_given[n] = is_given(index, n);
}

static void mark_outputs(struct match_index *index)
{
    for (size_t i = 0; i < index->graph->outputs.count; i++)
        index->is_output[index->graph->outputs.items[i]] = true;
}

static void sort_nodes_by_operator(struct match_index *index)
{
    const struct graph *g = index->graph;
    uint32_t next[OP_COUNT];
    for (node_id n = 0; n < g->nodes.count; n++)
        if (index->is_live[n])
            index->first_of_op[g->nodes.items[n].op->id + 1]++;
    for (int op = 0; op < OP_COUNT; op++) {
        next[op] = index->first_of_op[op];
        index->first_of_op[op + 1] += index->first_of_op[op];
    }
    for (node_id n = 0; n < g->nodes.count; n++)
        if (index->is_live[n])
            index->nodes_by_op[next[g->nodes.items[n].op->id]++] = n;
}

void match_index_init(struct match_index *ret_index, const struct graph *g)
{
    *ret_index = (struct match_index){.graph = g, .n_nodes = g->nodes.count};
    ret_index->is_live = arena_array(&ret_index->arena, bool, g->nodes.count + 1);
    ret_index->is_weight = arena_array(&ret_index->arena, bool, g->nodes.count + 1);
    ret_index->is_given = arena_array(&ret_index->arena, bool, g->nodes.count + 1);
    ret_index->nodes_by_op = arena_array(&ret_index->arena, node_id, g->nodes.count + 1);
    ret_index->is_output = arena_array(&ret_index->arena, bool, g->tensors.count + 1);
    graph_mark_live(g, ret_index->is_live);
    mark_outputs(ret_index);
    graph_mark_constant(g, ret_index->is_weight);
    mark_given(ret_index);
    graph_uses_init(&ret_index->uses, g, ret_index->is_live);
    sort_nodes_by_operator(ret_index);
}

void match_index_free(struct match_index *index)
{
    graph_uses_free(&index->uses);
    arena_free(&index->arena);
}
