// Random graphs: views of views, groups that grow and merge, epilogues, images that meet matrices, memory that is used
// again.
#pragma once
#include "tests/backends/check_model.h"

#define MOST_TENSORS 256

struct maker {
    struct random random;
    struct graph g;
    struct arena arena;
    int n, n_inputs, n_weights;
    tensor_id tensors[MOST_TENSORS];
};

static inline void begin_graph(struct maker *m, uint64_t seed)
{
    *m = (struct maker){.random = random_seed(seed)};
    graph_init(&m->g, &m->arena);
}

static inline void drop_graph(struct maker *m)
{
    graph_free(&m->g);
    arena_free(&m->arena);
}

static inline int64_t pick(struct maker *m, int64_t n)
{
    return (int64_t)random_below(&m->random, (uint64_t)n);
}

static inline tensor_id pick_tensor(struct maker *m)
{
    // recent ones more often, so that graphs get deep
    int64_t a = pick(m, m->n), b = pick(m, m->n);
    return m->tensors[a > b ? a : b];
}

static inline void keep(struct maker *m, tensor_id t)
{
    if (m->n < MOST_TENSORS && type_elements(graph_type(&m->g, t)) <= 20000)
        m->tensors[m->n++] = t;
}

static inline tensor_id add_leaf(struct maker *m, bool is_weight, int rank, const int64_t *dim)
{
    struct type type = type_make(DTYPE_F32, rank, dim);
    int64_t index = is_weight ? m->n_weights++ : m->n_inputs++;
    return graph_add_leaf(&m->g, operators[is_weight ? OP_WEIGHT : OP_INPUT], index, &type);
}

struct arguments {
    int n;
    struct {
        const char *name;
        int count;
        int64_t ints[2 * MAX_RANK];
    } items[4];
};

static inline void give(struct arguments *a, const char *name, int count, const int64_t *ints)
{
    a->items[a->n].name = name;
    a->items[a->n].count = count;
    memcpy(a->items[a->n++].ints, ints, sizeof *ints * (size_t)count);
}

static inline bool add_node(struct maker *m, enum operator_id id, const struct arguments *given, uint32_t n_inputs,
                            const tensor_id *inputs)
{
    const struct operator* op = operators[id];
    struct attribute_value values[MAX_ATTRIBUTES];
    node_id node;
    operator_standard_attributes(op, &m->arena, values);
    for (int i = 0; given && i < given->n; i++)
        values[operator_find_attribute(op, given->items[i].name)] =
            (struct attribute_value){(uint32_t)given->items[i].count, given->items[i].ints};
    if (!graph_add(&m->g, op, values, n_inputs, inputs, &node))
        return false;
    for (uint32_t i = 0; i < m->g.nodes.items[node].n_outputs; i++)
        keep(m, graph_output_of(&m->g, node, i));
    return true;
}

// --- kinds of nodes --------------------------------------------------------------------------------------------------

static inline void add_unary(struct maker *m)
{
    static const enum operator_id ids[] = {OP_RELU, OP_TANH, OP_SIGMOID, OP_NEG, OP_ERF, OP_GELU, OP_SILU, OP_ABS};
    tensor_id x = pick_tensor(m);
    add_node(m, ids[pick(m, COUNT_OF(ids))], NULL, 1, &x);
}

// The second operand is another tensor of this shape if there is one, or a fresh weight broadcast to it.
static inline tensor_id partner_of(struct maker *m, tensor_id x)
{
    const struct type *type = graph_type(&m->g, x);
    for (int attempt = 0; attempt < 20; attempt++) {
        tensor_id y = pick_tensor(m);
        if (type_equal(type, graph_type(&m->g, y)) && (y != x || pick(m, 4) == 0))
            return y;
    }
    int64_t dim[MAX_RANK];
    for (int i = 0; i < type->rank; i++)
        dim[i] = pick(m, 2) ? type->dim[i] : 1;
    tensor_id w = add_leaf(m, m->n_weights < MOST_LEAVES && pick(m, 3), type->rank, dim);
    struct arguments a = {0};
    give(&a, "shape", type->rank, type->dim);
    if (add_node(m, OP_BROADCAST, &a, 1, &w))
        return m->tensors[m->n - 1];
    return x;
}

static inline void add_binary(struct maker *m)
{
    static const enum operator_id ids[] = {OP_EWADD, OP_EWMUL, OP_SUB, OP_MAX, OP_MIN};
    tensor_id inputs[2] = {pick_tensor(m)};
    if (m->n_weights >= MOST_LEAVES - 1 || m->n_inputs >= MOST_LEAVES - 1)
        return;
    inputs[1] = partner_of(m, inputs[0]);
    if (pick(m, 2)) {
        tensor_id first = inputs[0];
        inputs[0] = inputs[1];
        inputs[1] = first;
    }
    add_node(m, ids[pick(m, COUNT_OF(ids))], NULL, 2, inputs);
}

