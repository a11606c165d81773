// Element types by table, shapes as text, and split trees with their meet.
#include "expressions/type.h"

#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/vec.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <float.h>
#include <inttypes.h>
#include <string.h>

enum dtype_class { CLASS_OTHER, CLASS_FLOAT, CLASS_SIGNED, CLASS_UNSIGNED, CLASS_LOGICAL };

static const struct dtype_info {
    const char *name;
    uint8_t bytes, onnx;
    enum dtype_class class;
} infos[DTYPE_COUNT] = {
    [DTYPE_NONE] = {"?", 0, 0, CLASS_OTHER},
#define DTYPE(enumerator, name, bytes, onnx, class) [DTYPE_##enumerator] = {name, bytes, onnx, CLASS_##class},
#include "expressions/dtypes.def"
#undef DTYPE
};

const struct split_tree SPLIT_ANY_TREE = {0};

const char *dtype_name(enum dtype dtype)
{
    return infos[dtype].name;
}

bool dtype_from_name(const char *name, enum dtype *ret_dtype)
{
    enum dtype found = FIRST_OF(enum dtype, i, DTYPE_COUNT, i != DTYPE_NONE && strcmp(infos[i].name, name) == 0);
    if (found < DTYPE_COUNT)
        *ret_dtype = found;
    return found < DTYPE_COUNT;
}

size_t dtype_size(enum dtype dtype)
{
    return infos[dtype].bytes;
}

int dtype_to_onnx(enum dtype dtype)
{
    return infos[dtype].onnx;
}

enum dtype dtype_from_onnx(int64_t code)
{
    enum dtype found = FIRST_OF(enum dtype, i, DTYPE_COUNT, i != DTYPE_NONE && infos[i].onnx == code);
    return found < DTYPE_COUNT ? found : DTYPE_NONE;
}

bool dtype_is_float(enum dtype dtype)
{
    return infos[dtype].class == CLASS_FLOAT;
}

bool dtype_is_integer(enum dtype dtype)
{
    return infos[dtype].class == CLASS_SIGNED || infos[dtype].class == CLASS_UNSIGNED;
}

bool dtype_is_signed(enum dtype dtype)
{
    return infos[dtype].class == CLASS_SIGNED;
}

bool dtype_is_number(enum dtype dtype)
{
    return dtype_is_float(dtype) || dtype_is_integer(dtype);
}

double dtype_largest(enum dtype dtype)
{
    static const double largest[DTYPE_COUNT] = {
        [DTYPE_F16] = 65504, [DTYPE_BF16] = 0x1.fep127, [DTYPE_F32] = 0x1.fffffep127, [DTYPE_F64] = DBL_MAX};
    return largest[dtype];
}

struct type type_make(enum dtype dtype, int rank, const int64_t *dim)
{
    struct type t = {.dtype = dtype, .rank = rank};
    for (int i = 0; i < rank; i++)
        t.dim[i] = dim[i];
    return t;
}

bool type_is_known(const struct type *t)
{
    return t->dtype != DTYPE_NONE && t->rank != RANK_UNKNOWN && !ANY(int, i, t->rank, t->dim[i] < 0);
}

uint64_t type_hash(const struct type *t)
{
    uint64_t hash = hash_mix((uint64_t)t->dtype, (uint64_t)t->rank);
    return t->rank > 0 ? hash_bytes(t->dim, (size_t)t->rank * sizeof *t->dim, hash) : hash;
}

bool type_equal_shape(const struct type *a, const struct type *b)
{
    return a->rank == b->rank && ALL(int, i, a->rank, a->dim[i] == b->dim[i]);
}

bool type_equal(const struct type *a, const struct type *b)
{
    return a->dtype == b->dtype && type_equal_shape(a, b);
}

bool type_equal_split(const struct type *a, const struct type *b)
{
    return a->rank == b->rank && ALL(int, i, a->rank, split_tree_equal(a->split[i], b->split[i]));
}

