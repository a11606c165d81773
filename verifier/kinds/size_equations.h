// Linear equations of sizes that are at least 1: what typing makes of an equation where ranks, axes and permutations
// have values. Have they a solution?
#pragma once
#include <stdbool.h>
#include <stdint.h>

#define MOST_SIZES 128   // unknown ones
#define MOST_SIZE_EQUATIONS 160

// A number and multiples of sizes, added up.
struct size_sum {
    int64_t number;
    int32_t times[MOST_SIZES];
};
struct size_equations {
    uint32_t n_sizes, n;
    bool is_too_large;                              // something was left out
    struct size_sum is_zero[MOST_SIZE_EQUATIONS];   // each of them
};

struct size_sum size_number(int64_t number);
struct size_sum size_unknown(struct size_equations *e);   // another one, of which nothing is known yet
struct size_sum size_plus(const struct size_sum *a, const struct size_sum *b, int32_t times_b);
void size_equate(struct size_equations *e, const struct size_sum *a, const struct size_sum *b);
// Is it seen that no sizes solve the equations? "No" says nothing. Changes them.
bool size_equations_are_impossible(struct size_equations *e);
