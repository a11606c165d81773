// Runs graphs by their definitions, node by node.
#include "tests/support/reference_graph.h"
#include "tests/support/scoped.h"

#include "core/text/error.h"
#include "graph/evaluate.h"
#include "graph/graph_whole.h"

struct leaf_values {
    size_t n_inputs, n_weights;
    const struct tensor_value *inputs, *weights;
};

static bool find_leaf(const struct graph *g, const struct node *n, const struct leaf_values *leaves,
                      struct tensor_value *ret_value, struct error *error)
{
    bool is_weight = n->op == operators[OP_WEIGHT];
    int64_t index = n->attributes[0].ints[0];
    size_t count = is_weight ? leaves->n_weights : leaves->n_inputs;
    const struct tensor_value *values = is_weight ? leaves->weights : leaves->inputs;
    if (index < 0 || (uint64_t)index >= count || !values[index].data)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "%s %lld has no value", n->op->name, (long long)index);
    if (!type_equal(&values[index].type, graph_type(g, n->first_output)))
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "the value of %s %lld has another type", n->op->name,
                              (long long)index);
    *ret_value = values[index];
    return true;
}

// Each computed tensor has an arena of its own until its last reader has run.
struct running {
    const struct graph *g;
    struct tensor_value *values;   // of every tensor
    struct arena *arenas;          // of every node
    uint32_t *readers;             // of every node: edges not yet run, outputs included
    bool *live;
};

static void count_readers(struct running *r)
{
    for (node_id n = 0; n < r->g->nodes.count; n++)
        for (uint32_t i = 0; r->live[n] && i < r->g->nodes.items[n].n_inputs; i++)
            r->readers[r->g->tensors.items[graph_inputs(r->g, n)[i]].producer]++;
    for (size_t i = 0; i < r->g->outputs.count; i++)
        r->readers[r->g->tensors.items[r->g->outputs.items[i]].producer]++;
}

static bool run_live_node(struct running *r, node_id id, const struct leaf_values *leaves, struct error *error)
{
    const struct node *n = &r->g->nodes.items[id];
    if (n->op->flags & OPERATOR_IS_LEAF)
        return find_leaf(r->g, n, leaves, &r->values[n->first_output], error);
    ARENA(scratch);
    struct tensor_value *inputs = arena_array(&scratch, struct tensor_value, n->n_inputs + 1);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = r->values[graph_inputs(r->g, id)[i]];
    bool is_done = graph_evaluate_node(r->g, id, inputs, &r->values[n->first_output], &r->arenas[id], error);
    for (uint32_t i = 0; is_done && i < n->n_inputs; i++) {
        node_id producer = r->g->tensors.items[graph_inputs(r->g, id)[i]].producer;
        if (--r->readers[producer] == 0)
            arena_free(&r->arenas[producer]);
    }
    return is_done;
}

static void copy_outputs(const struct running *r, struct tensor_value *ret_outputs, struct arena *arena)
{
    for (size_t i = 0; i < r->g->outputs.count; i++) {
        const struct tensor_value *value = &r->values[r->g->outputs.items[i]];
        ret_outputs[i].type = value->type;
        ret_outputs[i].data = arena_copy(arena, value->data, type_bytes(&value->type), 64);
    }
}

bool reference_run_graph(const struct graph *g, size_t n_inputs, const struct tensor_value *inputs, size_t n_weights,
                         const struct tensor_value *weights, struct tensor_value *ret_outputs, struct arena *arena,
                         struct error *error)
{
    struct leaf_values leaves = {n_inputs, n_weights, inputs, weights};
    ARENA(own);
    struct running r = {.g = g,
                        .values = arena_array(&own, struct tensor_value, g->tensors.count + 1),
                        .arenas = arena_array(&own, struct arena, g->nodes.count + 1),
                        .readers = arena_array(&own, uint32_t, g->nodes.count + 1),
                        .live = arena_array(&own, bool, g->nodes.count + 1)};
    graph_mark_live(g, r.live);
    count_readers(&r);
    bool is_done = true;
    for (node_id n = 0; is_done && n < g->nodes.count; n++)
        is_done = !r.live[n] || run_live_node(&r, n, &leaves, error);
    if (is_done)
        copy_outputs(&r, ret_outputs, arena);
    for (node_id n = 0; n < g->nodes.count; n++)
        arena_free(&r.arenas[n]);
    return is_done;
}
