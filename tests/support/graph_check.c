// graph_check: what must hold of every graph, established anew from the definitions.
#include "tests/support/graph_check.h"
#include "tests/support/scoped.h"

#include "core/text/error.h"
#include "graph/graph_whole.h"

static bool violation(struct error *error, const struct graph *g, node_id n, const char *what)
{
    return error_set(error, NULL, 0, 0, "graph check: node %u (%s): %s", n, g->nodes.items[n].op->name, what);
}

static bool check_edges(const struct graph *g, node_id n, struct error *error)
{
    const struct node *node = &g->nodes.items[n];
    if ((size_t)node->first_input + node->n_inputs > g->edges.count)
        return violation(error, g, n, "edges out of range");
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        tensor_id t = graph_inputs(g, n)[i];
        if (t >= g->tensors.count)
            return violation(error, g, n, "reads a tensor that does not exist");
        if (g->tensors.items[t].producer >= n)
            return violation(error, g, n, "stands before what it reads");
    }
    return true;
}

static bool check_outputs(const struct graph *g, node_id n, struct error *error)
{
    const struct node *node = &g->nodes.items[n];
    if ((size_t)node->first_output + node->n_outputs > g->tensors.count)
        return violation(error, g, n, "outputs out of range");
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        const struct tensor *t = &g->tensors.items[node->first_output + i];
        if (t->producer != n || t->output != i)
            return violation(error, g, n, "an output that does not know its producer");
    }
    return true;
}

static bool check_types(const struct graph *g, node_id n, struct arena *arena, struct error *error)
{
    const struct node *node = &g->nodes.items[n];
    if (!node->op->define)
        return true;
    struct definition d FREED_BY(definition_free);
    bool is_right = graph_define(g, n, &d, arena) && (uint32_t)d.n_outputs == node->n_outputs;
    if (!is_right)
        violation(error, g, n, d.reason[0] ? d.reason : "wrong number of outputs");
    for (uint32_t i = 0; is_right && i < node->n_outputs; i++) {
        is_right = type_equal(definition_output(&d, (int)i), graph_type(g, node->first_output + i));
        if (!is_right)
            violation(error, g, n, "an output of another type than its definition gives");
        else if (!type_equal_split(definition_output(&d, (int)i), graph_type(g, node->first_output + i)))
            is_right = violation(error, g, n, "an output with another split tree than its definition gives");
    }
    return is_right;
}

bool graph_check(const struct graph *g, struct error *error)
{
    ARENA(arena);
    bool is_right = true;
    for (node_id n = 0; is_right && n < g->nodes.count; n++) {
        ARENA_MARK(mark, &arena);
        is_right = check_edges(g, n, error) && check_outputs(g, n, error) && check_types(g, n, &arena, error);
    }
    for (size_t i = 0; is_right && i < g->outputs.count; i++)
        if (g->outputs.items[i] >= g->tensors.count)
            is_right = error_set(error, NULL, 0, 0, "graph check: output %zu does not exist", i);
    return is_right;
}
