// Computing what depends on weights only, by the reference backend: what the operators' definitions say, every
// intermediate tensor rounded to its element type as a runtime would. Nodes are taken in the graph's order, so that no
// depth of graph can exhaust the stack.
#include "backends/reference/reference.h"
#include "core/error.h"
#include "optimizer/onnx/importer.h"

struct folding {
    struct imported_model *model;
    const struct graph *graph;
    struct arena *arena;           // of everything but the last result
    struct tensor_value *values;   // of the tensors computed so far
};

static bool *mark_ancestors(const struct folding *f, node_id last)
{
    const struct graph *g = f->graph;
    bool *is_needed = arena_array(f->arena, bool, last + 1);
    is_needed[last] = true;
    for (node_id n = last + 1; n-- > 0;)
        for (uint32_t i = 0; is_needed[n] && i < g->nodes.items[n].n_inputs; i++)
            is_needed[g->tensors.items[graph_inputs(g, n)[i]].producer] = true;
    return is_needed;
}

static bool load_weight(struct folding *f, const struct node *node)
{
    struct error ignored;
    const void *data;
    struct tensor_value *value = &f->values[node->first_output];
    if (!imported_weight_data(f->model, (size_t)node->attributes[0].ints[0], &data, &ignored))
        return false;
    *value = (struct tensor_value){*graph_type(f->graph, node->first_output), (void *)(uintptr_t)data};
    return true;
}

static bool run_node(struct folding *f, node_id n, struct arena *results)
{
    const struct node *node = &f->graph->nodes.items[n];
    struct error ignored;
    struct tensor_value *inputs = arena_array(f->arena, struct tensor_value, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = f->values[graph_inputs(f->graph, n)[i]];
    return reference_run_node(f->graph, n, inputs, &f->values[node->first_output], results, &ignored);
}

const void *evaluate_constant(struct imported_model *m, const struct graph *g, tensor_id tensor)
{
    struct arena arena;
    arena_init(&arena);
    struct folding f = {m, g, &arena, arena_array(&arena, struct tensor_value, g->tensors.count)};
    node_id last = g->tensors.items[tensor].producer;
    const bool *is_needed = mark_ancestors(&f, last);
    bool is_fine = true;
    for (node_id n = 0; is_fine && n <= last; n++) {
        if (is_needed[n] && g->nodes.items[n].op->id == OP_WEIGHT)
            is_fine = load_weight(&f, &g->nodes.items[n]);
        else if (is_needed[n])
            is_fine = run_node(&f, n, n == last ? &m->arena : &arena);
    }
    const void *result = is_fine ? f.values[tensor].data : NULL;
    arena_free(&arena);
    return result;
}
