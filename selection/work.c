// Counts operators, operations and entries of what depends on inputs.
#include "selection/work.h"

#include "core/memory/arena.h"
#include "graph/graph_whole.h"
#include "operators/traits.h"

static double entries_of(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    double entries =
        SUM_ALL(double, uint32_t, i, node->n_inputs, (double)type_elements(graph_type(g, graph_inputs(g, n)[i])));
    for (uint32_t i = 0; i < node->n_outputs; i++)
        entries += (double)type_elements(graph_type(g, graph_output_of(g, n, i)));
    return entries;
}

static double operations_of(const struct graph *g, node_id n, struct arena *a)
{
    struct definition d;
    ARENA_MARK(mark, a);
    double operations = graph_define(g, n, &d, a) ? definition_flops(&d) : 0;
    definition_free(&d);
    return operations;
}

static bool is_read_in_place(const struct operator* op)
{
    return op->flags & OPERATOR_IS_VIEW || operator_splits(op) || operator_repeats(op);
}

static struct piece piece_of_node(const struct graph *g, node_id n, uint32_t leaves, struct arena *a)
{
    const struct operator* op = g->nodes.items[n].op;
    double operations = operations_of(g, n, a);
    return (struct piece){.leaves = leaves,
                          .is_product = operations > 0 && !(op->flags & OPERATOR_IS_ELEMENTWISE),
                          .operations = operations,
                          .entries = entries_of(g, n)};
}

struct work work_of_graph(const struct graph *g, struct arena *a)
{
    struct work w = {0, arena_array(a, struct piece, g->nodes.count + 1)};
    uint32_t *leaves = arena_array(a, uint32_t, g->nodes.count + 1);
    bool *live = arena_array(a, bool, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        if (node->op->flags & OPERATOR_IS_LEAF) {
            leaves[n] = 1u << (node->attributes[0].ints[0] & 31);
            continue;
        }
        for (uint32_t i = 0; i < node->n_inputs; i++)
            leaves[n] |= leaves[g->tensors.items[graph_inputs(g, n)[i]].producer];
        if (live[n] && !is_read_in_place(node->op))
            w.pieces[w.count++] = piece_of_node(g, n, leaves[n], a);
    }
    return w;
}

struct measures {
    uint32_t started, products;
    double operations, entries;
};

static struct measures measure(const struct work *w, uint32_t weights)
{
    struct measures m = {0};
    EACH(w->pieces, w->count, p) {
        if (!(p->leaves & ~weights))
            continue;
        m.started++;
        m.products += p->is_product;
        m.operations += p->operations;
        m.entries += p->entries;
    }
    return m;
}

uint32_t work_products(const struct work *w, uint32_t weights)
{
    return measure(w, weights).products;
}

enum work_order work_compare(const struct work *a, const struct work *b, uint32_t weights)
{
    struct measures x = measure(a, weights), y = measure(b, weights);
    if (x.started != y.started)
        return y.started < x.started ? WORK_MAY_BE_LESS : WORK_IS_NO_LESS;
    if (y.products < x.products || y.operations < x.operations || y.entries < x.entries)
        return WORK_MAY_BE_LESS;
    return y.products == x.products && y.operations == x.operations && y.entries == x.entries ? WORK_IS_EQUAL
                                                                                              : WORK_IS_NO_LESS;
}

bool work_is_at_most(const struct work *a, const struct work *b, uint32_t weights)
{
    struct measures x = measure(a, weights), y = measure(b, weights);
    return x.started <= y.started && x.products <= y.products && x.operations <= y.operations && x.entries <= y.entries;
}
