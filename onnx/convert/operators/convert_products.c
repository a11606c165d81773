// Products of matrices, and Einsum: sums of products by named axes. Its operands are taken from left to right, two at a
// time. Axes that only one of two has, and that nothing later asks for, are summed first; where both have axes to be
// summed the product is one of matrices, with the axes that are kept of both as its batch, otherwise one entry by
// entry.
#include "onnx/convert/operators/converters.h"

#include <string.h>

// --- matrices --------------------------------------------------------------------------------------------------------

static tensor_id transposed_matrix(struct conversion *c, tensor_id x)
{
    return transpose_by(c, x, (int64_t[]){1, 0});
}

// Runtimes forget to broadcast products of nothing.
static bool has_entries(struct conversion *c)
{
    return (type_elements(type_of(c, input_of(c, 0))) > 0 && type_elements(type_of(c, input_of(c, 1))) > 0) ||
           cannot(c, "a factor has no entries");
}

// alpha * A' * B' + beta * C; of halves in f32 where one of the two is not 1, as A' * B' may be infinite where a
// part of it is not.
bool convert_gemm(struct conversion *c)
{
    if (!has_entries(c))
        return false;
    tensor_id a = input_of(c, 0), b = input_of(c, 1), bias = input_of(c, 2);
    enum dtype dtype = type_of(c, a)->dtype;
    double alpha = float_attribute(c, "alpha", 1), beta = float_attribute(c, "beta", 1);
    enum dtype wide = alpha != 1 || beta != 1 ? dtype_of_stages(dtype) : dtype;
    if (type_of(c, a)->rank != 2 || type_of(c, b)->rank != 2)
        return cannot(c, "its factors are no matrices");
    if (int_attribute(c, "transA", 0))
        a = transposed_matrix(c, a);
    if (int_attribute(c, "transB", 0))
        b = transposed_matrix(c, b);
    tensor_id z = scale_by(c, matmul(c, cast_to(c, a, wide), cast_to(c, b, wide)), alpha);
    if (z == NO_TENSOR || bias == NO_TENSOR || beta == 0)
        return give(c, 0, cast_to(c, z, dtype));
    struct type type = *type_of(c, z);
    bias = broadcast_to(c, scale_by(c, cast_to(c, bias, wide), beta), type.rank, type.dim);
    return give(c, 0, cast_to(c, binary(c, OP_EWADD, z, bias), dtype));
}

bool convert_matmul(struct conversion *c)
{
    return has_entries(c) && give(c, 0, matrix_product(c, input_of(c, 0), input_of(c, 1)));
}

// --- Einsum ----------------------------------------------------------------------------------------------------------

#define N_LETTERS 52                      // A to Z, a to z: in the order of an implicit output
#define N_LABELS (N_LETTERS + MAX_RANK)   // then the axes that the ellipsis stands for
#define ELLIPSIS_LABELS (~UINT64_C(0) << N_LETTERS)
_Static_assert(N_LABELS <= 64, "a set of labels is one word");

struct labels {
    int n;
    uint8_t at[2 * MAX_RANK];   // a product of two terms has at most so many
};
struct term {
    tensor_id x;
    struct labels axes;
};
struct einsum {
    struct conversion *c;
    const char *text;          // what is still to be read of the equation
    int n_ellipsis;            // axes of every ellipsis; 0: none so far
    uint64_t seen, repeated;   // labels of operands: of one at least, of two at least
    int64_t sizes[N_LABELS];   // 0: not seen
    struct labels output;
};

// --- labels ----------------------------------------------------------------------------------------------------------

static uint64_t set_of(const struct labels *l)
{
    return UNION_ALL(uint64_t, int, i, l->n, UINT64_C(1) << l->at[i]);
}

static bool contains(uint64_t set, int label)
{
    return set >> label & 1;
}

static int place_of(const struct labels *l, int label)
{
    int i = 0;
    while (l->at[i] != label)
        i++;
    return i;
}

