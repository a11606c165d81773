// Windows of a scope: an iterator of its result and one of its sum that occur in the first operand only together.
#pragma once
#include "derivation/scopes/scope.h"

#define NO_VARIABLE UINT32_MAX
// The index on `axis` of the read is  scale * (stride * of_result + dilation * of_sum) + other iterators.
struct window_pair {
    uint32_t of_result, of_sum;   // of_sum: NO_VARIABLE in a window of one entry
    int axis;
    int64_t scale, stride, dilation;
};
enum { MOST_WINDOWS = 10 };
struct window_pairs {
    int n, n_real;   // n_real: those with an iterator of a sum
    struct window_pair items[MOST_WINDOWS];
};
// Windows in the order of axes, all that there are: an iterator may occur in several. `other`: the second operand's
// read.
void find_windows(const struct pool *p, const struct scope *s, expr read, expr other, struct window_pairs *ret_pairs);
