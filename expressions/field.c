// Arithmetic modulo 2^61 - 1 by folding the product's upper half.
#include "expressions/field.h"

#include <math.h>

uint64_t field_power(uint64_t a, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, a = field_mul(a, a))
        if (exponent & 1)
            result = field_mul(result, a);
    return result;
}

static uint64_t square_times(uint64_t a, int times)
{
    while (times-- > 0)
        a = field_mul(a, a);
    return a;
}

// Euclid's algorithm gives k with k p = -1 modulo a, and the inverse is (k p + 1) / a. For a below 2^16, other than 0.
static uint64_t inverse_of_small(uint64_t a)
{
    int64_t x = 0, next = 1;
    uint64_t rest = FIELD_PRIME % a;
    for (uint64_t larger = a, smaller = rest; smaller;) {
        uint64_t quotient = larger / smaller, remainder = larger % smaller;
        int64_t before = x;
        x = next;
        next = before - (int64_t)quotient * next;
        larger = smaller;
        smaller = remainder;
    }
    uint64_t k = (uint64_t)(x > 0 ? (int64_t)a - x : -x) % a;
    return FIELD_PRIME / a * k + (rest * k + 1) / a;
}

// The inverse is a^(p - 2) (Fermat), and p - 2 = 2^61 - 3 is in binary 59 ones, then 01. ones[k]: a to the 2^k ones.
uint64_t field_inverse(uint64_t a)
{
    if (a > 0 && a >> 16 == 0)
        return inverse_of_small(a);
    uint64_t ones[6] = {a};
    for (int k = 0; k < 5; k++)
        ones[k + 1] = field_mul(square_times(ones[k], 1 << k), ones[k]);
    uint64_t result = ones[5];
    result = field_mul(square_times(result, 16), ones[4]);
    result = field_mul(square_times(result, 8), ones[3]);
    result = field_mul(square_times(result, 2), ones[1]);
    result = field_mul(square_times(result, 1), ones[0]);
    return field_mul(square_times(result, 2), a);
}

uint64_t field_from_int(int64_t value)
{
    return value >= 0 ? field_reduce((uint64_t)value) : field_sub(0, field_reduce(-(uint64_t)value));
}

// 2^61 = 1 in this field, so a power of two is a rotation of the exponent modulo 61, also for negative exponents.
uint64_t field_from_real(double value)
{
    if (!isfinite(value))
        return isnan(value) ? 0x0a11 : value > 0 ? FIELD_INFINITY : FIELD_PRIME - FIELD_INFINITY;
    int exponent;
    int64_t mantissa = (int64_t)ldexp(frexp(value, &exponent), 53);
    int shift = ((exponent - 53) % 61 + 61) % 61;
    return field_mul(field_from_int(mantissa), (uint64_t)1 << shift);
}