// Labels of `from` that are in the set, behind what is there.
static void append(struct labels *to, const struct labels *from, uint64_t set)
{
    for (int i = 0; i < from->n; i++)
        if (contains(set, from->at[i]))
            to->at[to->n++] = from->at[i];
}

static int64_t sizes_of(const struct einsum *e, const struct labels *l, int64_t *ret_dim)
{
    int64_t product = 1;
    for (int i = 0; i < l->n; i++)
        product *= ret_dim[i] = e->sizes[l->at[i]];
    return product;
}

// --- reading ---------------------------------------------------------------------------------------------------------

static int label_of(char letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    return letter >= 'a' && letter <= 'z' ? letter - 'a' + N_LETTERS / 2 : -1;
}

static bool add_label(struct einsum *e, struct labels *l, int label)
{
    if (l->n == MAX_RANK)
        return cannot(e->c, "a term has more than %d axes", MAX_RANK);
    if (contains(set_of(l), label))
        return cannot(e->c, "an axis occurs twice in one term: a diagonal");
    l->at[l->n++] = (uint8_t)label;
    return true;
}

// Up to the comma, the arrow or the end.
static bool read_term(struct einsum *e, struct labels *l)
{
    while (*e->text && *e->text != ',' && *e->text != '-') {
        int label = label_of(*e->text);
        bool is_ellipsis = strncmp(e->text, "...", 3) == 0;
        if (label < 0 && !is_ellipsis)
            return cannot(e->c, "its equation cannot be read");
        if (!is_ellipsis && !add_label(e, l, label))
            return false;
        for (int i = 0; is_ellipsis && i < e->n_ellipsis; i++)
            if (!add_label(e, l, N_LETTERS + i))
                return false;
        e->text += is_ellipsis ? 3 : 1;
    }
    return true;
}

// Ellipses of no axes, or of different numbers of axes, are read differently by runtimes.
static bool measure_ellipsis(struct einsum *e, int rank)
{
    size_t length = strcspn(e->text, ",-");
    if (!memchr(e->text, '.', length))
        return true;
    for (size_t i = 0; i < length; i++)
        rank -= label_of(e->text[i]) >= 0;
    if (rank < 1 || (e->n_ellipsis && e->n_ellipsis != rank))
        return cannot(e->c, "its ellipses stand for no axes, or for different numbers of them");
    e->n_ellipsis = rank;
    return true;
}

static bool note_sizes(struct einsum *e, const struct term *t)
{
    const struct type *type = type_of(e->c, t->x);
    if (type->rank != t->axes.n)
        return cannot(e->c, "an operand has %d axes, its term %d", type->rank, t->axes.n);
    for (int i = 0; i < type->rank; i++) {
        int64_t *size = &e->sizes[t->axes.at[i]];
        if (type->dim[i] == 0)
            return cannot(e->c, "an operand has no entries");
        if (*size > 1 && type->dim[i] > 1 && *size != type->dim[i])
            return cannot(e->c, "an axis has two sizes");
        *size = type->dim[i] > *size ? type->dim[i] : *size;
    }
    return true;
}

static bool read_operands(struct einsum *e, struct term *terms)
{
    for (uint32_t i = 0; i < e->c->n_inputs; i++) {
        terms[i] = (struct term){.x = input_of(e->c, i)};
        if (i > 0 && *e->text++ != ',')
            return cannot(e->c, "its equation has another number of operands");
        if (!measure_ellipsis(e, type_of(e->c, terms[i].x)->rank) || !read_term(e, &terms[i].axes) ||
            !note_sizes(e, &terms[i]))
            return false;
        e->repeated |= e->seen & set_of(&terms[i].axes);
        e->seen |= set_of(&terms[i].axes);
    }
    return true;
}

// The result without an arrow: the ellipsis, then what occurs once, in the alphabet's order.
static void make_output(struct einsum *e)
{
    struct labels *l = &e->output;
    for (int i = 0; i < e->n_ellipsis; i++)
        l->at[l->n++] = (uint8_t)(N_LETTERS + i);
    for (int i = 0; i < N_LETTERS; i++)
        if (contains(e->seen & ~e->repeated, i) && l->n < MAX_RANK)
            l->at[l->n++] = (uint8_t)i;
}

