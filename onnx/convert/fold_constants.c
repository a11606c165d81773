// The ancestors of the wanted tensor alone are looked at and run, in the graph's order: neither the depth nor the size
// of the rest of the graph matters.
#include "onnx/convert/fold_constants.h"

#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "graph/evaluate.h"
#include "graph/graph_whole.h"
#include "operators/traits.h"

#include <stdlib.h>
#include <string.h>

#define FOLD_LIMITS_IN_SUM 64      // of all constants that are computed, as often the limit of one
#define OPERATIONS_OF_LIMIT 1000   // that computing them takes in all, for each element of that limit

struct folding {
    struct imported_model *model;
    const struct graph *graph;
    struct arena *arena;   // of everything but the last result
    node_list ancestors;
    struct tensor_value **outputs;   // of each of these, as far as they were run
};

COMPARISON(by_order, node_id, ORDER(*x, *y))

static struct tensor_value value_of(const struct folding *f, tensor_id tensor)
{
    const struct tensor *t = &f->graph->tensors.items[tensor];
    const node_id *place =
        bsearch(&t->producer, f->ancestors.items, f->ancestors.count, sizeof *f->ancestors.items, by_order);
    return f->outputs[place - f->ancestors.items][t->output];
}

// The last result outlives the folding.
static bool load_weight(struct folding *f, size_t place, struct tensor_value *ret_value)
{
    const struct node *node = &f->graph->nodes.items[f->ancestors.items[place]];
    struct error ignored;
    const void *data;
    bool is_last = place + 1 == f->ancestors.count;
    if (!(is_last ? imported_weight_data : imported_weight_acquire)(f->model, (size_t)node->attributes[0].ints[0],
                                                                    &data, &ignored))
        return false;
    *ret_value = (struct tensor_value){*graph_type(f->graph, node->first_output), (void *)(uintptr_t)data};
    return true;
}

