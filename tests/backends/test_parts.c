// Primitives that are cut into parts for several threads give what whole ones give, and are cut where that pays: images,
// channels in blocks, rows where channels stand last, rows and columns of products.
#include "backends/cpu/loops/parallel.h"
#include "backends/cpu/onednn/parts.h"
#include "tests/support/check.h"

enum { PARTS = 3 };
enum { NORMALIZATION = LRN, PRODUCT = MATMUL, PRODUCTS = LRN + 1 };   // kinds of primitives, and batches of products
enum arrangement { ROWS, LAST, BLOCKS };

struct sample {
    int kind;
    enum arrangement arrangement;
    int64_t n, from, size, to, kernel, stride, pad, dilation, groups;   // of products: batch, k, m, n
    int n_parts;
};

static const struct sample samples[] = {
    {CONVOLUTION, BLOCKS, 1, 32, 14, 96, 3, 1, 1, 1, 1, 3},  {CONVOLUTION, BLOCKS, 1, 64, 13, 80, 3, 2, 1, 1, 1, 3},
    {CONVOLUTION, BLOCKS, 1, 64, 13, 32, 1, 1, 0, 1, 1, 2},  {CONVOLUTION, BLOCKS, 1, 64, 13, 64, 5, 1, 4, 2, 64, 3},
    {CONVOLUTION, BLOCKS, 1, 64, 13, 128, 3, 1, 1, 1, 4, 3}, {CONVOLUTION, BLOCKS, 4, 32, 14, 32, 3, 1, 1, 1, 1, 3},
    {CONVOLUTION, BLOCKS, 2, 32, 14, 32, 3, 1, 1, 1, 1, 1},  {CONVOLUTION, LAST, 1, 32, 14, 96, 3, 1, 1, 1, 1, 3},
    {CONVOLUTION, LAST, 1, 32, 17, 48, 5, 2, 2, 1, 1, 3},    {CONVOLUTION, LAST, 1, 32, 17, 48, 3, 1, 3, 3, 1, 3},
    {CONVOLUTION, LAST, 1, 48, 17, 48, 3, 1, 1, 1, 48, 3},   {CONVOLUTION, LAST, 5, 32, 14, 32, 1, 1, 0, 1, 1, 3},
    {POOLING, BLOCKS, 1, 96, 14, 96, 3, 2, 1, 1, 1, 3},      {POOLING, LAST, 1, 20, 15, 20, 3, 2, 1, 1, 1, 3},
    {POOLING, ROWS, 1, 96, 14, 96, 2, 2, 0, 1, 1, 3},        {NORMALIZATION, BLOCKS, 1, 32, 9, 32, 0, 0, 0, 0, 1, 1},
    {NORMALIZATION, LAST, 3, 32, 9, 32, 0, 0, 0, 0, 1, 3},   {PRODUCT, ROWS, 1, 64, 50, 70, 0, 0, 0, 0, 0, 3},
    {PRODUCT, ROWS, 1, 64, 50, 400, 0, 0, 0, 0, 0, 3},       {PRODUCT, ROWS, 1, 256, 1, 1000, 0, 0, 0, 0, 0, 3},
    {PRODUCT, ROWS, 1, 64, 50, 576, 0, 0, 0, 0, 0, 3},       {PRODUCTS, ROWS, 6, 40, 30, 50, 0, 0, 0, 0, 0, 3},
    {PRODUCTS, ROWS, 1, 40, 60, 50, 0, 0, 0, 0, 0, 3},
};

static struct onednn_tensor dense(int rank, const int64_t *dim, enum arrangement arrangement)
{
    struct onednn_tensor t = {.rank = rank};
    int order[ONEDNN_MAX_RANK];
    int64_t stride = 1;
    for (int i = 0; i < rank; i++)
        order[i] = arrangement == LAST && rank > 2 ? (i == rank - 1 ? 1 : i ? i + 1 : 0) : i;
    for (int i = rank - 1; i >= 0; i--) {
        t.dim[order[i]] = dim[order[i]];
        t.stride[order[i]] = stride;
        stride *= dim[order[i]];
    }
    t.block = arrangement == BLOCKS ? onednn_block_of_channels() : 0;
    return t;
}

