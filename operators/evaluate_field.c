// Evaluation modulo 2^61 - 1. The ring operations, division by non-zero values and real constants are exact, so two
// graphs equal over the reals as rational functions have equal values here, and by Schwartz and Zippel (1980) unequal
// ones differ on random inputs except with probability degree / 2^61.
//
// Functions outside of the field's language are keyed pseudo-random functions of their arguments: equal arguments give
// equal values, and no law of the real function is promised that the stand-in does not have. Those that rules rely on:
//   max, min   of the representatives: commutative, associative, idempotent, and monotone functions pass through them
//   relu       the lowest 20 bits replaced by a keyed hash of the others: monotone and idempotent
// A stand-in with more laws than the real function would make false candidates; one with fewer only misses true ones.
#include "operators/evaluate.h"

#include "core/random.h"
#include "operators/definition.h"
#include "operators/field.h"

#define SCALAR uint64_t
#define DOMAIN uint64_t
#define LOWEST 0
#define HIGHEST (FIELD_PRIME - 1)

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

static uint64_t order_preserving_relu(uint64_t key, uint64_t value)
{
    const int replaced = 20;
    uint64_t high = value >> replaced;
    uint64_t low = random_keyed(key ^ 0x72656c75, high) & (((uint64_t)1 << replaced) - 2);
    return high << replaced | low;
}

static uint64_t pseudo_random(uint64_t key, enum scalar_function fn, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t h = random_keyed(key ^ ((uint64_t)fn << 32), a);
    if (function_arity(fn) > 1)
        h = random_keyed(h, b);
    if (function_arity(fn) > 2)
        h = random_keyed(h, c);
    return field_reduce(h);
}

static inline uint64_t apply(uint64_t key, enum scalar_function fn, uint64_t a, uint64_t b, uint64_t c)
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
    case FN_MAX:
        return a > b ? a : b;
    case FN_MIN:
        return a < b ? a : b;
    case FN_RELU:
        return order_preserving_relu(key, a);
    case FN_EQUAL:
        return a == b;
    case FN_LESS:
        return a < b;
    case FN_LESS_EQUAL:
        return a <= b;
    case FN_AND:
        return a && b;
    case FN_OR:
        return a || b;
    case FN_XOR:
        return !a != !b;
    case FN_NOT:
        return !a;
    case FN_WHERE:
        return a ? b : c;
    default:
        return pseudo_random(key, fn, a, b, c);
    }
}

#include "operators/evaluate.inc"

void evaluate_field(const struct definition *d, uint64_t key, const uint64_t *const *inputs, uint64_t *const *outputs,
                    struct arena *scratch)
{
    evaluate(d, key, inputs, outputs, scratch);
}
