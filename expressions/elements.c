// One row per element type with a C type; the two halves that C lacks go through float.
#include "expressions/elements.h"

#include "core/numbers/float_bits.h"
#include <math.h>
#include <string.h>

float half_to_float(uint16_t bits)
{
    uint32_t sign = (uint32_t)(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31)
        return float_of_bits(sign | 0x7f800000 | fraction << 13);
    if (exponent == 0)
        return float_of_bits(sign | bits_of_float((float)fraction * 0x1p-24f));
    return float_of_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

// Adding half of the last place that stays, less one when that place is even, carries exactly when rounding goes up.
uint16_t half_from_float(float value)
{
    uint32_t bits = bits_of_float(value), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    if (magnitude > 0x7f800000)
        return (uint16_t)(sign | 0x7e00);
    if (magnitude >= 0x477ff000)
        return (uint16_t)(sign | 0x7c00);
    if (magnitude < 0x38800000)
        return (uint16_t)(sign | (uint32_t)nearbyintf(float_of_bits(magnitude) * 0x1p24f));
    magnitude += 0xfff + (magnitude >> 13 & 1);
    return (uint16_t)(sign | (magnitude - 0x38000000) >> 13);
}

float bfloat_to_float(uint16_t bits)
{
    return float_of_bits((uint32_t)bits << 16);
}

uint16_t bfloat_from_float(float value)
{
    uint32_t bits = bits_of_float(value);
    return isnan(value) ? (uint16_t)(bits >> 16 | 0x40) : (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// A double as the float next to it toward zero whose last bit is set when anything was lost: rounding that to a
// narrower type is as good as rounding the double at once.
static float float_to_odd(double value)
{
    float nearest = (float)value;
    if ((double)nearest == value || isnan(value) || isinf(nearest))
        return nearest;
    uint32_t bits = bits_of_float(nearest);
    bool is_too_far = fabs((double)nearest) > fabs(value);
    return float_of_bits((is_too_far ? bits - 1 : bits) | 1);
}

static int64_t saturated(double value, int64_t low, int64_t high)
{
    if (isnan(value))
        return 0;
    if (value <= (double)low)
        return low;
    return value >= (double)high ? high : (int64_t)value;
}

static uint64_t saturated_u64(double value)
{
    if (!(value > 0))
        return 0;
    return value >= 0x1p64 ? UINT64_MAX : (uint64_t)value;
}

// TYPE(enumerator, C type, element as a double, element as an integer, double as an element, integer as an element)
#define TYPES                                                                                                          \
    TYPE(F32, float, (double)e, saturated((double)e, INT64_MIN, INT64_MAX), (float)r, (float)i)                        \
    TYPE(F64, double, e, saturated(e, INT64_MIN, INT64_MAX), r, (double)i)                                             \
    TYPE(F16, uint16_t, (double)half_to_float(e), saturated((double)half_to_float(e), INT64_MIN, INT64_MAX),           \
         half_from_float(float_to_odd(r)), half_from_float(float_to_odd((double)i)))                                   \
    TYPE(BF16, uint16_t, (double)bfloat_to_float(e), saturated((double)bfloat_to_float(e), INT64_MIN, INT64_MAX),      \
         bfloat_from_float(float_to_odd(r)), bfloat_from_float(float_to_odd((double)i)))                               \
    TYPE(U8, uint8_t, (double)e, e, (uint8_t)saturated(r, 0, UINT8_MAX), (uint8_t)i)                                   \
    TYPE(I8, int8_t, (double)e, e, (int8_t)saturated(r, INT8_MIN, INT8_MAX), (int8_t)i)                                \
    TYPE(U16, uint16_t, (double)e, e, (uint16_t)saturated(r, 0, UINT16_MAX), (uint16_t)i)                              \
    TYPE(I16, int16_t, (double)e, e, (int16_t)saturated(r, INT16_MIN, INT16_MAX), (int16_t)i)                          \
    TYPE(U32, uint32_t, (double)e, e, (uint32_t)saturated(r, 0, UINT32_MAX), (uint32_t)i)                              \
    TYPE(I32, int32_t, (double)e, e, (int32_t)saturated(r, INT32_MIN, INT32_MAX), (int32_t)i)                          \
    TYPE(U64, uint64_t, (double)e, (int64_t)e, saturated_u64(r), (uint64_t)i)                                          \
    TYPE(I64, int64_t, (double)e, e, saturated(r, INT64_MIN, INT64_MAX), i)                                            \
    TYPE(BOOL, uint8_t, (double)(e != 0), e != 0, (uint8_t)(r != 0), (uint8_t)(i != 0))

#define TYPE(enumerator, c_type, as_real, as_integer, from_real, from_integer)                                         \
    static void enumerator##_to_reals(const void *elements, size_t n, double *out)                                     \
    {                                                                                                                  \
        for (size_t k = 0; k < n; k++) {                                                                               \
            c_type e;                                                                                                  \
            memcpy(&e, (const char *)elements + k * sizeof e, sizeof e);                                               \
            out[k] = as_real;                                                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void enumerator##_to_integers(const void *elements, size_t n, int64_t *out)                                 \
    {                                                                                                                  \
        for (size_t k = 0; k < n; k++) {                                                                               \
            c_type e;                                                                                                  \
            memcpy(&e, (const char *)elements + k * sizeof e, sizeof e);                                               \
            out[k] = as_integer;                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    static void enumerator##_from_reals(const double *reals, size_t n, void *out)                                      \
    {                                                                                                                  \
        for (size_t k = 0; k < n; k++) {                                                                               \
            double r = reals[k];                                                                                       \
            c_type e = from_real;                                                                                      \
            memcpy((char *)out + k * sizeof e, &e, sizeof e);                                                          \
        }                                                                                                              \
    }                                                                                                                  \
    static void enumerator##_from_integers(const int64_t *integers, size_t n, void *out)                               \
    {                                                                                                                  \
        for (size_t k = 0; k < n; k++) {                                                                               \
            int64_t i = integers[k];                                                                                   \
            c_type e = from_integer;                                                                                   \
            memcpy((char *)out + k * sizeof e, &e, sizeof e);                                                          \
        }                                                                                                              \
    }
TYPES
#undef TYPE

static const struct conversion_row {
    void (*to_reals)(const void *elements, size_t n, double *out);
    void (*to_integers)(const void *elements, size_t n, int64_t *out);
    void (*from_reals)(const double *reals, size_t n, void *out);
    void (*from_integers)(const int64_t *integers, size_t n, void *out);
} rows[DTYPE_COUNT] = {
#define TYPE(enumerator, c_type, as_real, as_integer, from_real, from_integer)                                         \
    [DTYPE_##enumerator] = {enumerator##_to_reals, enumerator##_to_integers, enumerator##_from_reals,                  \
                            enumerator##_from_integers},
    TYPES
#undef TYPE
};

bool dtype_has_numbers(enum dtype dtype)
{
    return rows[dtype].to_reals != NULL;
}

void elements_to_reals(enum dtype dtype, const void *elements, size_t n, double *ret_reals)
{
    rows[dtype].to_reals(elements, n, ret_reals);
}

void elements_from_reals(enum dtype dtype, const double *reals, size_t n, void *ret_elements)
{
    rows[dtype].from_reals(reals, n, ret_elements);
}

#define LARGEST_EXACT ((int64_t)1 << 53)   // all integers up to here are doubles

bool elements_fit_reals(enum dtype dtype, const void *elements, size_t n)
{
    if (dtype != DTYPE_I64 && dtype != DTYPE_U64)
        return true;
    for (size_t i = 0; i < n; i++) {
        int64_t value;
        rows[dtype].to_integers((const char *)elements + i * sizeof value, 1, &value);
        if (value > LARGEST_EXACT || value < (dtype == DTYPE_I64 ? -LARGEST_EXACT : 0))
            return false;
    }
    return true;
}

#define PIECE 1024   // elements that are numbers at a time

// The largest of magnitudes as bits, which are in the order of the numbers; those from `infinite` on are none.
#define LARGEST_BITS(type, n, elements, infinite)                                                                      \
    type largest = 0, others = 0;                                                                                      \
    for (size_t i = 0; i < (n); i++) {                                                                                 \
        type bits;                                                                                                     \
        memcpy(&bits, (const char *)(elements) + i * sizeof bits, sizeof bits);                                        \
        bits &= (type)((type)-1 >> 1);                                                                                 \
        type finite = bits < (infinite) ? bits : 0;                                                                    \
        others |= bits ^ finite;                                                                                       \
        largest = finite > largest ? finite : largest;                                                                 \
    }

static double largest_float(const void *elements, size_t n, bool *ret_are_finite)
{
    LARGEST_BITS(uint32_t, n, elements, 0x7f800000)
    *ret_are_finite = !others;
    return (double)float_of_bits(largest);
}

static double largest_half(const void *elements, size_t n, bool *ret_are_finite)
{
    LARGEST_BITS(uint16_t, n, elements, 0x7c00)
    *ret_are_finite = !others;
    return (double)half_to_float(largest);
}

double elements_largest(enum dtype dtype, const void *elements, size_t n, bool *ret_are_finite)
{
    double reals[PIECE], largest = 0;
    if (dtype == DTYPE_F32 || dtype == DTYPE_F16)
        return (dtype == DTYPE_F32 ? largest_float : largest_half)(elements, n, ret_are_finite);
    *ret_are_finite = true;
    for (size_t start = 0; start < n; start += PIECE) {
        size_t count = n - start < PIECE ? n - start : PIECE;
        elements_to_reals(dtype, (const char *)elements + start * dtype_size(dtype), count, reals);
        for (size_t i = 0; i < count; i++) {
            *ret_are_finite = *ret_are_finite && isfinite(reals[i]);
            largest = isfinite(reals[i]) ? fmax(largest, fabs(reals[i])) : largest;
        }
    }
    return largest;
}

bool elements_are_finite(enum dtype dtype, const void *elements, size_t n)
{
    bool are_finite;
    elements_largest(dtype, elements, n, &are_finite);
    return are_finite;
}

void elements_to_integers(enum dtype dtype, const void *elements, size_t n, int64_t *ret_integers)
{
    rows[dtype].to_integers(elements, n, ret_integers);
}

void elements_from_integers(enum dtype dtype, const int64_t *integers, size_t n, void *ret_elements)
{
    rows[dtype].from_integers(integers, n, ret_elements);
}
