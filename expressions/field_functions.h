// The scalar functions modulo the prime p = 2^61 - 1, private to the evaluators. The ring operations, division by other
// values than 0, powers by small integers and real constants are exact. So two graphs whose values are the same
// rational function of the inputs (as quotients of polynomials with rational coefficients, none of whose denominators
// vanishes modulo p) agree wherever no division by 0 happens; by Schwartz and Zippel (1980) different ones agree on
// random inputs with a probability of at most degree / p. Division by 0 gives 0.
//
// Other functions are keyed stand-ins. They map equal arguments to equal values; a law of the real function holds here
// only if the stand-in was made to have it:
//   max, min   of an order of all values: commutative, associative, idempotent, absorbing, distributive, turned
//              round by negation, and monotone functions pass through them
//   relu       the lowest 20 bits are replaced by a keyed hash of the others, except in short numbers, where nothing
//              changes: monotone, idempotent, and the identity on small non-negative integers
//   rounding   the identity on integers up to 2^20
//   tests      less and lessequal go by the order above; equality and logic are exact; nothing is NaN
// The order goes by readings. A short number (m / 2^k with an m of at most 28 bits: an integer, 0.5, what a float has
// for 0.1) reads as itself, other values as keyed reals of both signs between 1/16 and 16. So thresholds lie among the
// values as they do among the reals, and shrink, clip or hardswish have values on all sides of theirs: in an order of
// the representatives 1/2 follows right after -1/2, and nearly every x is "below -1/2 or above 1/2".
// A stand-in with more laws than the real function would make false candidates, which the generator's tests on floats
// must then weed out; one with fewer only misses true ones (x + 1 is not always above x here).
#pragma once
#include "core/numbers/random.h"
#include "expressions/definition.h"
#include "expressions/field.h"
#include <math.h>
#include <string.h>

#define FIELD_BITS 61
#define BUCKET_BITS 20
#define BUCKET_MASK (((uint64_t)1 << BUCKET_BITS) - 1)
#define SHORT_BITS 28

static inline uint64_t lowest(uint64_t key)
{
    return FIELD_PRIME - FIELD_INFINITY;
}

static inline uint64_t highest(uint64_t key)
{
    return FIELD_INFINITY;
}

// Rotation is multiplication by a power of two.
static inline uint64_t rotated(uint64_t value, int bits)
{
    return (value << bits | value >> (FIELD_BITS - bits)) & FIELD_PRIME;
}

// The last bits of 33 in a row that are alike. In m * 2^k with |m| < 2^28 all but those of m are, so there is such a
// row, and in 61 bits no second one.
static inline uint64_t ends_of_rows(uint64_t value)
{
    uint64_t ends = ~(value ^ rotated(value, 1)) & FIELD_PRIME;
    for (int n = 1; n < FIELD_BITS - SHORT_BITS - 1; n *= 2)
        ends &= rotated(ends, n);
    return ends;
}

// A double is made of its sign, its exponent, and the 52 bits behind the point: ldexp takes as long as all the rest.
static inline double real_of_bits(bool is_negative, int exponent, uint64_t fraction)
{
    uint64_t bits = (uint64_t)is_negative << 63 | (uint64_t)(exponent + 1023) << 52 | fraction;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// m * 2^k with k from -32 to 28, of a value with `ends` that is not 0.
static inline double reading_of_short(uint64_t value, uint64_t ends)
{
    int last = __builtin_ctzll(ends & ~rotated(ends, FIELD_BITS - 1));
    bool is_negative = value >> last & 1;
    uint64_t m = rotated(is_negative ? FIELD_PRIME - value : value, FIELD_BITS - 1 - last);
    return (double)m * real_of_bits(is_negative, last + 1 <= SHORT_BITS ? last + 1 : last + 1 - FIELD_BITS, 0);
}

// A bucket's values all have one reading, as relu does not tell them apart; the negatives have the negative.
static inline double reading_of_bucket(uint64_t key, uint64_t value)
{
    bool is_upper = value > FIELD_PRIME / 2;
    uint64_t hash = random_keyed(key ^ 0x6f72646572, (is_upper ? FIELD_PRIME - value : value) >> BUCKET_BITS);
    return real_of_bits((hash >> 3 & 1) != is_upper, (int)(hash & 7) - 4, hash >> 12);
}

// The real number that a value stands for where numbers are compared.
static inline double reading(uint64_t key, uint64_t value)
{
    if (value >> SHORT_BITS == 0)
        return (double)value;
    if (value == FIELD_INFINITY || value == FIELD_PRIME - FIELD_INFINITY)
        return value == FIELD_INFINITY ? INFINITY : -INFINITY;
    uint64_t ends = ends_of_rows(value);
    return ends ? reading_of_short(value, ends) : reading_of_bucket(key, value);
}

static inline bool is_below(uint64_t key, uint64_t a, uint64_t b)
{
    double x = reading(key, a), y = reading(key, b);
    return x < y || (x == y && a < b);
}

static inline uint64_t from_real(double value)
{
    return field_from_real(value);
}

static inline uint64_t from_int(int64_t value)
{
    return field_from_int(value);
}

// Small representatives are themselves, the large half stands for negative integers.
static inline int64_t to_int(uint64_t value)
{
    return value <= FIELD_PRIME / 2 ? (int64_t)value : -(int64_t)(FIELD_PRIME - value);
}

static inline uint64_t order_preserving_relu(uint64_t key, uint64_t value)
{
    uint64_t bucket = value >> BUCKET_BITS;
    if (bucket == 0 || value == FIELD_INFINITY || value == FIELD_PRIME - FIELD_INFINITY || ends_of_rows(value))
        return value;
    uint64_t low = random_keyed(key ^ 0x72656c75, bucket) & (BUCKET_MASK - 1);
    return bucket << BUCKET_BITS | low;
}

static inline uint64_t pseudo_random(uint64_t key, enum scalar_function fn, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t h = random_keyed(key ^ ((uint64_t)fn << 32), a);
    if (function_arity(fn) > 1)
        h = random_keyed(h, b);
    if (function_arity(fn) > 2)
        h = random_keyed(h, c);
    return field_reduce(h);
}

static inline uint64_t power(uint64_t key, uint64_t base, uint64_t exponent)
{
    const int64_t most = 64;
    int64_t e = to_int(exponent);
    if (e > most || e < -most)
        return pseudo_random(key, FN_POW, base, exponent, 0);
    return e < 0 ? field_inverse(field_power(base, (uint64_t)-e)) : field_power(base, (uint64_t)e);
}

static inline uint64_t rounded(uint64_t key, enum scalar_function fn, uint64_t value)
{
    int64_t integer = to_int(value);
    bool is_small = integer <= (int64_t)BUCKET_MASK && integer >= -(int64_t)BUCKET_MASK;
    return is_small ? value : pseudo_random(key, fn, value, 0, 0);
}

static inline uint64_t apply(uint64_t key, enum scalar_function fn, uint64_t a, uint64_t b, uint64_t c)
{
    switch (fn) {
#define FIELD_FUNCTION(enumerator, c_expression)                                                                       \
    case FN_##enumerator:                                                                                              \
        return c_expression;
#include "expressions/field_functions.def"
#undef FIELD_FUNCTION
    default:
        return pseudo_random(key, fn, a, b, c);
    }
}