static int64_t elements(const struct onednn_tensor *t)
{
    int64_t n = 1;
    for (int i = 0; i < t->rank; i++)
        n *= t->dim[i];
    return n;
}

struct tensors {
    struct onednn_tensor source, weights, bias, target;
};

static struct tensors tensors_of_image(const struct sample *s)
{
    int64_t reach = (s->kernel - 1) * s->dilation + 1;
    int64_t to = s->kind == NORMALIZATION ? s->size : (s->size + 2 * s->pad - reach) / s->stride + 1;
    int64_t of_group = s->from / s->groups;
    return (struct tensors){
        dense(4, (const int64_t[]){s->n, s->from, s->size, s->size}, s->arrangement),
        s->groups == 1
            ? dense(4, (const int64_t[]){s->to, s->from, s->kernel, s->kernel}, ROWS)
            : dense(5, (const int64_t[]){s->groups, s->to / s->groups, of_group, s->kernel, s->kernel}, ROWS),
        dense(1, (const int64_t[]){s->to}, ROWS), dense(4, (const int64_t[]){s->n, s->to, to, to}, s->arrangement)};
}

static struct tensors tensors_of(const struct sample *s)
{
    if (s->kind == PRODUCT)
        return (struct tensors){
            dense(2, (const int64_t[]){s->size, s->from}, ROWS), dense(2, (const int64_t[]){s->from, s->to}, ROWS),
            dense(2, (const int64_t[]){1, s->to}, ROWS), dense(2, (const int64_t[]){s->size, s->to}, ROWS)};
    if (s->kind == PRODUCTS)
        return (struct tensors){dense(3, (const int64_t[]){s->n, s->size, s->from}, ROWS),
                                dense(3, (const int64_t[]){s->n, s->from, s->to}, ROWS),
                                {0},
                                dense(3, (const int64_t[]){s->n, s->size, s->to}, ROWS)};
    return tensors_of_image(s);
}

static struct onednn_primitive *make(struct onednn *o, const struct sample *s, const struct tensors *t)
{
    struct onednn_window w = {
        {s->kernel, s->kernel}, {s->stride, s->stride}, {s->dilation, s->dilation}, {s->pad, s->pad}, {s->pad, s->pad}};
    struct onednn_tensor packed = t->weights;
    struct postops relu = {.n = 1, .channel_axis = 2, .items = {{.kind = POSTOP_RELU}}};
    struct postops sum = {
        .n = 2,
        .channel_axis = 1,
        .items = {{.kind = POSTOP_ADD, .operand = OPERAND_FULL}, {.kind = POSTOP_MUL, .operand = OPERAND_CHANNEL}}};
    packed.is_free = true;
    if (s->kind == CONVOLUTION)
        return onednn_convolution(o, ONEDNN_DIRECT, &t->source, &packed, &t->bias, &t->target, &w, &sum);
    if (s->kind == POOLING)
        return onednn_pooling(o, ONEDNN_MEAN_OF_INSIDE, &t->source, &t->target, &w);
    if (s->kind == NORMALIZATION)
        return onednn_lrn(o, &t->source, &t->target, &(struct onednn_lrn){5, 1, 1e-4f, 0.75f});
    return s->kind == PRODUCT ? onednn_matmul(o, &t->source, &packed, &t->bias, &t->target, &sum)
                              : onednn_matmul(o, &t->source, &t->weights, NULL, &t->target, &relu);
}

static float *random_floats(struct arena *arena, int64_t n, struct random *random)
{
    float *data = arena_alloc(arena, (size_t)n * sizeof *data + 64, 64);
    for (int64_t i = 0; i < n; i++)
        data[i] = (float)random_normal(random);
    return data;
}

