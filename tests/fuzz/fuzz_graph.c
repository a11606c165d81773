// Graphs as text: what is read passes every check, and is the same when it is printed and read again.
#include "core/formats/sexp.h"
#include "core/text/error.h"
#include "graph/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/graph_check.h"
#include "tests/support/scoped.h"

static bool print_graph(const uint8_t *data, size_t size, struct text *out)
{
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct error error;
    const struct sexp *list;
    graph_init(&g, &arena);
    bool is_read = sexp_parse(&arena, "fuzz", (const char *)data, size, &list, &error) && list->count == 1 &&
                   graph_parse(&list->items[0], "fuzz", &g, &error);
    if (is_read) {
        FUZZ_REQUIRE(graph_check(&g, &error));
        graph_print(out, &g);
    }
    return is_read;
}

FUZZ_PRINTED_AGAIN(print_graph)
