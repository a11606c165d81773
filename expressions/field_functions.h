// The scalar functions modulo the prime p = 2^61 - 1, private to the evaluators. The ring operations, division by other
// values than 0, powers by small integers and real constants are exact. So two graphs whose values are the same
// rational function of the inputs (as quotients of polynomials with rational coefficients, none of whose denominators
// vanishes modulo p) agree wherever no division by 0 happens; by Schwartz and Zippel (1980) different ones agree on
// random inputs with a probability of at most degree / p. Division by 0 gives 0.
//
// Other functions are keyed stand-ins. They map equal arguments to equal values; a law of the real function holds here
// only if the stand-in was made to have it:
//   max, min   of an order of all p values that starts at a keyed place: commutative, associative, idempotent,
//              absorbing, distributive, and monotone functions pass through them
//   relu       the lowest 20 bits are replaced by a keyed hash of the others, except below 2^20 where nothing changes:
//              monotone, idempotent, and the identity on small non-negative integers
//   rounding   the identity on integers up to 2^20
//   tests      less and lessequal go by the order above; equality and logic are exact; nothing is NaN
// A stand-in with more laws than the real function would make false candidates, which the generator's tests on floats
// must then weed out; one with fewer only misses true ones. Known to
// have more: x + 1 is above x for nearly all x, as in the reals, but so it is for relu's buckets of 2^20 neighbours,
// whose values relu cannot tell apart.
#ifndef EXPRESSIONS_FIELD_FUNCTIONS_H
#define EXPRESSIONS_FIELD_FUNCTIONS_H
#include "core/numbers/random.h"
#include "expressions/definition.h"
#include "expressions/field.h"

struct field_domain {
    uint64_t key;
    uint64_t start;   // where the order starts, so to speak: position 0 is the value p + 1 - start
};

#define BUCKET_BITS 20
#define BUCKET_MASK (((uint64_t)1 << BUCKET_BITS) - 1)

// A multiple of the bucket size other than 0, so that buckets stay whole and the last position is a value.
static inline struct field_domain domain_of_key(uint64_t key)
{
    uint64_t start = random_keyed(key ^ 0x6f72646572, 0) & FIELD_PRIME & ~BUCKET_MASK;
    return (struct field_domain){key, start ? start : BUCKET_MASK + 1};
}

// The place of a value in the order that max and min go by.
static inline uint64_t position(struct field_domain domain, uint64_t value)
{
    return (value + domain.start) & FIELD_PRIME;
}

static inline uint64_t lowest(struct field_domain domain)
{
    return (0 - domain.start) & FIELD_PRIME;
}

static inline uint64_t highest(struct field_domain domain)
{
    return (FIELD_PRIME - domain.start) & FIELD_PRIME;
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
    if (bucket == 0)
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

static inline uint64_t apply(struct field_domain domain, enum scalar_function fn, uint64_t a, uint64_t b, uint64_t c)
{
    switch (fn) {
    case FN_ADD:
        return field_add(a, b);
    case FN_SUB:
        return field_sub(a, b);
    case FN_MUL:
        return field_mul(a, b);
    case FN_NEG:
        return field_sub(0, a);
    case FN_DIV:
        return field_mul(a, field_inverse(b));
    case FN_RECIPROCAL:
        return field_inverse(a);
    case FN_POW:
        return power(domain.key, a, b);
    case FN_MAX:
        return position(domain, a) > position(domain, b) ? a : b;
    case FN_MIN:
        return position(domain, a) < position(domain, b) ? a : b;
    case FN_RELU:
        return order_preserving_relu(domain.key, a);
    case FN_FLOOR:
    case FN_CEIL:
    case FN_ROUND:
    case FN_TRUNC:
        return rounded(domain.key, fn, a);
    case FN_EQUAL:
        return a == b;
    case FN_LESS:
        return position(domain, a) < position(domain, b);
    case FN_LESS_EQUAL:
        return position(domain, a) <= position(domain, b);
    case FN_AND:
        return a && b;
    case FN_OR:
        return a || b;
    case FN_XOR:
        return !a != !b;
    case FN_NOT:
        return !a;
    case FN_IS_NAN:
        return 0;
    case FN_WHERE:
        return a ? b : c;
    default:
        return pseudo_random(domain.key, fn, a, b, c);
    }
}
#endif
