// The same applications, down to the node's inputs. There it is enough that the values are the same: a rewrite further
// up keeps the value key.
#include "onnx/convert/export/export_match.h"

#include "graph/graph_whole.h"
#include "onnx/convert/weights.h"

struct matching {
    const struct exporter *x;
    uint32_t n_inputs;
    const tensor_id *imported;   // of the node's inputs, in the imported graph
    tensor_id *found;            // in the graph
};

// Is `imported` an input of the node? Then the graph's tensor must have its value.
static bool bind_input(struct matching *match, tensor_id tensor, tensor_id imported, bool *ret_is_same)
{
    uint64_t value = match->x->graph->tensors.items[tensor].value;
    bool is_input = false;
    for (uint32_t i = 0; i < match->n_inputs; i++) {
        if (match->imported[i] != imported)
            continue;
        is_input = true;
        *ret_is_same = match->x->model->graph.tensors.items[imported].value == value;
        match->found[i] = tensor;
    }
    return is_input;
}

static bool match_tensors(struct matching *match, tensor_id tensor, tensor_id imported);

static bool match_inputs(struct matching *match, const struct node *a, const struct node *b, bool is_swapped)
{
    const tensor_id *inputs = match->x->graph->edges.items + a->first_input;
    const tensor_id *imported = match->x->model->graph.edges.items + b->first_input;
    return ALL(uint32_t, i, a->n_inputs, match_tensors(match, inputs[i], imported[is_swapped ? 1 - i : i]));
}

// The import of one ONNX node is a handful of applications, so recursion is shallow.
static bool match_tensors(struct matching *match, tensor_id tensor, tensor_id imported)
{
    const struct graph *g = match->x->graph, *source = &match->x->model->graph;
    const struct node *a = graph_producer(g, tensor), *b = graph_producer(source, imported);
    bool is_same = false;
    if (bind_input(match, tensor, imported, &is_same))
        return is_same;
    if (g->tensors.items[tensor].output != source->tensors.items[imported].output || !node_is_same_operation(a, b))
        return false;
    return match_inputs(match, a, b, false) ||
           ((a->op->flags & OPERATOR_IS_COMMUTATIVE) && match_inputs(match, a, b, true));
}

bool match_origin(const struct exporter *x, tensor_id tensor, const struct imported_origin *origin,
                  tensor_id *ret_inputs)
{
    const struct onnx_node *n = x->model->file->model->graph->nodes.items[origin->node];
    struct matching match = {x, (uint32_t)n->inputs.count + 1, x->model->origins.node_inputs[origin->node], ret_inputs};
    for (uint32_t i = 0; i < match.n_inputs; i++)
        ret_inputs[i] = NO_TENSOR;
    if (!match_tensors(&match, tensor, origin->tensor))
        return false;
    return !ANY(uint32_t, i, match.n_inputs,
                match.imported[i] != NO_TENSOR && ret_inputs[i] == NO_TENSOR &&
                    !weight_of(x->model, match.imported[i]));
}
