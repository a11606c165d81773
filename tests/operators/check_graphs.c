// check_graphs FILE: each graph of the file, on random values, on the device "cpu" and by the reference.
#include "core/formats/sexp.h"
#include "tests/backends/check_model.h"
#include "tests/backends/processor.h"

static void check_graph(struct backend *cpu, const struct sexp *s, const char *file, uint64_t seed)
{
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct error error = {0};
    graph_init(&g, &arena);
    if (!graph_parse(s, file, &g, &error))
        fail_msg("%s:%d: %s", file, error.line, error.message);
    check_model(cpu, &g, seed, 1);
}

static void graphs_of_the_file_agree(void **state)
{
    const char *file = *state;
    const struct sexp *list = NULL;
    ARENA(arena);
    CPU(cpu, .threads = 1);
    OK(sexp_parse_file(&arena, file, &list, &error));
    assert_true(list->count > 0);
    for (size_t i = 0; i < list->count; i++)
        check_graph(cpu, &list->items[i], file, i + 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(graphs_of_the_file_agree, argv[1])};
    return argc == 2 ? cmocka_run_group_tests(tests, NULL, NULL) : EXIT_USAGE;
}