static inline void add_transpose(struct maker *m)
{
    tensor_id x = pick_tensor(m);
    int rank = graph_type(&m->g, x)->rank;
    int64_t perm[MAX_RANK];
    for (int i = 0; i < rank; i++) {
        int64_t at = pick(m, i + 1);
        perm[i] = perm[at];
        perm[at] = i;
    }
    struct arguments a = {0};
    give(&a, "perm", rank, perm);
    add_node(m, OP_TRANSPOSE, &a, 1, &x);
}

// Two neighbouring axes become one, or one becomes two.
static inline void add_reshape(struct maker *m)
{
    tensor_id x = pick_tensor(m);
    const struct type *t = graph_type(&m->g, x);
    int64_t dim[MAX_RANK + 1];
    int at = (int)pick(m, t->rank > 0 ? t->rank : 1), n = 0;
    bool splits = pick(m, 2) && t->rank < 5;
    for (int i = 0; i < t->rank; i++) {
        if (i == at && splits && t->dim[i] % 2 == 0) {
            dim[n++] = 2;
            dim[n++] = t->dim[i] / 2;
        } else if (i == at && !splits && i + 1 < t->rank) {
            dim[n++] = t->dim[i] * t->dim[i + 1];
            i++;
        } else {
            dim[n++] = t->dim[i];
        }
    }
    struct arguments a = {0};
    give(&a, "shape", n, dim);
    add_node(m, OP_RESHAPE, &a, 1, &x);
}

static inline void add_cut(struct maker *m)
{
    tensor_id x = pick_tensor(m);
    const struct type *t = graph_type(&m->g, x);
    if (t->rank == 0)
        return;
    int64_t axis = pick(m, t->rank), sizes[2] = {t->dim[axis] / 2, t->dim[axis] - t->dim[axis] / 2};
    struct arguments a = {2, {{"axis", 1, {axis}}, {"sizes", 2, {sizes[0], sizes[1]}}}};
    if (sizes[0] > 0)
        add_node(m, OP_SPLIT, &a, 1, &x);
}

static inline void add_concat(struct maker *m)
{
    tensor_id inputs[2] = {pick_tensor(m), 0};
    int rank = graph_type(&m->g, inputs[0])->rank;
    if (rank == 0)
        return;
    int64_t axis = pick(m, rank);
    struct arguments a = {1, {{"axis", 1, {axis}}}};
    for (int attempt = 0; attempt < 10; attempt++) {
        inputs[1] = pick_tensor(m);
        if (add_node(m, OP_CONCAT, &a, 2, inputs))
            return;
    }
}

static inline void add_reduction(struct maker *m)
{
    static const enum operator_id ids[] = {OP_REDUCEMEAN, OP_REDUCEMAX, OP_SOFTMAX};
    tensor_id x = pick_tensor(m);
    int rank = graph_type(&m->g, x)->rank;
    if (rank == 0)
        return;
    enum operator_id id = ids[pick(m, COUNT_OF(ids))];
    int64_t axis = pick(m, rank), keepdims = pick(m, 2);
    struct arguments a = {1, {{"axis", 1, {axis}}}};
    if (id != OP_SOFTMAX)
        a = (struct arguments){2, {{"axes", 1, {axis}}, {"keepdims", 1, {keepdims}}}};
    add_node(m, id, &a, 1, &x);
}

static inline void add_matmul(struct maker *m)
{
    tensor_id inputs[2] = {pick_tensor(m), 0};
    const struct type *t = graph_type(&m->g, inputs[0]);
    if (t->rank < 2 || m->n_weights >= MOST_LEAVES - 1)
        return;
    for (int attempt = 0; attempt < 10; attempt++) {
        inputs[1] = pick_tensor(m);
        if (add_node(m, OP_MATMUL, NULL, 2, inputs))
            return;
    }
    inputs[1] = add_leaf(m, true, 2, (int64_t[]){t->dim[t->rank - 1], 1 + pick(m, 24)});
    add_node(m, OP_MATMUL, NULL, 2, inputs);
}

