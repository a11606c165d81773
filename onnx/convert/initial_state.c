// Zeros in a weight, or made of zeros by a short chain of operators that keep them.
#include "onnx/convert/initial_state.h"

#include "operators/traits.h"

#define LARGEST_STATE (1 << 20)   // bytes
#define LONGEST_CHAIN 8

static bool is_zero_weight(struct imported_model *m, struct imported_weight *w)
{
    size_t size = type_is_known(&w->type) ? type_bytes(&w->type) : SIZE_MAX;
    const uint8_t *data = size > LARGEST_STATE ? NULL : weight_elements(m, w);
    return data && ALL(size_t, i, size, !data[i]);
}

static bool is_zero(struct imported_model *m, const struct graph *g, tensor_id tensor, int longest)
{
    const struct node *n = graph_producer(g, tensor);
    if (n->op->id == OP_WEIGHT)
        return is_zero_weight(m, &m->weights.items[n->attributes[0].ints[0]]);
    if (longest == 0 || n->n_inputs == 0 || !operator_has(n->op, TRAIT_KEEPS_ZERO))
        return false;
    return ALL(uint32_t, i, n->n_inputs, is_zero(m, g, g->edges.items[n->first_input + i], longest - 1));
}

bool initial_state_is_zero(struct imported_model *m, const struct graph *g, const struct onnx_node *n, uint32_t place,
                           tensor_id tensor)
{
    return onnx_node_is(n, "LSTM GRU RNN") && (place == 5 || place == 6) && is_zero(m, g, tensor, LONGEST_CHAIN);
}