static bool run_ancestor(struct folding *f, size_t place, struct arena *results)
{
    node_id n = f->ancestors.items[place];
    const struct node *node = &f->graph->nodes.items[n];
    struct error ignored;
    struct tensor_value *outputs = f->outputs[place] = arena_array(f->arena, struct tensor_value, node->n_outputs + 1);
    if (node->op->id == OP_WEIGHT)
        return load_weight(f, place, outputs);
    if (!node->op->define)
        return false;
    struct tensor_value *inputs = arena_array(f->arena, struct tensor_value, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = value_of(f, graph_inputs(f->graph, n)[i]);
    if (f->model->runner.run)
        return f->model->runner.run(f->model->runner.context, f->graph, n, inputs, outputs, results, &ignored);
    return graph_evaluate_node(f->graph, n, inputs, outputs, results, &ignored);
}

static bool are_finite(const struct tensor_value *v)
{
    return !v->data || !dtype_is_float(v->type.dtype) ||
           elements_are_finite(v->type.dtype, v->data, (size_t)type_elements(&v->type));
}

static bool are_weights_finite(const struct folding *f)
{
    return ALL(size_t, i, f->ancestors.count,
               f->graph->nodes.items[f->ancestors.items[i]].op->id != OP_WEIGHT || are_finite(f->outputs[i]));
}

static void release_weights(struct folding *f)
{
    for (size_t i = 0; i + 1 < f->ancestors.count && f->outputs[i]; i++) {
        const struct node *node = &f->graph->nodes.items[f->ancestors.items[i]];
        if (node->op->id == OP_WEIGHT && f->outputs[i]->data)
            imported_weight_release(f->model, (size_t)node->attributes[0].ints[0], f->outputs[i]->data);
    }
}

bool folding_has_room(const struct importer *im, int64_t n_elements)
{
    int64_t limit = im->options->fold_limit;
    return n_elements <= limit && n_elements <= FOLD_LIMITS_IN_SUM * limit - im->folding.elements;
}

// A small constant may be the sum of a large one, and a short model the product of many. Who wants an end gets it.
bool folding_take_room_for(struct importer *im, const struct graph *g, tensor_id tensor)
{
    LOCAL_LIST(node_list, nodes);
    if (interrupt_requested())
        return false;
    int64_t n_elements = 0, most = FOLD_LIMITS_IN_SUM * im->options->fold_limit;
    double operations = im->folding.operations;
    graph_list_ancestors(g, g->tensors.items[tensor].producer, &nodes);
    for (size_t i = 0; i < nodes.count && n_elements <= most; i++) {
        const struct node *n = &g->nodes.items[nodes.items[i]];
        if (n->op->id == OP_WEIGHT)
            continue;
        operations += graph_node_flops(g, nodes.items[i]);
        for (uint32_t j = 0; j < n->n_outputs; j++)
            n_elements += type_elements(graph_type(g, n->first_output + j));
    }
    if (n_elements > most || operations > OPERATIONS_OF_LIMIT * (double)im->options->fold_limit)
        return false;
    im->folding.operations = operations;
    return true;
}

const void *evaluate_constant(struct imported_model *m, const struct graph *g, tensor_id tensor,
                              struct arena *arena_of_result)
{
    ARENA(arena);
    struct folding f = {.model = m, .graph = g, .arena = &arena};
    bool is_fine = true;
    graph_list_ancestors(g, g->tensors.items[tensor].producer, &f.ancestors);
    f.outputs = arena_array(&arena, struct tensor_value *, f.ancestors.count);
    for (size_t i = 0; is_fine && i < f.ancestors.count; i++)
        is_fine = run_ancestor(&f, i, i + 1 == f.ancestors.count ? arena_of_result : &arena);
    const struct tensor_value value = is_fine ? value_of(&f, tensor) : (struct tensor_value){0};
    const void *result = are_finite(&value) || !are_weights_finite(&f) ? value.data : NULL;
    release_weights(&f);
    vec_free(&f.ancestors);
    return result;
}

// ---- constants that say the same many times ----
// An expanded vector, or what is computed of one, entry by entry, is kept as what is said once, to be broadcast.

bool constant_grows(const struct graph *g, tensor_id tensor, bool *ret_is_moved)
{
    LOCAL_LIST(node_list, nodes);
    int64_t n_weight_elements = 0;
    *ret_is_moved = true;
    graph_list_ancestors(g, g->tensors.items[tensor].producer, &nodes);
    for (size_t i = 0; i < nodes.count; i++) {
        const struct node *n = &g->nodes.items[nodes.items[i]];
        if (n->op->id == OP_WEIGHT)
            n_weight_elements += type_elements(graph_type(g, n->first_output));
        else
            *ret_is_moved = *ret_is_moved && operator_moves_entries(n->op);
    }
    return type_elements(graph_type(g, tensor)) > n_weight_elements;
}

// Along one axis: blocks of as many bytes as behind one entry, `n` of them in a row that are the same.
static bool repeats_along(const char *data, size_t n_rows, size_t n, size_t bytes)
{
    return ALL(size_t, row, n_rows,
               memcmp(data + row * n * bytes, data + row * n * bytes + bytes, (n - 1) * bytes) == 0);
}

static void keep_first(char *data, size_t n_rows, size_t n, size_t bytes)
{
    for (size_t row = 1; row < n_rows; row++)
        memmove(data + row * bytes, data + row * n * bytes, bytes);
}

static void drop_leading_axes(struct type *t)
{
    int n = FIRST_OF(int, i, t->rank, t->dim[i] != 1);
    *t = type_make(t->dtype, t->rank - n, t->dim + n);
}

bool elements_without_repetition(const struct type *type, void *data, struct type *ret_type)
{
    struct type small = type_make(type->dtype, type->rank, type->dim);
    size_t n_rows = 1, behind = type_bytes(&small);
    if (behind == 0)
        return false;
    for (int axis = 0; axis < small.rank; axis++) {
        size_t n = (size_t)small.dim[axis];
        behind /= n;
        if (n > 1 && repeats_along(data, n_rows, n, behind)) {
            keep_first(data, n_rows, n, behind);
            small.dim[axis] = 1;
        }
        n_rows *= (size_t)small.dim[axis];
    }
    bool is_smaller = type_elements(&small) < type_elements(type);
    drop_leading_axes(&small);
    *ret_type = small;
    return is_smaller;
}

// ---- zeros ----
// In a weight, or made of zeros by a short chain of operators that keep them.

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
    return longest != 0 && n->n_inputs != 0 && operator_has(n->op, TRAIT_KEEPS_ZERO) &&
           ALL(uint32_t, i, n->n_inputs, is_zero(m, g, g->edges.items[n->first_input + i], longest - 1));
}

bool initial_state_is_zero(struct imported_model *m, const struct graph *g, const struct onnx_node *n, uint32_t place,
                           tensor_id tensor)
{
    return onnx_node_is(n, "LSTM GRU RNN") && (place == 5 || place == 6) && is_zero(m, g, tensor, LONGEST_CHAIN);
}
