// The type of a tensor: element type, shape, and for every axis its split tree.
//
// A split tree (TASO paper, Section 2.1) records how an axis came about by concatenation, so that a rule can take a
// tensor apart again without naming sizes:   concat(1, a, b) has on axis 1   left_size = a's, left = a's, right = b's.
// A tree is NULL where the axis is not known to be a concatenation. Where an operator aligns two tensors, the result
// has the *meet* of their trees (the splits that both know): commutative, associative and idempotent, which is what
// makes "split of a sum is the sum of the splits" true in both directions. SPLIT_ANY is the top of that order: the tree
// of a constant filled with one value, which any split fits.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct error;
struct sexp;
struct text;

#define MAX_RANK 8
#define MAX_ELEMENTS ((int64_t)1 << 48)   // larger tensors are refused, so sizes never overflow
#define RANK_UNKNOWN (-1)

enum dtype {
    DTYPE_NONE,   // unknown
#define DTYPE(enumerator, name, bytes, onnx, class) DTYPE_##enumerator,
#include "expressions/dtypes.def"
#undef DTYPE
    DTYPE_COUNT
};

struct split_tree {
    int64_t left_size;
    const struct split_tree *left, *right;
};
extern const struct split_tree SPLIT_ANY_TREE;
#define SPLIT_ANY (&SPLIT_ANY_TREE)

struct type {
    enum dtype dtype;
    int rank;                                   // RANK_UNKNOWN: nothing is known of the shape
    int64_t dim[MAX_RANK];                      // >= 0; -1: unknown (only for tensors that opaque nodes make)
    const struct split_tree *split[MAX_RANK];   // NULL: not split
};

const char *dtype_name(enum dtype dtype);
bool dtype_from_name(const char *name, enum dtype *ret_dtype);
size_t dtype_size(enum dtype dtype);        // bytes of one element; 0 for strings and unknown
int dtype_to_onnx(enum dtype dtype);        // TensorProto.DataType
enum dtype dtype_from_onnx(int64_t code);   // DTYPE_NONE when the project has no such type
bool dtype_is_float(enum dtype dtype);
bool dtype_is_integer(enum dtype dtype);   // signed or unsigned, not bool
bool dtype_is_signed(enum dtype dtype);    // a signed integer
bool dtype_is_number(enum dtype dtype);    // floating-point or integer
double dtype_largest(enum dtype dtype);    // finite number of a floating-point type

struct type type_make(enum dtype dtype, int rank, const int64_t *dim);   // no split trees; dim may be NULL for rank 0
bool type_is_known(const struct type *t);                                // dtype, rank and all dimensions are known
uint64_t type_hash(const struct type *t);                                // of dtype, rank and dimensions
bool type_equal_shape(const struct type *a, const struct type *b);       // same rank and dimensions
bool type_equal(const struct type *a, const struct type *b);             // same dtype and shape; trees are not compared
bool type_equal_split(const struct type *a, const struct type *b);       // same split tree on every axis
bool type_has_allowed_size(const struct type *t);   // dimensions from 0; at most MAX_ELEMENTS, zeros left out
int64_t type_elements(const struct type *t);        // of a known type; 1 for rank 0
size_t type_bytes(const struct type *t);
bool type_parse(const struct sexp *s, const char *file, struct type *ret_type,
                struct error *error);   // (f32 1 3 224 224)
void type_print(struct text *out,
                const struct type *t);   // "(f32 1 3 224 224)"; unknown: "?" for a dimension or the rank

const struct split_tree *split_tree_join(struct arena *a, int64_t left_size, const struct split_tree *left,
                                         const struct split_tree *right);
const struct split_tree *split_tree_meet(struct arena *a, const struct split_tree *x, const struct split_tree *y);
bool split_tree_equal(const struct split_tree *x, const struct split_tree *y);
