// Graphs in text form on a device, against the reference.
#pragma once
#include "core/formats/sexp.h"
#include "tests/backends/random_graphs.h"

static inline bool read_graph(const char *text, struct graph *g, struct arena *arena, struct error *error)
{
    const struct sexp *list;
    graph_init(g, arena);
    return sexp_parse(arena, "test", text, strlen(text), &list, error) &&
           graph_parse(&list->items[0], "test", g, error);
}

static inline void check_text(struct backend *device, const char *text, uint64_t seed, double allowed)
{
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct error error = {0};
    if (!read_graph(text, &g, &arena, &error))
        fail_msg("%s\n%s", text, error.message);
    check_model(device, &g, seed, allowed);
}

// Products with their results in columns, and with their middle axes exchanged.
static inline void check_matrices(struct backend *device, const char *text, uint64_t seed, double allowed)
{
    static const enum layout layouts[] = {LAYOUT_COLUMNS, LAYOUT_MIDDLE_SWAPPED};
    for (size_t l = 0; strstr(text, "(matmul ") && l < 2; l++) {
        ARENA(arena);
        struct graph g FREED_BY(graph_free);
        struct error error = {0};
        if (!read_graph(text, &g, &arena, &error))
            fail_msg("%s\n%s", text, error.message);
        check_model_with(device, &g, same_layouts(&g, &arena, layouts[l]), seed, allowed);
    }
}
