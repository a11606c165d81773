#include "backends/value.h"

#include "core/arena.h"
#include "core/random.h"
#include <assert.h>
#include <math.h>
#include <string.h>

void *value_allocate(struct arena *a, const struct type *type)
{
    return arena_alloc(a, type_bytes(type), 64);
}

// --- 16-bit floating point
// --------------------------------------------------------------------------------------------

static uint64_t bits_of_double(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

// The upper bits of a number, the lowest `dropped` rounded away to nearest even.
static uint64_t round_off(uint64_t number, int dropped)
{
    uint64_t half = (uint64_t)1 << (dropped - 1), kept = number >> dropped, rest = number & (2 * half - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

// IEEE-like formats of 16 bits: 1 sign bit, then the exponent, then `fraction` bits.
static uint16_t narrow_to_16_bits(double value, int fraction)
{
    const int exponent_bits = 15 - fraction, bias = (1 << (exponent_bits - 1)) - 1;
    const uint64_t infinity = (((uint64_t)1 << exponent_bits) - 1) << fraction;
    uint64_t bits = bits_of_double(value), sign = bits >> 63 << 15;
    uint64_t mantissa = bits & (((uint64_t)1 << 52) - 1);
    int exponent = (int)(bits >> 52 & 0x7ff);
    if (exponent == 0x7ff)
        return (uint16_t)(sign | infinity | (mantissa ? (uint64_t)1 << (fraction - 1) : 0));
    int scaled = exponent - 1023 + bias;
    uint64_t rounded;
    if (scaled >= 1)
        rounded = round_off(((uint64_t)scaled << 52) | mantissa, 52 - fraction);
    else if (scaled > -fraction - 1 && exponent > 0)
        rounded = round_off(((uint64_t)1 << 52) | mantissa, 52 - fraction + 1 - scaled);
    else
        rounded = 0;
    return (uint16_t)(sign | (rounded < infinity ? rounded : infinity));
}

float value_from_f16(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
    if (exponent == 0x1f)
        return float_of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0)
        return copysignf((float)fraction * 0x1p-24f, float_of_bits(sign));
    return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

uint16_t value_to_f16(double value)
{
    return narrow_to_16_bits(value, 10);
}

float value_from_bf16(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

uint16_t value_to_bf16(double value)
{
    return narrow_to_16_bits(value, 7);
}

// --- conversions
// ------------------------------------------------------------------------------------------------------

static int64_t cut_off(double value)
{
    if (value != value)
        return 0;
    return value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

// From a double to 64 unsigned bits: values from 2^63 on too.
static uint64_t cut_off_unsigned(double value)
{
    return value >= 0x1p63 ? (value >= 0x1p64 ? UINT64_MAX : (uint64_t)value) : (uint64_t)cut_off(value);
}

#define STORED_AS_INTEGERS(CASE)                                                                                       \
    CASE(U8, uint8_t)                                                                                                  \
    CASE(I8, int8_t)                                                                                                   \
    CASE(U16, uint16_t)                                                                                                \
    CASE(I16, int16_t)                                                                                                 \
    CASE(I32, int32_t)                                                                                                 \
    CASE(I64, int64_t)                                                                                                 \
    CASE(U32, uint32_t)                                                                                                \
    CASE(U64, uint64_t)

#define EACH(C_TYPE, expression)                                                                                       \
    {                                                                                                                  \
        const C_TYPE *from = data;                                                                                     \
        for (int64_t i = 0; i < count; i++)                                                                            \
            ret_values[i] = (expression);                                                                              \
        return;                                                                                                        \
    }

void value_load_f64(enum dtype dtype, const void *data, int64_t count, double *ret_values)
{
    switch (dtype) {
    case DTYPE_F64:
        EACH(double, from[i])
    case DTYPE_F32:
        EACH(float, from[i])
    case DTYPE_F16:
        EACH(uint16_t, value_from_f16(from[i]))
    case DTYPE_BF16:
        EACH(uint16_t, value_from_bf16(from[i]))
    case DTYPE_BOOL:
        EACH(uint8_t, from[i] != 0)
#define CASE(enumerator, C_TYPE)                                                                                       \
    case DTYPE_##enumerator:                                                                                           \
        EACH(C_TYPE, (double)from[i])
        STORED_AS_INTEGERS(CASE)
#undef CASE
    default:
        assert(!"not a numeric element type");
    }
}

void value_load_i64(enum dtype dtype, const void *data, int64_t count, int64_t *ret_values)
{
    switch (dtype) {
    case DTYPE_F64:
        EACH(double, cut_off(from[i]))
    case DTYPE_F32:
        EACH(float, cut_off((double)from[i]))
    case DTYPE_F16:
        EACH(uint16_t, cut_off((double)value_from_f16(from[i])))
    case DTYPE_BF16:
        EACH(uint16_t, cut_off((double)value_from_bf16(from[i])))
    case DTYPE_BOOL:
        EACH(uint8_t, from[i] != 0)
#define CASE(enumerator, C_TYPE)                                                                                       \
    case DTYPE_##enumerator:                                                                                           \
        EACH(C_TYPE, (int64_t)from[i])
        STORED_AS_INTEGERS(CASE)
#undef CASE
    default:
        assert(!"not a numeric element type");
    }
}
#undef EACH

#define EACH(C_TYPE, expression)                                                                                       \
    {                                                                                                                  \
        C_TYPE *to = data;                                                                                             \
        for (int64_t i = 0; i < count; i++)                                                                            \
            to[i] = (C_TYPE)(expression);                                                                              \
        return;                                                                                                        \
    }

void value_store_f64(enum dtype dtype, void *data, int64_t count, const double *values)
{
    switch (dtype) {
    case DTYPE_F64:
        EACH(double, values[i])
    case DTYPE_F32:
        EACH(float, values[i])
    case DTYPE_F16:
        EACH(uint16_t, value_to_f16(values[i]))
    case DTYPE_BF16:
        EACH(uint16_t, value_to_bf16(values[i]))
    case DTYPE_BOOL:
        EACH(uint8_t, values[i] != 0)
    case DTYPE_U64:
        EACH(uint64_t, cut_off_unsigned(values[i]))
#define CASE(enumerator, C_TYPE)                                                                                       \
    case DTYPE_##enumerator:                                                                                           \
        EACH(C_TYPE, cut_off(values[i]))
        CASE(U8, uint8_t)
        CASE(I8, int8_t)
        CASE(U16, uint16_t)
        CASE(I16, int16_t)
        CASE(I32, int32_t)
        CASE(I64, int64_t)
        CASE(U32, uint32_t)
#undef CASE
    default:
        assert(!"not a numeric element type");
    }
}

void value_store_i64(enum dtype dtype, void *data, int64_t count, const int64_t *values)
{
    switch (dtype) {
    case DTYPE_F64:
        EACH(double, values[i])
    case DTYPE_F32:
        EACH(float, values[i])
    case DTYPE_F16:
        EACH(uint16_t, value_to_f16((double)values[i]))
    case DTYPE_BF16:
        EACH(uint16_t, value_to_bf16((double)values[i]))
    case DTYPE_BOOL:
        EACH(uint8_t, values[i] != 0)
#define CASE(enumerator, C_TYPE)                                                                                       \
    case DTYPE_##enumerator:                                                                                           \
        EACH(C_TYPE, values[i])
        STORED_AS_INTEGERS(CASE)
#undef CASE
    default:
        assert(!"not a numeric element type");
    }
}
#undef EACH

void value_fill_random(struct tensor_value *value, struct random *random, int64_t limit)
{
    enum dtype dtype = value->type.dtype;
    size_t size = dtype_size(dtype);
    int64_t count = type_elements(&value->type);
    for (int64_t i = 0; i < count; i++) {
        void *place = (char *)value->data + (size_t)i * size;
        int64_t integer = 0;
        double real = 0;
        if (dtype_is_float(dtype)) {
            real = random_normal(random);
            value_store_f64(dtype, place, 1, &real);
            continue;
        }
        integer = (int64_t)random_below(random, dtype == DTYPE_BOOL ? 2 : (uint64_t)limit);
        value_store_i64(dtype, place, 1, &integer);
    }
}
