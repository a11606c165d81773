// The device "cpu" against the reference on whole random graphs, with standard layouts and with random ones.
#include "tests/backends/processor.h"
#include "tests/backends/random_graphs.h"

TEST(agrees_on_random_graphs)
{
    const char *first = getenv("TASO_TEST_SEED");
    CPU(cpu, .threads = 2);
    uint64_t from = first ? strtoull(first, NULL, 10) : 1, to = first ? from + 1 : 201;
    size_t n_nodes = 0;
    for (uint64_t seed = from; seed < to; seed++) {
        struct maker m FREED_BY(drop_graph);
        make_graph(&m, seed);
        check_model(cpu, &m.g, seed, 10);
        for (uint64_t layouts = 1; layouts <= 2; layouts++)
            check_model_with(cpu, &m.g, random_layouts(&m.g, &m.arena, 2 * seed + layouts), seed, 10);
        n_nodes += m.g.nodes.count;
    }
    print_message("%zu nodes\n", n_nodes);
}

TEST(agrees_on_random_windows)
{
    CPU(cpu, .threads = 2);
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct maker m FREED_BY(drop_graph);
        make_window_graph(&m, seed);
        check_model(cpu, &m.g, seed, 10);
        for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++)
            check_model_with(cpu, &m.g, same_layouts(&m.g, &m.arena, layout), seed, 10);
    }
}
