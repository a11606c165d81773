// Both sides of an instance compared: by their types, as polynomials of the input entries, and as numbers.
#pragma once
#include "verifier/instances/instance.h"
#include "verifier/polynomials/polynomial.h"

struct text;

// What the values of a larger one would take is no matter of a proof, nor of a trial.
#define MOST_ENTRIES ((int64_t)1 << 22)
// Do the tensors of both sides have more entries than MOST_ENTRIES, those between the stages of definitions counted?
bool instance_is_too_large(const struct instance *in);

enum comparison {
    COMPARISON_EQUAL,
    COMPARISON_BOTH_ILL_TYPED,
    COMPARISON_LEFT_ILL_TYPED,
    COMPARISON_RIGHT_ILL_TYPED,
    COMPARISON_OTHER_TYPE,
    COMPARISON_OTHER_SPLIT_TREE,
    COMPARISON_OTHER_VALUE,   // as polynomials, confirmed by numbers
    COMPARISON_UNDECIDED,     // polynomials differ, numbers do not; or there are no polynomials
    COMPARISON_TOO_LARGE,     // and nothing was computed
};
struct difference {
    enum comparison kind;
    uint32_t pair;
    int64_t entry;                    // OTHER_VALUE: of the output, in row-major order
    polynomial left, right;           // OTHER_VALUE, UNDECIDED when has_polynomials
    double left_value, right_value;   // OTHER_VALUE
    uint64_t seed;                    // of the numbers that confirmed it
    bool has_polynomials, needs_reals;
    bool is_number_on_one_side;   // EQUAL: an entry is, and something overflowed, so that it says nothing
    const char *reason;           // UNDECIDED
};
// Both sides of every pair are well-typed, and of one type.
bool instance_has_values_on_both_sides(const struct instance *in);
// All nodes were typed. Compares every pair; the first one that is not equal is reported. `pool` is cleared first and
// its polynomials are valid until the next comparison. Without numbers polynomials that differ leave it undecided.
enum comparison instance_compare(struct instance *in, struct polynomial_pool *pool, bool with_numbers,
                                 struct difference *ret_difference);
// The same without the values: equal where types and, if the equation is strong, split trees are.
enum comparison instance_compare_types(const struct instance *in, struct difference *ret_difference);
// The same on one assignment of numbers to all entries (seed modulo 3: small integers, positive reals, any reals):
// equal is no proof. An entry that is a number on one side alone is another value, where nothing is infinite: then no
// sum overflowed, but a function met what it is not defined for.
enum comparison instance_compare_numbers(struct instance *in, uint64_t seed, struct difference *ret_difference);
void instance_print_difference(struct text *out, const struct instance *in, const struct polynomial_pool *pool,
                               const struct difference *difference);