static inline void add_convolution(struct maker *m)
{
    tensor_id inputs[2] = {pick_tensor(m), 0};
    const struct type *t = graph_type(&m->g, inputs[0]);
    if (t->rank != 4 || m->n_weights >= MOST_LEAVES - 1)
        return;
    int64_t kernel = 1 + 2 * pick(m, 2), pad = kernel / 2, stride = 1 + pick(m, 2);
    int64_t channels = pick(m, 2) ? 1 + pick(m, 20) : 8 << pick(m, 3);
    bool is_depthwise = pick(m, 4) == 0;
    inputs[1] = add_leaf(
        m, true, 4, (int64_t[]){is_depthwise ? t->dim[1] : channels, is_depthwise ? 1 : t->dim[1], kernel, kernel});
    struct arguments a = {2, {{"pad", 4, {pad, pad, pad, pad}}, {"stride", 2, {stride, 1}}}};
    if (is_depthwise)
        give(&a, "group", 1, &t->dim[1]);
    add_node(m, OP_CONV, &a, 2, inputs);
}

static inline void add_pooling(struct maker *m)
{
    tensor_id x = pick_tensor(m);
    const struct type *t = graph_type(&m->g, x);
    if (t->rank != 4)
        return;
    struct arguments a = {2, {{"kernel", 2, {2, 3}}, {"pad", 4, {1, 1, 0, 1}}}};
    add_node(m, pick(m, 2) ? OP_POOLMAX : OP_POOLAVG, &a, 1, &x);
}

typedef void (*node_kind)(struct maker *);

static inline void grow(struct maker *m, int64_t n_kinds, const node_kind *kinds, int64_t wanted, int64_t most_outputs)
{
    for (int attempt = 0; attempt < 200 && m->n < wanted; attempt++)
        kinds[pick(m, n_kinds)](m);
    for (int64_t i = 0, n = 1 + pick(m, most_outputs); i < n; i++)
        graph_add_output(&m->g, pick_tensor(m));
}

static inline void make_graph(struct maker *m, uint64_t seed)
{
    static const node_kind kinds[] = {add_unary, add_unary,  add_binary,    add_binary, add_transpose,   add_reshape,
                                      add_cut,   add_concat, add_reduction, add_matmul, add_convolution, add_pooling};
    begin_graph(m, seed);
    int64_t channels = pick(m, 2) ? 4 + 4 * pick(m, 4) : 16 + 16 * pick(m, 2);
    keep(m, add_leaf(m, false, 4, (int64_t[]){1 + pick(m, 2), channels, 6, 8}));
    keep(m, add_leaf(m, false, 2, (int64_t[]){1 + pick(m, 9), 8 * (1 + pick(m, 8))}));
    keep(m, add_leaf(m, true, 2, (int64_t[]){8, 8}));
    grow(m, COUNT_OF(kinds), kinds, 5 + pick(m, 40), 4);
}

// --- concatenations --------------------------------------------------------------------------------------------------

// Of several tensors, perhaps one twice, perhaps concatenations themselves.
static inline void add_wide_concat(struct maker *m)
{
    tensor_id inputs[5] = {pick_tensor(m)};
    const struct type *type = graph_type(&m->g, inputs[0]);
    uint32_t n = 1, wanted = 2 + (uint32_t)pick(m, 4);
    if (type->rank == 0)
        return;
    int64_t axis = pick(m, 3) || type->rank < 2 ? pick(m, type->rank) : 1;
    for (int attempt = 0; attempt < 12 && n < wanted; attempt++) {
        tensor_id t = pick_tensor(m);
        const struct type *other = graph_type(&m->g, t);
        bool suits = other->rank == type->rank && other->dtype == type->dtype;
        for (int i = 0; i < type->rank && suits; i++)
            suits = i == axis || other->dim[i] == type->dim[i];
        if (suits)
            inputs[n++] = t;
    }
    struct arguments a = {1, {{"axis", 1, {axis}}}};
    if (n > 1)
        add_node(m, OP_CONCAT, &a, n, inputs);
}

static inline void add_same_window(struct maker *m)
{
    tensor_id inputs[2] = {pick_tensor(m)};
    const struct type *t = graph_type(&m->g, inputs[0]);
    struct arguments a = {1, {{"pad", 4, {1, 1, 1, 1}}}};
    if (t->rank != 4 || m->n_weights >= MOST_LEAVES - 1)
        return;
    if (pick(m, 4) == 0) {
        give(&a, "kernel", 2, (int64_t[]){3, 3});
        add_node(m, OP_POOLMAX, &a, 1, inputs);
        return;
    }
    inputs[1] = add_leaf(m, true, 4, (int64_t[]){8 + 8 * pick(m, 2), t->dim[1], 3, 3});
    add_node(m, OP_CONV, &a, 2, inputs);
}

