// Inputs are found, the node is copied, and its outputs are noted.
#include "graph/extract.h"

#include <assert.h>

void graph_extraction_clear(struct graph_extraction *x)
{
    for (tensor_id t = 0; t < x->from->tensors.count; t++)
        x->moved[t] = NO_TENSOR;
}

tensor_id graph_extract_tensor(const struct graph_extraction *x, tensor_id tensor)
{
    if (x->moved && x->moved[tensor] != NO_TENSOR)
        return x->moved[tensor];
    assert(x->find);
    tensor_id there = x->find(x->context, tensor);
    if (x->moved)
        x->moved[tensor] = there;
    return there;
}

static void note_output(const struct graph_extraction *x, tensor_id tensor, tensor_id there)
{
    if (x->moved)
        x->moved[tensor] = there;
    if (x->note)
        x->note(x->context, tensor, there);
}

node_id graph_extract_node(const struct graph_extraction *x, node_id node, bool is_swapped)
{
    const struct node *n = &x->from->nodes.items[node];
    tensor_id few[16], *inputs = n->n_inputs <= 16 ? few : mem_new_array(tensor_id, n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t j = is_swapped ? 1 - i : i;
        inputs[j] = graph_extract_tensor(x, graph_inputs(x->from, node)[j]);
    }
    node_id copy = x->add ? x->add(x->context, node, inputs) : graph_add_copy(x->to, x->from, node, inputs);
    for (uint32_t i = 0; copy != NO_NODE && i < n->n_outputs; i++)
        note_output(x, n->first_output + i, graph_output_of(x->to, copy, i));
    if (inputs != few)
        mem_free_array(inputs, n->n_inputs);
    return copy;
}
