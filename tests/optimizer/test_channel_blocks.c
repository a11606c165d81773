// Between convolutions images stay in blocks of channels, and layouts change where something else reads or makes them.
#include "optimizer/runtime/channel_blocks.h"
#include "tests/support/parse_graph.h"

struct fixture {
    struct arena arena;
    struct graph graph;
    struct step_groups groups;
    struct channel_blocks blocks;
};

static void set_up(struct fixture *f, const char *text)
{
    *f = (struct fixture){0};
    parse_graph(&f->graph, &f->arena, text);
    step_groups_find(&f->groups, &f->graph, &f->arena);
    channel_blocks_find(&f->blocks, &f->groups, 16);
}

static void tear_down(struct fixture *f)
{
    graph_free(&f->graph);
    arena_free(&f->arena);
}

static node_id find_nth(const struct fixture *f, enum operator_id op, int which)
{
    node_id n = 0;
    while (f->graph.nodes.items[n].op->id != op || which-- > 0)
        n++;
    return n;
}

static bool reads_another_layout(const struct fixture *f, enum operator_id op, int which)
{
    node_id n = find_nth(f, op, which);
    return channel_blocks_differ(&f->blocks, n, graph_inputs(&f->graph, n)[0]);
}

TEST(layouts_change_where_blocks_begin_and_end)
{
    FIXTURE(&f,
            "x = f32 1 16 8 8; k = weight f32 16 16 3 3; l = weight f32 16 16 1 1; a = conv :pad 1 1 1 1 x k; b = relu "
            "a; c = poolmax :kernel 2 2 :stride 2 2 b; d = conv c l; e = ewadd c d; r = reshape :shape 16 16 e");
    assert_true(reads_another_layout(&f, OP_CONV, 0));   // the caller's
    assert_false(reads_another_layout(&f, OP_RELU, 0) || reads_another_layout(&f, OP_POOLMAX, 0));
    assert_false(reads_another_layout(&f, OP_CONV, 1) || reads_another_layout(&f, OP_EWADD, 0));
    assert_true(reads_another_layout(&f, OP_RESHAPE, 0));
}

TEST(a_sum_with_something_else_is_not_in_blocks)
{
    FIXTURE(&f, "x = f32 1 16 8 8; k = weight f32 16 16 3 3; a = conv :pad 1 1 1 1 x k; e = sub a x; b = relu e");
    assert_true(reads_another_layout(&f, OP_SUB, 0));
    assert_false(reads_another_layout(&f, OP_RELU, 0));
}

static int tensors_of_group(int64_t block, enum operator_id op, const char *text)
{
    FIXTURE(&f, text);
    tensor_id tensors[2];
    return channel_blocks_of_group(&f.groups, block, find_nth(&f, op, 0), tensors);
}

TEST(groups_pay_for_images_and_results_that_may_be_in_blocks)
{
    assert_int_equal(
        tensors_of_group(16, OP_CONV, "x = f32 1 16 8 8; k = weight f32 16 16 3 3; a = conv x k; b = relu a"), 2);
    assert_int_equal(tensors_of_group(16, OP_CONV, "x = f32 1 3 8 8; k = weight f32 16 3 3 3; a = conv x k"), 1);
    assert_int_equal(tensors_of_group(16, OP_CONV, "x = f32 1 16 8 8; k = weight f32 16 1 3 3; a = conv :group 16 x k"),
                     2);
    assert_int_equal(tensors_of_group(16, OP_CONV, "x = f32 1 16 8 8; k = weight f32 16 2 3 3; a = conv :group 8 x k"),
                     0);
    assert_int_equal(tensors_of_group(16, OP_EWADD, "x y = f32 1 16 8 8; a = ewadd x y"), 0);
}

// Groups of 8 channels are whole blocks where these have 8, and none where these have 16.
TEST(blocks_are_as_large_as_the_processor_has_them)
{
    const char *text = "x = f32 1 16 8 8; k = weight f32 16 8 3 3; a = conv :group 2 x k";
    assert_int_equal(tensors_of_group(8, OP_CONV, text), 2);
    assert_int_equal(tensors_of_group(16, OP_CONV, text), 0);
    const char *few = "x = f32 1 12 8 8; k = weight f32 16 12 3 3; a = conv x k";
    assert_int_equal(tensors_of_group(8, OP_CONV, few), 2);
    assert_int_equal(tensors_of_group(16, OP_CONV, few), 1);   // the image is read as it is
    assert_true(channel_block_here() == 8 || channel_block_here() == 16);
}

// Convolutions of 18 channels stay as they are, alone and of each by itself, as ONNX Runtime's own graph shows.
TEST(channels_that_are_no_fours_are_not_blocked)
{
    assert_int_equal(tensors_of_group(16, OP_CONV, "x = f32 1 18 8 8; k = weight f32 16 18 3 3; a = conv x k"), 0);
    assert_int_equal(tensors_of_group(16, OP_CONV, "x = f32 1 18 8 8; k = weight f32 18 1 3 3; a = conv :group 18 x k"),
                     0);
}

TEST(chains_are_of_channels_by_themselves)
{
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct type image = type_make(DTYPE_F32, 4, (int64_t[]){1, 16, 8, 8});
    graph_init(&g, &arena);
    assert_true(channel_blocks_chain(&g, &image, 3));
    assert_true(COUNT(node_id, n, g.nodes.count, g.nodes.items[n].op->id == OP_CONV) == 3);
    assert_true(type_equal(graph_type(&g, g.outputs.items[0]), &image));
}