bool type_has_allowed_size(const struct type *t)
{
    int64_t elements = 1;
    for (int i = 0; i < t->rank; i++) {
        int64_t dim = t->dim[i] == 0 ? 1 : t->dim[i];
        if (dim < 0 || __builtin_mul_overflow(elements, dim, &elements) || elements > MAX_ELEMENTS)
            return false;
    }
    return true;
}

int64_t type_elements(const struct type *t)
{
    return PRODUCT_ALL(int64_t, int, i, t->rank, t->dim[i]);
}

size_t type_bytes(const struct type *t)
{
    return (size_t)type_elements(t) * dtype_size(t->dtype);
}

static bool parse_dimension(const struct sexp *s, const char *file, int64_t *ret_dim, struct error *error)
{
    if (sexp_is_symbol(s, "?")) {
        *ret_dim = -1;
        return true;
    }
    if (s->kind != SEXP_INTEGER || s->integer < 0 || s->integer > MAX_ELEMENTS)
        return sexp_error(error, file, s, "expected a dimension (an integer from 0) or ?");
    *ret_dim = s->integer;
    return true;
}

bool type_parse(const struct sexp *s, const char *file, struct type *ret_type, struct error *error)
{
    struct type t = {0};
    if (s->kind != SEXP_LIST || s->count == 0 || s->items[0].kind != SEXP_SYMBOL)
        return sexp_error(error, file, s, "expected a tensor type such as (f32 1 3 224 224)");
    if (!dtype_from_name(s->items[0].text, &t.dtype) && !sexp_is_symbol(&s->items[0], "?"))
        return sexp_error(error, file, &s->items[0], "unknown element type %s", s->items[0].text);
    if (s->count == 2 && sexp_is_symbol(&s->items[1], "...")) {
        t.rank = RANK_UNKNOWN;
        *ret_type = t;
        return true;
    }
    if (s->count - 1 > MAX_RANK)
        return sexp_error(error, file, s, "more than %d dimensions", MAX_RANK);
    t.rank = (int)s->count - 1;
    int64_t elements = 1;
    for (int i = 0; i < t.rank; i++) {
        if (!parse_dimension(&s->items[i + 1], file, &t.dim[i], error))
            return false;
        if (t.dim[i] > 0 && elements > MAX_ELEMENTS / t.dim[i])
            return sexp_error(error, file, s, "the tensor has too many elements");
        elements *= t.dim[i] > 0 ? t.dim[i] : 1;
    }
    *ret_type = t;
    return true;
}

void type_print(struct text *out, const struct type *t)
{
    text_printf(out, "(%s", dtype_name(t->dtype));
    if (t->rank == RANK_UNKNOWN)
        text_add(out, " ...");
    for (int i = 0; i < t->rank; i++)
        if (t->dim[i] < 0)
            text_add(out, " ?");
        else
            text_printf(out, " %" PRId64, t->dim[i]);
    text_add(out, ")");
}

const struct split_tree *split_tree_join(struct arena *a, int64_t left_size, const struct split_tree *left,
                                         const struct split_tree *right)
{
    struct split_tree *tree = arena_new(a, struct split_tree);
    *tree = (struct split_tree){left_size, left, right};
    return tree;
}

const struct split_tree *split_tree_meet(struct arena *a, const struct split_tree *x, const struct split_tree *y)
{
    if (x == y || y == SPLIT_ANY)
        return x;
    if (x == SPLIT_ANY)
        return y;
    if (!x || !y || x->left_size != y->left_size)
        return NULL;
    const struct split_tree *left = split_tree_meet(a, x->left, y->left);
    const struct split_tree *right = split_tree_meet(a, x->right, y->right);
    return left == x->left && right == x->right ? x : split_tree_join(a, x->left_size, left, right);
}

bool split_tree_equal(const struct split_tree *x, const struct split_tree *y)
{
    return x == y || (x && y && x != SPLIT_ANY && y != SPLIT_ANY && x->left_size == y->left_size &&
                      split_tree_equal(x->left, y->left) && split_tree_equal(x->right, y->right));
}
