// Inputs are found, the node is copied, and its outputs are noted.
#include "graph/extract.h"

node_id graph_extract_node(const struct graph_extraction *x, node_id node, bool is_swapped)
{
    const struct node *n = &x->from->nodes.items[node];
    tensor_id few[16], *inputs = n->n_inputs <= 16 ? few : mem_new_array(tensor_id, n->n_inputs);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        uint32_t j = is_swapped ? 1 - i : i;
        inputs[j] = x->find(x->context, graph_inputs(x->from, node)[j]);
    }
    node_id copy = graph_add_copy(x->to, x->from, node, inputs);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        x->note(x->context, n->first_output + i, graph_output_of(x->to, copy, i));
    if (inputs != few)
        mem_free_array(inputs, n->n_inputs);
    return copy;
}
