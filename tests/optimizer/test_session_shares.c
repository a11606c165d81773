// Seconds of a session's kernels become those of groups: what the runtime fused is shared out among all that it fused.
#include "optimizer/runtime/session_shares.h"
#include "tests/support/parse_graph.h"

#define MOST_NODES 16

struct fixture {
    struct arena arena;
    struct graph graph;
    struct step_groups groups;
    double alone[MOST_NODES], seen[MOST_NODES], shares[MOST_NODES];
};

// Alone every group takes a second for each node before it, so that all of them differ.
static void set_up(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    parse_graph(&f->graph, &f->arena, text);
    step_groups_find(&f->groups, &f->graph, &f->arena);
    for (node_id n = 0; n < f->graph.nodes.count; n++) {
        f->alone[n] = n;
        f->seen[n] = NAN;
    }
}

static void tear_down(struct fixture *f)
{
    graph_free(&f->graph);
    arena_free(&f->arena);
}

static double share(struct fixture *f, enum operator_id op)
{
    return f->shares[find_node(&f->graph, op, 0)];
}

static void expect_share(struct fixture *f, enum operator_id op, double seconds)
{
    assert_true(fabs(share(f, op) - seconds) < 1e-9);
}

static const char chain[] = "x = f32 4 4; w = weight f32 4 4; p = matmul x w; s = softmax 1 p; "
                            "t = transpose :perm 1 0 s; q = reducesum :axes 0 t";

TEST(kernels_are_those_of_their_groups)
{
    FIXTURE(&f, chain);
    f.seen[find_node(&f.graph, OP_MATMUL, 0)] = 5;
    f.seen[find_node(&f.graph, OP_SOFTMAX, 0)] = 7;
    f.seen[find_node(&f.graph, OP_TRANSPOSE, 0)] = 0.5;
    f.seen[find_node(&f.graph, OP_REDUCESUM, 0)] = 1;
    session_shares(&f.groups, f.alone, f.seen, f.shares);
    expect_share(&f, OP_MATMUL, 5);
    expect_share(&f, OP_SOFTMAX, 7);
    expect_share(&f, OP_TRANSPOSE, 0.5);
    expect_share(&f, OP_REDUCESUM, 1);
}

// Of two neighbours the sum takes ten times what it does alone: it did the transposition, too.
TEST(a_group_without_kernels_is_a_part_of_the_slowest)
{
    FIXTURE(&f, chain);
    node_id transpose = find_node(&f.graph, OP_TRANSPOSE, 0), sum = find_node(&f.graph, OP_REDUCESUM, 0);
    f.seen[find_node(&f.graph, OP_MATMUL, 0)] = 2;
    f.seen[find_node(&f.graph, OP_SOFTMAX, 0)] = 3;
    f.seen[sum] = 50;
    session_shares(&f.groups, f.alone, f.seen, f.shares);
    expect_share(&f, OP_MATMUL, 2);
    expect_share(&f, OP_SOFTMAX, 3);
    expect_share(&f, OP_TRANSPOSE, 50.0 * transpose / (transpose + sum));
    expect_share(&f, OP_REDUCESUM, 50.0 * sum / (transpose + sum));
}

// From neighbour to neighbour, and the sum stays what was seen.
TEST(all_that_was_fused_shares_one_kernel)
{
    FIXTURE(&f, chain);
    f.seen[find_node(&f.graph, OP_MATMUL, 0)] = 28;
    session_shares(&f.groups, f.alone, f.seen, f.shares);
    assert_true(fabs(share(&f, OP_MATMUL) + share(&f, OP_SOFTMAX) + share(&f, OP_TRANSPOSE) + share(&f, OP_REDUCESUM) -
                     28) < 1e-9);
    assert_true(share(&f, OP_MATMUL) < share(&f, OP_REDUCESUM));
}

TEST(without_any_kernel_nothing_is_taken)
{
    FIXTURE(&f, chain);
    session_shares(&f.groups, f.alone, f.seen, f.shares);
    expect_share(&f, OP_MATMUL, 0);
    expect_share(&f, OP_REDUCESUM, 0);
}
