// A graph of ONNX Runtime as arrays of what is asked of it again and again: its nodes in topological order, and the
// values that these read and write.
#pragma once
#include "core/memory/arena.h"
#include "provider/runtime.h"

struct graph_value {
    const OrtValueInfo *info;   // NULL: an input that is left out
    const char *name;
    bool is_constant;   // an initializer that nothing overrides
};
struct graph_node {
    const OrtNode *node;
    const char *name, *type, *domain;
    size_t n_inputs, n_outputs, n_implicit, n_subgraphs;
    const struct graph_value *inputs, *outputs;
    bool is_taken;   // by another provider
};
struct graph_view {
    const OrtGraph *graph;
    const char *path;   // of the model's file; empty: it is in memory
    int64_t ir_version;
    size_t n_opsets, n_nodes;
    const char **domains;
    int64_t *versions;
    struct graph_node *nodes;
};
// All that it points to lives as long as the graph and the arena. False: ONNX Runtime refuses to say.
bool graph_view_make(struct graph_view *ret_view, const struct runtime *r, const OrtGraph *graph, struct arena *arena);
// Fills in what its `node` is.
bool graph_node_read(struct graph_node *n, const struct runtime *r, struct arena *arena);
