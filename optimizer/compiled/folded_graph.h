// A graph for keeping: what is computed of weights alone has become weights, so that nothing is left to be done once
// before the first run. What would make weights larger (a broadcast one) stays in the graph. Values are computed on
// request, each by itself.
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"

struct folded_weight {
    size_t given;         // index of the weight in the whole graph, or NOT_GIVEN
    tensor_id computed;   // else this tensor of it
    // While it is acquired:
    size_t n_users;
    struct arena arena;
    const void *data;
};
#define NOT_GIVEN SIZE_MAX

struct folded_graph {
    const struct graph *whole;
    struct given_weights given;   // of the whole graph
    struct backend *backend;      // that computes
    struct graph graph;           // its inputs are leaves 0, 1, ..., its weights these:
    VEC(struct folded_weight) weights;
    struct tensor_value *values;   // of the weights: types alone
};

// `inputs` are leaves of `whole`, or have left it: they are types of leaves whose indices are their places. Everything
// lives in `arena`.
void folded_graph_make(struct folded_graph *ret_folded, const struct graph *whole, const struct given_weights *weights,
                       struct backend *backend, size_t n_inputs, const struct type *inputs, struct arena *arena);
void folded_graph_free(struct folded_graph *f);
struct weight_source folded_graph_source(struct folded_graph *f);
