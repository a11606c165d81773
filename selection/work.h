// The cost of a graph, in measures that no device disagrees on.
//
// A graph is better than another when it has fewer operators to start; or as many, and fewer of those that compute
// more than entry by entry (products, convolutions, poolings, sums), or fewer scalar operations, or fewer entries to
// read and to write. What is known before the graph runs (made of weights alone) costs nothing; neither do views, parts
// of tensors and repeated entries, which readers take where they are.
#pragma once
#include "graph/graph.h"

// The work of a graph's operators, in the arena given.
struct work {
    uint32_t count;
    struct piece {
        uint32_t leaves;   // one bit for each leaf that it depends on
        bool is_product;
        double operations, entries;
    } * pieces;
};
struct work work_of_graph(const struct graph *g, struct arena *a);

enum work_order {
    WORK_MAY_BE_LESS,   // of b: it is better than a
    WORK_IS_EQUAL,      // in all measures
    WORK_IS_NO_LESS,
};
// The leaves in `weights` are weights.
enum work_order work_compare(const struct work *a, const struct work *b, uint32_t weights);
uint32_t work_products(const struct work *w, uint32_t weights);
// Is a no worse than b in each measure?
bool work_is_at_most(const struct work *a, const struct work *b, uint32_t weights);
