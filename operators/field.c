#include "operators/field.h"

#include <math.h>

uint64_t field_power(uint64_t a, uint64_t exponent)
{
    uint64_t result = 1;
    for (; exponent; exponent >>= 1, a = field_mul(a, a))
        if (exponent & 1)
            result = field_mul(result, a);
    return result;
}

uint64_t field_inverse(uint64_t a)
{
    return field_power(a, FIELD_PRIME - 2);
}

uint64_t field_from_int(int64_t value)
{
    return value >= 0 ? field_reduce((uint64_t)value) : field_sub(0, field_reduce(-(uint64_t)value));
}

// 2^61 = 1 in this field, so a power of two is a rotation of the exponent modulo 61, also for negative exponents.
uint64_t field_from_real(double value)
{
    if (!isfinite(value))
        return isnan(value) ? 0x0a11 : value > 0 ? 0x1f1f : FIELD_PRIME - 0x1f1f;
    int exponent;
    int64_t mantissa = (int64_t)ldexp(frexp(value, &exponent), 53);
    int shift = ((exponent - 53) % 61 + 61) % 61;
    return field_mul(field_from_int(mantissa), (uint64_t)1 << shift);
}