static bool read_output(struct einsum *e)
{
    if (!*e->text) {
        make_output(e);
        uint64_t wanted = (e->seen & ELLIPSIS_LABELS) | (e->seen & ~e->repeated);
        return set_of(&e->output) == wanted || cannot(e->c, "its result has more than %d axes", MAX_RANK);
    }
    if (strncmp(e->text, "->", 2) != 0)
        return cannot(e->c, "its equation has another number of operands");
    e->text += 2;
    if (!read_term(e, &e->output))
        return false;
    uint64_t set = set_of(&e->output);
    return (!*e->text && !(set & ~e->seen) && (e->seen & ELLIPSIS_LABELS) == (set & ELLIPSIS_LABELS)) ||
           cannot(e->c, "its output has other axes than its operands");
}

static const char *without_spaces(struct conversion *c, const struct onnx_bytes *equation)
{
    const char *from = (const char *)equation->at;
    char *text = arena_array(&c->importer->scratch, char, equation->size + 1);
    size_t n = 0;
    for (size_t i = 0; i < equation->size; i++)
        if (from[i] != ' ')
            text[n++] = from[i];
    text[n] = 0;
    return text;
}

// --- building --------------------------------------------------------------------------------------------------------

static tensor_id arranged(struct einsum *e, const struct term *t, const struct labels *order)
{
    int64_t perm[MAX_RANK];
    for (int i = 0; i < order->n; i++)
        perm[i] = place_of(&t->axes, order->at[i]);
    return transpose_by(e->c, t->x, perm);
}

// An axis of size 1 that is longer elsewhere is a factor for all its places.
static void drop_spread_axes(struct einsum *e, struct term *t)
{
    const struct type type = *type_of(e->c, t->x);
    struct labels all = t->axes;
    int64_t dim[MAX_RANK];
    t->axes.n = 0;
    for (int i = 0; i < all.n; i++)
        if (type.dim[i] == e->sizes[all.at[i]])
            t->axes.at[t->axes.n++] = all.at[i];
    sizes_of(e, &t->axes, dim);
    t->x = reshape_to(e->c, t->x, t->axes.n, dim);
}

static void sum_all_but(struct einsum *e, struct term *t, uint64_t kept)
{
    struct labels all = t->axes;
    struct axes axes = {0};
    t->axes.n = 0;
    append(&t->axes, &all, kept);
    for (int i = 0; i < all.n; i++)
        if (!contains(kept, all.at[i]))
            axes.axis[axes.count++] = i;
    if (axes.count > 0)
        t->x = reduce_by(e->c, OP_REDUCESUM, t->x, &axes, false);
}

// A term with all axes of `wanted`, of which it has some.
static tensor_id spread_over(struct einsum *e, const struct term *t, const struct labels *wanted)
{
    struct labels own = {0};
    int64_t all[2 * MAX_RANK], dim[2 * MAX_RANK];
    uint64_t set = set_of(&t->axes);
    append(&own, wanted, set);
    sizes_of(e, wanted, all);
    for (int i = 0; i < wanted->n; i++)
        dim[i] = contains(set, wanted->at[i]) ? all[i] : 1;
    return broadcast_to(e->c, reshape_to(e->c, arranged(e, t, &own), wanted->n, dim), wanted->n, all);
}

static bool has_place_for(struct einsum *e, int rank)
{
    return rank <= MAX_RANK || cannot(e->c, "a product has %d axes", rank);
}

static bool multiply_entries(struct einsum *e, const struct term *a, const struct term *b, struct term *ret_product)
{
    const struct term *first = a->axes.n < b->axes.n ? b : a, *other = first == a ? b : a;
    struct term z = {.axes = first->axes};
    append(&z.axes, &other->axes, ~set_of(&first->axes));
    if (!has_place_for(e, z.axes.n))
        return false;
    tensor_id x = spread_over(e, first, &z.axes), y = spread_over(e, other, &z.axes);
    z.x = binary(e->c, OP_EWMUL, x, y);
    *ret_product = z;
    return true;
}

