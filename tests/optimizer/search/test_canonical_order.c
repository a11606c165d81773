// The order of nodes: topological, by what nodes are, and found in time where very many are ready at once.
#include "optimizer/search/backtracking/canonical_order.h"
#include "tests/optimizer/search/made_up.h"

// Inputs, each with its own square of tanh, in the order of their numbers or turned around.
static void set_up_independent(struct fixture *f, int n, bool is_turned)
{
    TEXT(text);
    for (int i = 0; i < n; i++) {
        int k = is_turned ? n - 1 - i : i;
        text_printf(&text, "x%d = f32 %d; t%d = tanh x%d; s%d = ewmul t%d t%d;\n", k, k % 1000 + 1, k, k, k, k, k);
    }
    text_add(&text, "output");
    for (int i = 0; i < n; i++)
        text_printf(&text, " s%d", i);
    set_up(f, text.chars);
}

// The nodes in their order; the caller frees them. *ret_n: how many.
static node_id *ordered_nodes(const struct graph *g, size_t *ret_n)
{
    struct match_index index FREED_BY(match_index_free);
    node_id *nodes = malloc((g->nodes.count + 1) * sizeof *nodes);
    *ret_n = 0;
    match_index_init(&index, g);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->define)
            nodes[(*ret_n)++] = n;
    struct ordering o FREED_BY(ordering_free) = {0};
    order_nodes(&o, &index, NULL, nodes, *ret_n);
    return nodes;
}

static void assert_topological(const struct graph *g, const node_id *nodes, size_t n)
{
    bool *is_listed = calloc(g->nodes.count + 1, 1);
    for (size_t i = 0; i < n; i++) {
        const struct node *node = &g->nodes.items[nodes[i]];
        for (uint32_t j = 0; j < node->n_inputs; j++) {
            node_id producer = g->tensors.items[graph_inputs(g, nodes[i])[j]].producer;
            assert_true(is_listed[producer] || !g->nodes.items[producer].op->define);
        }
        assert_false(is_listed[nodes[i]]);
        is_listed[nodes[i]] = true;
    }
    free(is_listed);
}

// Nodes of different types are listed alike, whatever their numbers are.
TEST(follows_from_what_nodes_are)
{
    struct fixture f, turned;
    size_t n, m;
    set_up_independent(&f, 300, false);
    set_up_independent(&turned, 300, true);
    node_id *x = ordered_nodes(&f.g, &n), *y = ordered_nodes(&turned.g, &m);
    assert_int_equal(n, 600);
    assert_int_equal(n, m);
    assert_topological(&f.g, x, n);
    assert_topological(&turned.g, y, m);
    for (size_t i = 0; i < n; i++) {
        const struct node *a = &f.g.nodes.items[x[i]], *b = &turned.g.nodes.items[y[i]];
        assert_ptr_equal(a->op, b->op);
        assert_true(type_equal(graph_type(&f.g, a->first_output), graph_type(&turned.g, b->first_output)));
    }
    free(x);
    free(y);
    tear_down(&f);
    tear_down(&turned);
}

// Looking through all that is ready for each node would take minutes.
TEST(lists_very_many_nodes)
{
    struct fixture f FREED_BY(tear_down);
    size_t n;
    set_up_independent(&f, 250000, false);
    node_id *nodes = ordered_nodes(&f.g, &n);
    assert_int_equal(n, 500000);
    assert_topological(&f.g, nodes, n);
    free(nodes);
}
