// Exact fractions of integers.
#pragma once
#include "core/numbers/integers.h"
#include <stdbool.h>

struct rational {
    int64_t n, d;   // d > 0, in lowest terms
};

static inline struct rational rational(int64_t n, int64_t d)
{
    int64_t by = greatest_common_divisor(n < 0 ? -n : n, d < 0 ? -d : d);
    by = by == 0 ? 1 : d < 0 ? -by : by;
    return (struct rational){n / by, d / by};
}

static inline struct rational rational_sum(struct rational x, struct rational y)
{
    return rational(x.n * y.d + y.n * x.d, x.d * y.d);
}

static inline struct rational rational_product(struct rational x, struct rational y)
{
    return rational(x.n * y.n, x.d * y.d);
}

static inline struct rational rational_negative(struct rational x)
{
    return (struct rational){-x.n, x.d};
}

// Sums and products of two such do not overflow.
static inline bool rational_is_small(struct rational x)
{
    const int64_t most = (int64_t)1 << 30;
    return -most <= x.n && x.n <= most && x.d <= most;
}