// (batch, left, summed) times (batch, summed, right). Without a batch the axes on the left stay apart, as in MatMul.
static bool multiply_matrices(struct einsum *e, const struct term *a, const struct term *b, uint64_t summed,
                              struct term *ret_product)
{
    uint64_t of_a = set_of(&a->axes), of_b = set_of(&b->axes), batched = of_a & of_b & ~summed;
    struct labels batch = {0}, left = {0}, inner = {0}, right = {0};
    append(&batch, &a->axes, batched);
    append(&left, &a->axes, of_a & ~of_b);
    append(&inner, &a->axes, summed);
    append(&right, &b->axes, of_b & ~of_a);
    if (!has_place_for(e, batch.n + 2) || !has_place_for(e, batch.n + left.n + right.n))
        return false;
    struct labels order_a = batch, order_b = batch;
    append(&order_a, &left, of_a);
    append(&order_a, &inner, of_a);
    append(&order_b, &inner, of_b);
    append(&order_b, &right, of_b);
    int64_t dim[2 * MAX_RANK], ignored[2 * MAX_RANK];
    int64_t n_left = sizes_of(e, &left, ignored), n_inner = sizes_of(e, &inner, ignored),
            n_right = sizes_of(e, &right, ignored);
    int rows = batch.n == 0 && left.n > 0 ? left.n : batch.n + 1;
    sizes_of(e, batch.n ? &batch : &left, dim);
    if (batch.n || left.n == 0)
        dim[batch.n] = n_left;
    dim[rows] = n_inner;
    tensor_id x = reshape_to(e->c, arranged(e, a, &order_a), rows + 1, dim);
    dim[batch.n] = n_inner;
    dim[batch.n + 1] = n_right;
    tensor_id y = reshape_to(e->c, arranged(e, b, &order_b), batch.n + 2, dim);
    struct term z = {NO_TENSOR, batch};
    append(&z.axes, &left, of_a);
    append(&z.axes, &right, of_b);
    sizes_of(e, &z.axes, dim);
    if (x != NO_TENSOR && y != NO_TENSOR)
        z.x = reshape_to(e->c, matmul(e->c, x, y), z.axes.n, dim);
    *ret_product = z;
    return true;
}

static bool multiply(struct einsum *e, struct term *a, struct term *b, uint64_t kept, struct term *ret_product)
{
    sum_all_but(e, a, kept | set_of(&b->axes));
    sum_all_but(e, b, kept | set_of(&a->axes));
    uint64_t summed = set_of(&a->axes) & set_of(&b->axes) & ~kept;
    return summed ? multiply_matrices(e, a, b, summed, ret_product) : multiply_entries(e, a, b, ret_product);
}

static bool build(struct einsum *e, uint32_t n, struct term *terms)
{
    struct term z = terms[0];
    for (uint32_t i = 1; i < n; i++) {
        uint64_t kept = set_of(&e->output);
        for (uint32_t k = i + 1; k < n; k++)
            kept |= set_of(&terms[k].axes);
        struct term a = z;
        if (!multiply(e, &a, &terms[i], kept, &z))
            return false;
    }
    sum_all_but(e, &z, set_of(&e->output));
    return give(e->c, 0, arranged(e, &z, &e->output));
}

bool convert_einsum(struct conversion *c)
{
    const struct onnx_attribute *equation = onnx_node_find(c->node, "equation");
    struct einsum e = {.c = c};
    if (c->n_inputs == 0 || !equation || !equation->s.at)
        return cannot(c, "it has no operands or no equation");
    e.text = without_spaces(c, &equation->s);
    struct term *terms = arena_array(&c->importer->scratch, struct term, c->n_inputs);
    if (!read_operands(&e, terms) || !read_output(&e))
        return false;
    for (uint32_t i = 0; i < c->n_inputs; i++)
        drop_spread_axes(&e, &terms[i]);
    return build(&e, c->n_inputs, terms);
}
