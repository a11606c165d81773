// Graphs in text form on a device, against the reference.
#pragma once
#include "tests/backends/random_graphs.h"
#include "tests/support/parse_graph.h"

static inline void check_text(struct backend *device, const char *text, uint64_t seed, double allowed)
{
    ARENA(arena);
    GRAPH(g, &arena, text);
    check_model(device, &g, seed, allowed);
}

// Products with their results in columns, and with their middle axes exchanged.
static inline void check_matrices(struct backend *device, const char *text, uint64_t seed, double allowed)
{
    static const enum layout layouts[] = {LAYOUT_COLUMNS, LAYOUT_MIDDLE_SWAPPED};
    for (size_t l = 0; strstr(text, "= matmul ") && l < 2; l++) {
        ARENA(arena);
        GRAPH(g, &arena, text);
        check_model_with(device, &g, same_layouts(&g, &arena, layouts[l]), seed, allowed);
    }
}
