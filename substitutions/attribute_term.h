// Attribute terms: how a rule speaks of attribute values and shapes. Every term denotes a list of integers.
//     3                  the list (3)
//     $s                 what the attribute variable s stands for: the value of a whole attribute
//     (dim ?x 1)         the size of an axis of a tensor variable        (dims ?x)   all its sizes       (rank ?x)
//     (+ a b) (- a b) (* a b) (/ a b)     entry by entry; a list of one entry goes with every entry of the other.
//                        Division must be exact, else the term has no value.
//     (list a b ...)     the lists one behind the other                   (sum a) (product a)   of all entries
//     (take n a) (drop n a)               the first n entries, all but the first n
//     (repeat n a)       a, n times                                       (length a)   how many entries
//     (iota n)           0 1 ... n-1                                      (at a b)     a's entries at the places b
// A term without a value (division with a remainder, lists of different lengths, overflow) makes a rule not applicable.
#pragma once
#include "operators/operator.h"

enum attribute_term_kind {
    TERM_INTEGER,
    TERM_VARIABLE,
    TERM_DIM,
    TERM_DIMS,
    TERM_RANK,
    TERM_ADD,
    TERM_SUB,
    TERM_MUL,
    TERM_DIV,
    TERM_LIST,
    TERM_SUM,
    TERM_PRODUCT,
    TERM_TAKE,
    TERM_DROP,
    TERM_REPEAT,
    TERM_LENGTH,
    TERM_IOTA,
    TERM_AT,
};
#define TERM_KINDS (TERM_AT + 1)

struct attribute_term {
    enum attribute_term_kind kind;
    int64_t value;    // INTEGER: itself; VARIABLE: number; DIM, DIMS, RANK: the tensor variable's number
    uint32_t count;   // operands
    const struct attribute_term *const *operands;
};

#define MAX_TERM_LENGTH 64   // entries of a list; longer ones have no value

// The values of variables while a term is evaluated. An attribute variable that is not bound has ints == NULL and
// count == UINT32_MAX; a tensor variable that is not bound has a NULL type.
struct term_bindings {
    const struct type *const *tensors;
    const struct attribute_value *attributes;
};
#define UNBOUND_ATTRIBUTE ((struct attribute_value){UINT32_MAX, NULL})

// The value, its ints allocated in `a`. False: no value, or a variable is not bound.
bool attribute_term_evaluate(const struct attribute_term *t, const struct term_bindings *b, struct arena *a,
                             struct attribute_value *ret_value);
// A term of at most one operand (NULL: none), which is kept.
const struct attribute_term *attribute_term_make(enum attribute_term_kind kind, int64_t value,
                                                 const struct attribute_term *operand, struct arena *a);
// A term of several operands, which are copied to `a`.
const struct attribute_term *attribute_term_of(struct arena *a, enum attribute_term_kind kind, uint32_t count,
                                               const struct attribute_term *const *operands);
bool attribute_term_equal(const struct attribute_term *a, const struct attribute_term *b);
bool attribute_term_mentions_variable(const struct attribute_term *t, int64_t variable);   // an attribute variable
bool attribute_term_is_number(const struct attribute_term *t, int64_t number);             // just this one
bool attribute_term_is_one_entry(const struct attribute_term *t);   // as its form says: a number, or a size
const char *attribute_term_head(enum attribute_term_kind kind);     // "+", "dim", ...; NULL for INTEGER and VARIABLE
