// Opaque nodes are cut out of a graph: their outputs become inputs, what they read becomes outputs.
#include "optimizer/runnable.h"

#include "expressions/elements.h"
#include <assert.h>

static uint32_t opaque_index(const struct node *n)
{
    return (uint32_t)n->attributes[0].ints[0];
}

static bool is_opaque(const struct node *n)
{
    return n->op->flags & OPERATOR_IS_OPAQUE;
}

bool tensor_has_values(const struct graph *g, tensor_id t)
{
    const struct type *type = graph_type(g, t);
    return type_is_known(type) && dtype_has_numbers(type->dtype);
}

static bool is_leaf_without_values(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    return (node->op->flags & OPERATOR_IS_LEAF) && !tensor_has_values(g, node->first_output);
}

void cut_plan_init(struct cut_plan *ret_plan, const struct graph *g, uint32_t n_graph_inputs)
{
    *ret_plan = (struct cut_plan){.n_inputs = n_graph_inputs};
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        ret_plan->is_needed = ret_plan->is_needed || is_opaque(node) || is_leaf_without_values(g, n);
        if (!is_opaque(node))
            continue;
        while (ret_plan->first_input.count <= opaque_index(node))
            vec_push(&ret_plan->first_input, UINT32_MAX);
        ret_plan->first_input.items[opaque_index(node)] = ret_plan->n_inputs;
        ret_plan->n_inputs += node->n_outputs;
    }
}

void cut_plan_free(struct cut_plan *plan)
{
    vec_free(&plan->first_input);
}

// By opaque index: is such a node live in both graphs?
static void mark_shared(const struct graph *g, const struct cut_plan *plan, bool *shared)
{
    bool *live = mem_new_array(bool, g->nodes.count + 1);
    bool *present = mem_alloc_zero(plan->first_input.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (live[n] && is_opaque(&g->nodes.items[n]))
            present[opaque_index(&g->nodes.items[n])] = true;
    for (size_t i = 0; i < plan->first_input.count; i++)
        shared[i] = shared[i] && present[i];
    mem_free_array(live, g->nodes.count + 1);
    mem_free(present, plan->first_input.count + 1);
}

struct cutting {
    const struct graph *g;
    struct graph *result;
    tensor_id *moved;
};

static void cut_node(struct cutting *c, node_id n, const struct cut_plan *plan)
{
    const struct node *node = &c->g->nodes.items[n];
    uint32_t first = plan->first_input.items[opaque_index(node)];
    for (uint32_t i = 0; i < node->n_outputs; i++)
        if (tensor_has_values(c->g, node->first_output + i))
            c->moved[node->first_output + i] =
                graph_add_leaf(c->result, operators[OP_INPUT], first + i, graph_type(c->g, node->first_output + i));
}

static void copy_node(struct cutting *c, node_id n)
{
    const struct node *node = &c->g->nodes.items[n];
    if (is_leaf_without_values(c->g, n))
        return;
    tensor_id *inputs = mem_new_array(tensor_id, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        inputs[i] = c->moved[graph_inputs(c->g, n)[i]];
        assert(inputs[i] != NO_TENSOR);
    }
    node_id copy = graph_add_copy(c->result, c->g, n, inputs);
    for (uint32_t i = 0; i < node->n_outputs; i++)
        c->moved[node->first_output + i] = graph_output_of(c->result, copy, i);
    mem_free_array(inputs, node->n_inputs + 1);
}

static void add_output(struct cutting *c, tensor_id t)
{
    if (tensor_has_values(c->g, t))
        graph_add_output(c->result, c->moved[t]);
}

// Node by opaque index, so that the order does not depend on where rewrites put them.
static void add_cut_outputs(struct cutting *c, const bool *shared, size_t n_opaque)
{
    node_id *node_of = mem_new_array(node_id, n_opaque + 1);
    for (node_id n = 0; n < c->g->nodes.count; n++)
        if (is_opaque(&c->g->nodes.items[n]))
            node_of[opaque_index(&c->g->nodes.items[n])] = n;
    for (size_t i = 0; i < n_opaque; i++)
        for (uint32_t j = 0; shared[i] && j < c->g->nodes.items[node_of[i]].n_inputs; j++)
            add_output(c, graph_inputs(c->g, node_of[i])[j]);
    mem_free_array(node_of, n_opaque + 1);
}

void graph_cut(struct graph *ret_graph, const struct graph *g, const struct graph *other, const struct cut_plan *plan)
{
    size_t n_opaque = plan->first_input.count;
    bool *shared = mem_new_array(bool, n_opaque + 1);
    for (size_t i = 0; i < n_opaque; i++)
        shared[i] = true;
    mark_shared(g, plan, shared);
    if (other)
        mark_shared(other, plan, shared);
    struct cutting c = {g, ret_graph, mem_new_array(tensor_id, g->tensors.count + 1)};
    for (tensor_id t = 0; t < g->tensors.count; t++)
        c.moved[t] = NO_TENSOR;
    graph_init(ret_graph, g->arena);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (is_opaque(&g->nodes.items[n]))
            cut_node(&c, n, plan);
        else
            copy_node(&c, n);
    for (size_t i = 0; i < g->outputs.count; i++)
        add_output(&c, g->outputs.items[i]);
    add_cut_outputs(&c, shared, n_opaque);
    mem_free_array(c.moved, g->tensors.count + 1);
    mem_free_array(shared, n_opaque + 1);
}
