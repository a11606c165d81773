// Bounds go from weights to what is computed from them, in the order of the graph. Where none is known (quotients)
// halves may overflow, and longer numbers do not.
#include "optimizer/search/weight_limits.h"

#include "core/memory/arena.h"
#include "expressions/definition.h"
#include "expressions/magnitude.h"
#include "graph/graph_whole.h"
#include "optimizer/search/weight_bytes.h"
#include "substitutions/match.h"
#include <math.h>

struct bounding {
    const struct graph *g;
    const double *of_weights;   // by their numbers
    double *magnitudes;         // of all tensors
    struct arena *arena;
};

#define FIRST_INFINITE_HALF 65520   // what is less becomes 65504

static bool may_be_beyond(enum dtype dtype, double magnitude)
{
    return dtype == DTYPE_F16 ? !(magnitude < FIRST_INFINITE_HALF)
                              : dtype_is_float(dtype) && magnitude > dtype_largest(dtype);
}

static void bound_weight(struct bounding *b, const struct node *n)
{
    int64_t number = n->attributes[0].ints[0];
    b->magnitudes[n->first_output] = number < FIRST_COMPUTED_WEIGHT ? b->of_weights[number] : NAN;
}

static void bound_computed(struct bounding *b, node_id id)
{
    const struct node *n = &b->g->nodes.items[id];
    LOCAL_ARRAY(double, of_inputs, n->n_inputs + 1);
    ARENA_MARK(mark, b->arena);
    struct definition d;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        of_inputs[i] = b->magnitudes[graph_inputs(b->g, id)[i]];
    bool is_defined = graph_define(b->g, id, &d, b->arena);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        b->magnitudes[n->first_output + i] = is_defined ? definition_magnitude(&d, (int)i, of_inputs) : NAN;
    definition_free(&d);
}

static size_t count_beyond(const struct bounding *b, const struct node *n)
{
    return COUNT(uint32_t, i, n->n_outputs,
                 may_be_beyond(graph_type(b->g, n->first_output + i)->dtype, b->magnitudes[n->first_output + i]));
}

static size_t bound_weights(struct bounding *b, const bool *live, const bool *is_weight)
{
    size_t count = 0;
    for (node_id id = 0; id < b->g->nodes.count; id++) {
        const struct node *n = &b->g->nodes.items[id];
        if (!live[id] || !is_weight[id])
            continue;
        if (n->op->id == OP_WEIGHT) {
            bound_weight(b, n);
            continue;
        }
        bound_computed(b, id);
        count += count_beyond(b, n);
    }
    return count;
}

size_t graph_weights_beyond_range(const struct graph *g, const double *magnitudes)
{
    ARENA(arena);
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    LOCAL_ARRAY(bool, is_weight, g->nodes.count + 1);
    LOCAL_ARRAY(double, all, g->tensors.count + 1);
    struct bounding b = {.g = g, .of_weights = magnitudes, .magnitudes = all, .arena = &arena};
    graph_mark_live(g, live);
    graph_mark_constant(g, is_weight);
    return bound_weights(&b, live, is_weight);
}

bool graph_is_within(const struct graph *g, const struct weight_limits *limits)
{
    return (limits->most_bytes == 0 || graph_weight_bytes(g) <= limits->most_bytes) &&
           (!limits->magnitudes || graph_weights_beyond_range(g, limits->magnitudes) <= limits->n_beyond);
}