static float *run(const struct sample *s, int parts, struct arena *arena, int *ret_parts)
{
    struct random random = random_seed(11);
    struct tensors t = tensors_of(s);
    struct onednn *o = onednn_open(parts, parallel_for_library);
    struct onednn_primitive *p = make(o, s, &t);
    assert_non_null(p);
    int64_t n = elements(&t.target);
    struct onednn_arguments a = {.source = random_floats(arena, elements(&t.source), &random),
                                 .weights = random_floats(arena, elements(&t.weights), &random),
                                 .bias = random_floats(arena, elements(&t.bias), &random),
                                 .target = random_floats(arena, n, &random),
                                 .operands = {random_floats(arena, n, &random), random_floats(arena, n, &random)},
                                 .scratch = arena_alloc(arena, onednn_scratch_bytes(p) + 64, 64)};
    if (s->kind == CONVOLUTION || s->kind == PRODUCT) {
        void *packed = arena_alloc(arena, onednn_weights_bytes(p), 64);
        assert_true(onednn_pack_weights(p, &t.weights, a.weights, packed));
        a.weights = packed;
    }
    assert_true(onednn_run(p, NULL, &a));
    *ret_parts = onednn_parts(p);
    onednn_free(p);
    onednn_close(o);
    return a.target;
}

// Products of one row stay whole where the library's vectors have eight lanes.
static int parts_wanted(const struct sample *s)
{
    return s->kind == PRODUCT && s->size == 1 && onednn_block_of_channels() == 8 ? 1 : s->n_parts;
}

TEST(parts_give_what_the_whole_gives)
{
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        const struct sample *s = &samples[i];
        struct tensors t = tensors_of(s);
        ARENA(arena);
        int n_whole, n_parts;
        const float *whole = run(s, 1, &arena, &n_whole), *parted = run(s, PARTS, &arena, &n_parts);
        for (int64_t k = 0; k < elements(&t.target); k++)
            if (fabsf(whole[k] - parted[k]) > 1e-4f * (1 + fabsf(whole[k])))
                fail_msg("sample %zu, entry %lld: %g and %g", i, (long long)k, (double)whole[k], (double)parted[k]);
        if (n_whole != 1 || n_parts != parts_wanted(s))
            fail_msg("sample %zu has %d and %d parts", i, n_whole, n_parts);
    }
}

// Along which axis of the weights, and in how many parts once those have failed.
static int weights_axis_of(int64_t rows, int64_t depth, int64_t columns, int *ret_parts_again)
{
    struct onednn_tensor source = dense(2, (const int64_t[]){rows, depth}, ROWS),
                         weights = dense(2, (const int64_t[]){depth, columns}, ROWS),
                         target = dense(2, (const int64_t[]){rows, columns}, ROWS);
    struct onednn_request r = {.kind = MATMUL, .source = &source, .weights = &weights, .target = &target};
    struct onednn_part part;
    onednn_make_part(&r, 1, onednn_count_parts(&r, PARTS), &part);
    r.keeps_columns = true;
    *ret_parts_again = onednn_count_parts(&r, PARTS);
    return part.weights_axis;
}

// Two threads that each read all weights of a BERT took half as long again.
TEST(parts_share_out_the_larger_operand)
{
    int again;
    assert_int_equal(weights_axis_of(128, 768, 3072, &again), 1);
    assert_int_equal(again, PARTS);
    assert_int_equal(weights_axis_of(3136, 64, 256, &again), -1);
    assert_int_equal(again, 1);
    assert_int_equal(weights_axis_of(64, 64, 100, &again), -1);   // too few columns
    assert_int_equal(again, 1);
    assert_int_equal(weights_axis_of(1, 768, 768, &again), 1);   // too few rows
    assert_int_equal(again, 1);
}
