// Nodes of a written model that are called by their numbers, so that they can be told from what a profile of ONNX
// Runtime calls its kernels: what it makes of several nodes has the name of one of them as a part of its own name, or
// that of the value that it makes.
#pragma once
#include "core/memory/key_set.h"

struct exported_types;
struct onnx_model;

struct numbered_nodes {
    size_t count;
    uint64_t *values;       // of each: the key of a value of the graph that it makes or helps to make, or 0
    struct key_set names;   // of values that nodes make,
    VEC(size_t) makers;     // and each one's node
};
// The model's nodes are replaced by copies with other names. What both have lives in `arena`, but for what
// numbered_nodes_free frees.
void numbered_nodes_make(struct numbered_nodes *ret_nodes, struct onnx_model *model, const struct exported_types *types,
                         struct arena *arena);
// A node by the name of a kernel; SIZE_MAX: it is none of the nodes'.
size_t numbered_nodes_find(const struct numbered_nodes *nodes, const char *kernel);
void numbered_nodes_free(struct numbered_nodes *nodes);
