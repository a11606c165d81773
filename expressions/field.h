// Arithmetic modulo the Mersenne prime 2^61 - 1: where fingerprints are computed.
#pragma once
#include <stdint.h>

#define FIELD_PRIME (((uint64_t)1 << 61) - 1)
#define FIELD_INFINITY UINT64_C(0x0b4c1d5e2f638a97)   // stands for infinity: no number that computations come to

__extension__ typedef unsigned __int128 field_wide;   // holds sums of up to FIELD_LAZY_PRODUCTS products
enum { FIELD_LAZY_PRODUCTS = 32 };

static inline uint64_t field_reduce(uint64_t x)   // any 64-bit value
{
    x = (x & FIELD_PRIME) + (x >> 61);
    return x >= FIELD_PRIME ? x - FIELD_PRIME : x;
}
static inline uint64_t field_add(uint64_t a, uint64_t b)
{
    uint64_t s = a + b;
    return s >= FIELD_PRIME ? s - FIELD_PRIME : s;
}
static inline uint64_t field_sub(uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + FIELD_PRIME - b;
}
static inline uint64_t field_mul(uint64_t a, uint64_t b)
{
    field_wide p = (field_wide)a * b;
    uint64_t s = ((uint64_t)p & FIELD_PRIME) + (uint64_t)(p >> 61);
    return s >= FIELD_PRIME ? s - FIELD_PRIME : s;
}
static inline uint64_t field_reduce_wide(field_wide x)
{
    return field_reduce(((uint64_t)x & FIELD_PRIME) + ((uint64_t)(x >> 61) & FIELD_PRIME) + (uint64_t)(x >> 122));
}
uint64_t field_power(uint64_t a, uint64_t exponent);
uint64_t field_inverse(uint64_t a);   // of 0: 0
uint64_t field_from_int(int64_t value);
// Every finite double is a dyadic rational m / 2^k and has an exact image. NaN and infinities have arbitrary ones.
uint64_t field_from_real(double value);
