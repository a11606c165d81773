// Graphs as text: what is read passes every check, and is the same when it is printed and read again.
#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/graph.h"
#include "graph/text.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/graph_check.h"
#include <string.h>

static bool read_graph(struct arena *arena, const char *text, size_t size, struct graph *ret_graph)
{
    struct error error;
    const struct sexp *list;
    graph_init(ret_graph, arena);
    if (sexp_parse(arena, "fuzz", text, size, &list, &error) && list->count == 1 &&
        graph_parse(&list->items[0], "fuzz", ret_graph, &error))
        return true;
    graph_free(ret_graph);
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    struct graph g, again;
    struct text first = {0}, second = {0};
    struct error error;
    arena_init(&arena);
    if (read_graph(&arena, (const char *)data, size, &g)) {
        FUZZ_REQUIRE(graph_check(&g, &error));
        graph_print(&first, &g);
        FUZZ_REQUIRE(read_graph(&arena, first.chars, first.count, &again));
        graph_print(&second, &again);
        FUZZ_REQUIRE(strcmp(first.chars, second.chars) == 0);
        graph_free(&again);
        graph_free(&g);
    }
    text_free(&first);
    text_free(&second);
    arena_free(&arena);
    return 0;
}
