// Evaluation over 64-bit integers, for shape arithmetic and other integer tensors.
#include "expressions/evaluation/evaluate.h"

#include "expressions/definition.h"
#include "expressions/f64_functions.h"

#define SCALAR int64_t
#define DOMAIN int

static inline int64_t lowest(int domain)
{
    return INT64_MIN;
}

static inline int64_t highest(int domain)
{
    return INT64_MAX;
}

static inline int64_t from_real(double value)
{
    return value >= 9.2233720368547748e18 ? INT64_MAX : value > -9.2233720368547758e18 ? (int64_t)value : INT64_MIN;
}

static inline int64_t from_int(int64_t value)
{
    return value;
}

static inline int64_t to_int(int64_t value)
{
    return value;
}

static int64_t integer_power(int64_t base, int64_t exponent)
{
    uint64_t result = 1, b = (uint64_t)base;
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    for (; exponent; exponent >>= 1, b *= b)
        if (exponent & 1)
            result *= b;
    return (int64_t)result;
}

static inline int64_t apply(int domain, enum scalar_function fn, int64_t a, int64_t b, int64_t c)
{
    switch (fn) {
#define INTEGER_FUNCTION(enumerator, c_expression)                                                                     \
    case FN_##enumerator:                                                                                              \
        return c_expression;
#include "expressions/integer_functions.def"
#undef INTEGER_FUNCTION
    default:
        return from_real(f64_apply(fn, (double)a, (double)b, (double)c));
    }
}

static inline int64_t add_product(int64_t sum, int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)sum + (uint64_t)a * (uint64_t)b);
}

#include "expressions/evaluation/evaluate.inc"

void evaluate_i64(const struct definition *d, const int64_t *const *inputs, int64_t *const *outputs,
                  struct arena *scratch)
{
    evaluate_once(d, 0, false, inputs, outputs, scratch);
}

bool evaluate_i64_or_stop(const struct definition *d, const int64_t *const *inputs, int64_t *const *outputs,
                          struct arena *scratch)
{
    return evaluate_once(d, 0, true, inputs, outputs, scratch);
}
