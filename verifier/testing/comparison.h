// Both sides of an instance compared: by their types, and at numbers. Equal is no proof.
#pragma once
#include "instances/instance.h"

enum comparison {
    COMPARISON_EQUAL,
    COMPARISON_BOTH_ILL_TYPED,
    COMPARISON_LEFT_ILL_TYPED,
    COMPARISON_RIGHT_ILL_TYPED,
    COMPARISON_OTHER_TYPE,
    COMPARISON_OTHER_SPLIT_TREE,
    COMPARISON_OTHER_VALUE,
    COMPARISON_TOO_LARGE,   // and nothing was computed
};
struct difference {
    enum comparison kind;
    uint32_t pair;
    int64_t entry;                    // OTHER_VALUE: of the output, in row-major order
    double left_value, right_value;   // OTHER_VALUE
    uint64_t seed;                    // of the numbers
    bool is_number_on_one_side;       // EQUAL: an entry is, and something overflowed, so that it says nothing
};
// Both sides of every pair are well-typed, and of one type.
bool instance_has_values_on_both_sides(const struct instance *in);
// All nodes were typed. Compares every pair, at a few assignments of numbers; the first one that is not equal is
// reported.
enum comparison instance_compare(struct instance *in, struct difference *ret_difference);
// The same without the values: equal where types and, if the equation is strong, split trees are.
enum comparison instance_compare_types(const struct instance *in, struct difference *ret_difference);
// The same on one assignment of numbers to all entries (seed modulo 3: small integers, positive reals, any reals). An
// entry that is a number on one side alone is another value, where nothing is infinite: then no sum overflowed, but a
// function met what it is not defined for.
enum comparison instance_compare_numbers(struct instance *in, uint64_t seed, struct difference *ret_difference);
