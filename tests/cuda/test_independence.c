// Which loops may run side by side: boxes of one tensor, worked out by marking every place that each writes.
#include "backends/generated/independence.h"
#include "tests/support/check.h"

#define MOST_PLACES 4096

struct box {
    struct loop loop;
    struct loop_result result;
    struct loop_access operand;
};

static void make_box(struct box *b, int rank, const int64_t *dim, const int64_t *stride, int64_t offset,
                     memory_id reads)
{
    memset(b, 0, sizeof *b);
    b->loop = (struct loop){.rank = rank, .n_operands = 1, .n_results = 1};
    memcpy(b->loop.dim, dim, sizeof *dim * (size_t)rank);
    b->result.to.memory = 1;
    b->result.to.offset = offset;
    memcpy(b->result.to.stride, stride, sizeof *stride * (size_t)rank);
    b->operand.memory = reads;
    b->loop.results = &b->result;
    b->loop.operands = &b->operand;
}

static void mark(const struct box *b, unsigned char bit, unsigned char *marks)
{
    int64_t places = 1;
    for (int i = 0; i < b->loop.rank; i++)
        places *= b->loop.dim[i];
    for (int64_t p = 0; p < places; p++) {
        int64_t at = b->result.to.offset, rest = p;
        for (int i = b->loop.rank - 1; i >= 0; i--) {
            at += rest % b->loop.dim[i] * b->result.to.stride[i];
            rest /= b->loop.dim[i];
        }
        assert_true(at >= 0 && at < MOST_PLACES);
        marks[at] |= bit;
    }
}

static bool overlap(const struct box *a, const struct box *b)
{
    static unsigned char marks[MOST_PLACES];
    memset(marks, 0, sizeof marks);
    mark(a, 1, marks);
    mark(b, 2, marks);
    return ANY(int, i, MOST_PLACES, marks[i] == 3);
}

static bool are_independent(const struct box *a, const struct box *b)
{
    struct loop loops[2] = {a->loop, b->loop};
    return loops_are_independent(2, loops);
}

// Random boxes in random strides, dense or not: never independent when they overlap.
TEST(never_says_so_of_boxes_that_overlap)
{
    struct random random = random_seed(7);
    int n_independent = 0, n_overlapping = 0;
    for (int round = 0; round < 200000; round++) {
        int64_t a_dim[3], b_dim[3], stride[3];
        struct box a, b;
        for (int i = 0; i < 3; i++) {
            a_dim[i] = 1 + (int64_t)random_below(&random, 4);
            b_dim[i] = 1 + (int64_t)random_below(&random, 4);
            stride[i] = (int64_t)random_below(&random, 24);
        }
        if (random_below(&random, 2)) {
            stride[2] = 1;
            stride[1] = 1 + (int64_t)random_below(&random, 8);
            stride[0] = stride[1] * (1 + (int64_t)random_below(&random, 8));
        }
        make_box(&a, 3, a_dim, stride, (int64_t)random_below(&random, 40), 2);
        make_box(&b, 3, b_dim, stride, (int64_t)random_below(&random, 40), 2);
        bool do_overlap = overlap(&a, &b), is_independent = are_independent(&a, &b);
        assert_false(do_overlap && is_independent);
        n_independent += is_independent;
        n_overlapping += do_overlap;
    }
    assert_true(n_independent > 2000 && n_overlapping > 2000);
}

TEST(knows_the_parts_of_a_concatenation)
{
    const int64_t left[] = {2, 3, 4}, right[] = {2, 5, 4}, stride[] = {32, 4, 1};
    struct box a, b;
    make_box(&a, 3, left, stride, 0, 2);
    make_box(&b, 3, right, stride, 12, 3);
    assert_true(are_independent(&a, &b));
    make_box(&b, 3, right, stride, 8, 3);
    assert_false(are_independent(&a, &b));
    make_box(&b, 3, right, stride, 12, 1);
    assert_false(are_independent(&a, &b));
}
