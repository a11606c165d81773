// The graph of a text without a mistake, as a new one in `a`; the test fails at a mistake.
#pragma once
#include "tests/support/check.h"
#include "tests/support/graph_text.h"

static inline void parse_graph(struct graph *ret_graph, struct arena *a, const char *text)
{
    struct error error = {0};
    if (!graph_read_text(ret_graph, a, text, &error))
        fail_msg("%s\n%u:%u: %s", text, error.line, error.column, error.message);
}

// The same, declared here and freed where the block ends.
#define GRAPH(name, arena, text)                                                                                       \
    struct graph name FREED_BY(graph_free);                                                                            \
    parse_graph(&name, arena, text)

// The first node of the operator from a node on, of which there is one.
static inline node_id find_node(const struct graph *g, enum operator_id op, node_id from)
{
    while (g->nodes.items[from].op->id != op)
        from++;
    return from;
}
