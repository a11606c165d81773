// The space that the generator enumerates: a text file of families. No useful graph mixes all operators, so each family
// is enumerated by itself.
//
//     (family pooling
//       (max-ops 4)                                       ; optional: at most this many operators
//       (fewer-products)                                  ; optional: shortcuts to as large graphs of fewer products
//       (inputs 2 (f32 1 2 5 5) (f32 1 2 3 3))            ; of each type two interchangeable inputs
//       (constant (cpool :shape 2 1 3 3))
//       (operator (poolavg :kernel 3 3 :pad 1 1 1 1 _)    ; an operator with values of its attributes, and another,
//                 (enlarge :kernel 3 3 leaf)              ; on inputs and constants only
//                 (conv :pad 1 1 1 1 (not _ _ 3 3)        ; only on tensors not of this shape, and of this shape;
//                                    (_ _ 3 3))))         ; `_` is anything
//
// Operators take one or two arguments. Shapes are those of the enumeration; rules are tested at others too. Where all
// splits of a family give the sizes of their parts, nothing in it reads what concatenation an axis remembers: values
// are compared without, so that a tensor is what its parts are together.
#pragma once
#include "core/memory/vec.h"
#include "operators/operator.h"

enum { MAX_LEAVES = 32, MAX_INSTANCES = 128, MAX_OPS = 5, MAX_FAMILY_NAME = 63 };
// No operator: stands for two terms side by side (rewrite.h). Every family has it.
enum { PAIR_INSTANCE = MAX_INSTANCES };

struct argument_pattern {
    bool is_leaf, is_negated;
    int rank;                // -1: any
    int64_t dim[MAX_RANK];   // -1: any
};
// An operator with its attribute values.
struct instance {
    const struct operator* op;
    const struct attribute_value *attributes;
    int n_inputs;
    bool is_commutative;
    struct argument_pattern arguments[2];
};
struct leaf {
    bool is_constant;
    struct type type;                 // of an input
    uint8_t first_alike, end_alike;   // of an input: the inputs of its type
    struct instance constant;         // of a constant
};
struct family {
    const char *name;
    int max_ops, n_inputs, n_leaves, n_instances;
    bool wants_fewer_products;
    bool forgets_cuts;                              // values are equal whatever concatenations their axes remember
    uint32_t following;                             // set of the inputs that are not the first of their type
    struct leaf leaves[MAX_LEAVES];                 // inputs, then constants; inputs of one type stand together
    struct instance instances[MAX_INSTANCES + 1];   // and the pair
};
struct space {
    struct arena *arena;
    VEC(struct family *) families;
    VEC(const struct operator*) added;   // new ones
};

void space_init(struct space *space, struct arena *arena);
void space_free(struct space *space);
// `file` names the text in errors.
bool space_parse(struct space *space, const char *file, const char *text, size_t size, struct error *error);
// Keeps only the families named in the list "matrices,pooling"; false: an unknown name.
bool space_keep_families(struct space *space, const char *list, struct error *error);
// Keeps only the operators named in the list "gelu,matmul" and the families that have one of them. An operator that no
// family has, with one or two inputs and no required attribute, is new: it is added to all families that are left.
// Beside a new operator all those stay that only move entries (join, cut, repeat, exchange them), as their definitions
// tell: most of what is true of an operator is that it changes places with these.
bool space_keep_operators(struct space *space, const char *list, struct error *error);
