// Index expressions as affine forms, and the ranges of their values: what an index is, said once for whoever plans,
// compiles or proves.
//
//     base + sum of factor * atom     an atom is a variable, or no sum: a quotient, a remainder, an index made of data
#pragma once
#include "core/numbers/integers.h"
#include "expressions/definition.h"

// Arithmetic of indices: it wraps, as that of 64-bit machine integers does, and quotients round down (floor_quotient).
static inline int64_t wrapping_sum(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}
static inline int64_t wrapping_product(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

struct scaled_atom {
    expr atom;
    int64_t factor;
};
enum { MAX_AFFINE_TERMS = 16 };
struct affine_form {
    int64_t base;
    int n;
    struct scaled_atom terms[MAX_AFFINE_TERMS];   // in the order of the expression; the same atom may occur again
};

// False, and nothing is known: the form has more terms.
bool affine_form_of(const struct definition *d, expr index, struct affine_form *ret_form);
// Are all atoms variables?
bool affine_form_is_of_variables(const struct definition *d, const struct affine_form *f);

// Inclusive; at most 2^60 away from 0, which stands for all that is farther. Of no value: high < low.
struct index_range {
    int64_t low, high;
};
#define INDEX_UNBOUNDED ((int64_t)1 << 60)
int64_t index_saturated(int64_t value);
int64_t index_saturated_product(int64_t a, int64_t b);
// The range of an index expression over its variables; each part is taken for itself, so it may be too wide.
struct index_range index_range(const struct definition *d, expr index);
bool index_stays_inside(const struct definition *d, expr index, int64_t size);   // from 0 to size - 1
