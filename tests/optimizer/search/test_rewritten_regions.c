// A result as regions of its original, any of which can be taken.
#include "graph/graph_whole.h"
#include "optimizer/search/rewritten_regions.h"
#include "tests/support/parse_graph.h"

static const char original[] = "x y = f32 4 4; a = tanh x; b = tanh y; p = matmul a b; r = relu p; s = tanh r";

struct fixture {
    struct arena arena;
    struct graph before, after;
    struct rewritten_regions regions;
};

static tensor_id add(struct graph *g, enum operator_id op, tensor_id input)
{
    node_id n;
    assert_true(graph_add(g, operators[op], NULL, 1, &input, &n));
    return graph_output_of(g, n, 0);
}

// Whatever they compute: two hyperbolic tangents become two nodes each, and the relu another one.
static void set_up(struct fixture *f)
{
    tensor_id old[3], new[3];
    *f = (struct fixture){0};
    parse_graph(&f->before, &f->arena, original);
    struct graph with_both FREED_BY(graph_free);
    graph_copy(&with_both, &f->before);
    node_id at[] = {find_node(&f->before, OP_TANH, 0), 0, find_node(&f->before, OP_RELU, 0)};
    at[1] = find_node(&f->before, OP_TANH, at[0] + 1);
    for (int i = 0; i < 3; i++) {
        tensor_id input = graph_inputs(&f->before, at[i])[0];
        old[i] = graph_output_of(&f->before, at[i], 0);
        new[i] =
            i == 2 ? add(&with_both, OP_SIGMOID, input) : add(&with_both, OP_RELU, add(&with_both, OP_SIGMOID, input));
    }
    assert_true(graph_replace(&f->after, &with_both, 3, old, new, NULL));
    rewritten_regions_find(&f->regions, &f->before, &f->after, &f->arena);
}

static void tear_down(struct fixture *f)
{
    graph_free(&f->before);
    graph_free(&f->after);
    arena_free(&f->arena);
}

static size_t count_op(const struct graph *g, enum operator_id op)
{
    return COUNT(node_id, i, g->nodes.count, g->nodes.items[i].op->id == op);
}

TEST(equal_regions_are_of_one_kind)
{
    FIXTURE(&f);
    const struct rewritten_regions *r = &f.regions;
    assert_int_equal(r->count, 3);
    size_t n_equal = (r->kinds[0] == r->kinds[1]) + (r->kinds[0] == r->kinds[2]) + (r->kinds[1] == r->kinds[2]);
    assert_int_equal(n_equal, 1);
    assert_int_equal(r->of_node[find_node(&f.after, OP_MATMUL, 0)], NO_REGION);
    assert_int_equal(r->of_node[find_node(&f.after, OP_TANH, 0)], NO_REGION);
}

TEST(all_or_none_give_both_ends)
{
    struct graph g FREED_BY(graph_free);
    const bool none[3] = {false, false, false}, all[3] = {true, true, true};
    FIXTURE(&f);
    assert_true(rewritten_regions_take(&f.regions, none, &g));
    assert_true(graph_equal(&g, &f.before));
    graph_free(&g);
    assert_true(rewritten_regions_take(&f.regions, all, &g));
    assert_true(graph_equal(&g, &f.after));
    assert_true(graph_key(&g) == graph_key(&f.after));
}

// The others are as they were, and what is taken stands for the same value again.
TEST(each_can_be_taken_alone)
{
    struct graph g;
    FIXTURE(&f);
    for (size_t i = 0; i < 3; i++) {
        bool one[3] = {false, false, false};
        one[i] = true;
        bool is_relu = i == f.regions.of_node[find_node(&f.after, OP_MATMUL, 0) + 1];
        assert_true(rewritten_regions_take(&f.regions, one, &g));
        assert_int_equal(count_op(&g, OP_SIGMOID), 1);
        assert_int_equal(count_op(&g, OP_TANH), is_relu ? 3 : 2);
        assert_true(g.tensors.items[g.outputs.items[0]].value == f.after.tensors.items[f.after.outputs.items[0]].value);
        struct rewritten_regions again;
        rewritten_regions_find(&again, &f.before, &g, &f.arena);
        assert_int_equal(again.count, 1);
        assert_true(again.kinds[0] == f.regions.kinds[i]);
        graph_free(&g);
    }
}

// A product that two others read, each of which gets rid of it: it goes when both do.
TEST(what_lets_a_node_go_together_is_one_region)
{
    static const char products[] = "x y = f32 4 4; p = matmul x y; a = tanh p; b = relu p; output a b";
    ARENA(arena);
    struct graph before FREED_BY(graph_free), with_both FREED_BY(graph_free), after FREED_BY(graph_free);
    struct rewritten_regions regions;
    parse_graph(&before, &arena, products);
    graph_copy(&with_both, &before);
    node_id at[] = {find_node(&before, OP_TANH, 0), find_node(&before, OP_RELU, 0)};
    tensor_id x = graph_output_of(&before, find_node(&before, OP_INPUT, 0), 0), old[2], new[2];
    for (int i = 0; i < 2; i++)
        old[i] = graph_output_of(&before, at[i], 0);
    new[0] = add(&with_both, OP_SIGMOID, x);
    new[1] = add(&with_both, OP_RELU, add(&with_both, OP_TANH, x));
    assert_true(graph_replace(&after, &with_both, 2, old, new, NULL));
    rewritten_regions_find(&regions, &before, &after, &arena);
    assert_int_equal(regions.count, 1);
    assert_int_equal(regions.of_node[find_node(&after, OP_SIGMOID, 0)], 0);
    assert_int_equal(regions.of_node[find_node(&after, OP_RELU, 0)], 0);
    assert_int_equal(count_op(&after, OP_MATMUL), 0);
}
