// Zeros in a weight, or made of zeros by a short chain of operators that keep them.
#include "onnx/convert/initial_state.h"

#include "core/text/error.h"
#include "onnx/convert/weights.h"
#include "onnx/format/visit.h"
#include "operators/traits.h"

#define LARGEST_STATE (1 << 20)   // bytes
#define LONGEST_CHAIN 8

static bool is_initial_state(const struct onnx_node *n, uint32_t place)
{
    bool is_recurrence =
        onnx_string_is(&n->op_type, "LSTM") || onnx_string_is(&n->op_type, "GRU") || onnx_string_is(&n->op_type, "RNN");
    return is_recurrence && onnx_node_has_standard_domain(n) && (place == 5 || place == 6);
}

static bool is_zero_weight(struct imported_model *m, size_t index)
{
    const struct imported_weight *w = &m->weights.items[index];
    size_t size = type_is_known(&w->type) ? type_bytes(&w->type) : SIZE_MAX;
    const void *data;
    struct error ignored;
    if (size > LARGEST_STATE || !imported_weight_data(m, index, &data, &ignored))
        return false;
    for (size_t i = 0; i < size; i++)
        if (((const uint8_t *)data)[i])
            return false;
    return true;
}

static bool is_zero(struct imported_model *m, const struct graph *g, tensor_id tensor, int longest)
{
    const struct node *n = graph_producer(g, tensor);
    if (n->op->id == OP_WEIGHT)
        return is_zero_weight(m, (size_t)n->attributes[0].ints[0]);
    if (longest == 0 || n->n_inputs == 0 || !operator_has(n->op, TRAIT_KEEPS_ZERO))
        return false;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (!is_zero(m, g, g->edges.items[n->first_input + i], longest - 1))
            return false;
    return true;
}

bool initial_state_is_zero(struct imported_model *m, const struct graph *g, const struct onnx_node *n, uint32_t place,
                           tensor_id tensor)
{
    return is_initial_state(n, place) && is_zero(m, g, tensor, LONGEST_CHAIN);
}