// As in networks whose layers see what all those before them made.
static inline void make_concat_graph(struct maker *m, uint64_t seed)
{
    static const node_kind kinds[] = {add_unary,       add_binary,      add_wide_concat, add_wide_concat,
                                      add_wide_concat, add_same_window, add_same_window, add_cut,
                                      add_reduction,   add_matmul};
    begin_graph(m, seed);
    keep(m, add_leaf(m, false, 4, (int64_t[]){1 + pick(m, 2), 8, 4, 8}));
    keep(m, add_leaf(m, false, 2, (int64_t[]){1 + pick(m, 9), 8 * (1 + pick(m, 8))}));
    grow(m, COUNT_OF(kinds), kinds, 5 + pick(m, 25), 3);
}

// --- windows ---------------------------------------------------------------------------------------------------------

// One convolution or pooling with whatever attributes, often with an activation and an addition behind it.
static inline void make_window_graph(struct maker *m, uint64_t seed)
{
    int64_t image[5], kernel[5], pad[6], stride[3], dilation[3], group, n;
    begin_graph(m, seed);
    group = 1 + pick(m, 3);
    n = 1 + pick(m, 3);
    bool is_depthwise = pick(m, 4) == 0, is_pooling = pick(m, 3) == 0;
    image[0] = 1 + pick(m, 2);
    image[1] = group * (pick(m, 3) ? 1 + pick(m, 20) : 16);
    group = is_depthwise ? image[1] : group;
    kernel[0] = group * (is_depthwise ? 1 + pick(m, 2) : pick(m, 3) ? 1 + pick(m, 12) : 16);
    kernel[1] = image[1] / group;
    for (int64_t i = 0; i < n; i++) {
        image[2 + i] = 1 + pick(m, n == 3 ? 6 : 12);
        kernel[2 + i] = 1 + pick(m, 4);
        stride[i] = 1 + pick(m, 3);
        dilation[i] = 1 + pick(m, 2);
        pad[i] = pick(m, kernel[2 + i]);
        pad[n + i] = pick(m, kernel[2 + i]);
    }
    tensor_id inputs[2] = {add_leaf(m, false, (int)n + 2, image), add_leaf(m, pick(m, 4) != 0, (int)n + 2, kernel)};
    struct arguments a = {0};
    give(&a, "stride", (int)n, stride);
    give(&a, "pad", (int)n * 2, pad);
    give(&a, "dilation", (int)n, dilation);
    int64_t choice = pick(m, 2);
    bool is_made;
    if (is_pooling) {
        give(&a, "kernel", (int)n, kernel + 2);
        is_made = add_node(m, choice ? OP_POOLMAX : OP_POOLAVG, &a, 1, inputs);
    } else {
        give(&a, "group", 1, &group);
        is_made = add_node(m, OP_CONV, &a, 2, inputs);
    }
    if (!is_made)
        keep(m, inputs[0]);
    for (int64_t i = pick(m, 4); i > 0; i--)
        (pick(m, 2) ? add_unary : add_binary)(m);
    graph_add_output(&m->g, m->tensors[m->n - 1]);
}

// --- a loop that reads many matrices ---------------------------------------------------------------------------------

static inline tensor_id add_product(struct maker *m, tensor_id x, tensor_id y)
{
    add_node(m, OP_MATMUL, NULL, 2, (tensor_id[]){x, y});
    return m->tensors[m->n - 1];
}

// The sum and the product, entry by entry, of ten products of matrices, of which some are read by other products, too.
// The two are one loop.
static inline void make_sum_graph(struct maker *m, uint64_t seed)
{
    begin_graph(m, seed);
    tensor_id sum = NO_TENSOR, product = NO_TENSOR;
    for (int i = 0; i < 10; i++) {
        int64_t inner = 8 * (1 + pick(m, 3));
        tensor_id x = add_leaf(m, false, 2, (int64_t[]){16, inner}), y = add_leaf(m, false, 2, (int64_t[]){inner, 16});
        tensor_id z = add_product(m, x, y);
        if (pick(m, 2))
            graph_add_output(&m->g, add_product(m, z, add_leaf(m, false, 2, (int64_t[]){16, inner})));
        if (pick(m, 2))
            graph_add_output(&m->g, add_product(m, add_leaf(m, false, 2, (int64_t[]){inner, 16}), z));
        if (i > 0)
            add_node(m, OP_EWADD, NULL, 2, (tensor_id[]){sum, z});
        sum = i > 0 ? m->tensors[m->n - 1] : z;
        if (i > 0)
            add_node(m, OP_EWMUL, NULL, 2, (tensor_id[]){product, z});
        product = i > 0 ? m->tensors[m->n - 1] : z;
    }
    graph_add_output(&m->g, sum);
    graph_add_output(&m->g, product);
}
