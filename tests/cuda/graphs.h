// Graphs for tests of the device "cuda": those of every device, and its own.
#pragma once
#include "tests/backends/graphs.h"

struct listed_graph {
    const char *text;
    size_t number;   // in its file, from 0 on
    bool is_own;
};

// Behind the last there is one without a text.
static inline const struct listed_graph *list_graphs(struct arena *a)
{
    const char **common = texts_of(a, CONFORMANCE, "graph"), **own = texts_of(a, "cuda/graphs.cases", "graph");
    VEC(struct listed_graph) list = {0};
    for (size_t i = 0; common[i]; i++)
        vec_push(&list, ((struct listed_graph){common[i], i, false}));
    for (size_t i = 0; i == 0 || own[i - 1]; i++)
        vec_push(&list, ((struct listed_graph){own[i], i, true}));
    const struct listed_graph *listed = arena_copy_array(a, list.items, list.count);
    vec_free(&list);
    return listed;
}
