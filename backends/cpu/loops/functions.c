// Scalar functions mean what expressions/functions.def says, in single precision. The transcendental ones are written
// without branches or tables, from these identities:
//   exp      x = n ln 2 + r,  |r| <= ln(2) / 2,  exp(x) = 2^n (1 + p(r)), p the Taylor polynomial of exp - 1
//   expm1    2^n p(r) + (2^n - 1), exact for small x
//   tanh     expm1(2x) / (expm1(2x) + 2)
//   log      x = 2^e m,  log(m) = 2 artanh((m - 1) / (m + 1)) by its series
//   erf      1 - exp(-P(x)) for x >= 0, where P = -log(erfc) is nearly a parabola: x times a polynomial of degree 8
//            fitted on [0, 4] (relative error of erf below 2e-7)
// On x86 all of it is compiled twice, and the processor asked which one it takes.
#include "backends/cpu/loops/functions.h"

#include "core/numbers/float_bits.h"
#include "core/system/vector_code.h"
#include "expressions/elements.h"
#include <math.h>
#include <string.h>
#include <tgmath.h>

#define EACH_ENTRY _Pragma("omp simd") for (int64_t i = 0; i < n; i++)

// --- transcendental functions ----------------------------------------------------------------------------------------

// exp(r) - 1 for |r| <= ln(2) / 2
INLINED float short_expm1(float r)
{
    float p = 1.0f / 5040;
    p = p * r + 1.0f / 720;
    p = p * r + 1.0f / 120;
    p = p * r + 1.0f / 24;
    p = p * r + 1.0f / 6;
    p = p * r + 0.5f;
    return p * r * r + r;
}

// Adding 1.5 * 2^23 rounds to an integer, which then stands in the lowest bits.
INLINED float split_exponent(float x, float *ret_rest)
{
    const float rounder = 12582912.0f;
    float n = (x * 1.44269504f + rounder) - rounder;
    *ret_rest = (x - n * 0.693145752f) - n * 1.42860677e-6f;
    return n;
}

// 1.5 * 2^23 + 127: what is added to it stands, with the bias of exponents, in the lowest bits. NaN has bits as well,
// but is no integer.
INLINED float power_of_2(float n)
{
    const float biased_rounder = 12583039.0f;
    return float_of_bits(bits_of_float(n + biased_rounder) << 23);
}

// 2^n may be too large where exp is not: it is applied as 2^(n - 1) and 2. Results below 2^-124 become 0.
INLINED float fast_exp(float x)
{
    const float high = 88.7228f, low = -85.9f;
    float clamped = x > high ? high : x < low ? low : x, r;
    float n = split_exponent(clamped, &r);
    float y = (short_expm1(r) + 1) * power_of_2(n - 1) * 2;
    y = x > high ? INFINITY : y;
    return x < low ? 0 : y;
}

// |x| <= 80, or NaN
INLINED float expm1_in_range(float x)
{
    float r, n = split_exponent(x, &r), scale = power_of_2(n);
    return scale * short_expm1(r) + (scale - 1);
}

INLINED float fast_expm1(float x)
{
    return expm1_in_range(x > 80 ? 80 : x < -80 ? -80 : x);
}

INLINED float fast_tanh(float x)
{
    float size = fabsf(x), doubled = fast_expm1(2 * (size > 10 ? 10 : size));
    float y = copysignf(doubled / (doubled + 2), x);
    return x != x ? x : y;
}

INLINED float fast_erf(float x)
{
    float a = fabsf(x), t = a > 4 ? 4 : a;
    float p = -9.2573264e-6f;
    p = p * t + 1.17650430e-4f;
    p = p * t - 6.32868323e-4f;
    p = p * t + 1.66708289e-3f;
    p = p * t - 1.60449286e-4f;
    p = p * t - 1.91530362e-2f;
    p = p * t + 1.02777824e-1f;
    p = p * t + 6.36619389e-1f;
    p = p * t + 1.12837923f;
    return copysignf(-expm1_in_range(-p * t), x);
}

INLINED float fast_log(float x)
{
    float scale = x < 1.17549435e-38f ? 8388608.0f : 1.0f, lift = x < 1.17549435e-38f ? 23.0f : 0.0f;
    uint32_t bits = bits_of_float(x * scale);
    int32_t e = (int32_t)(bits - 0x3f3504f3u) >> 23;   // so that the mantissa is in [sqrt(1/2), sqrt(2))
    float m = float_of_bits(bits - ((uint32_t)e << 23)), exponent = (float)e - lift;
    float s = (m - 1) / (m + 1), z = s * s;
    float p = 2.0f / 11;
    p = p * z + 2.0f / 9;
    p = p * z + 2.0f / 7;
    p = p * z + 2.0f / 5;
    p = p * z + 2.0f / 3;
    float y = exponent * 0.693145752f + (exponent * 1.42860677e-6f + (p * z * s + 2 * s));
    y = x == 0 ? -INFINITY : y;
    y = x == INFINITY ? x : y;
    return x < 0 || x != x ? NAN : y;
}

// --- scalar functions ------------------------------------------------------------------------------------------------

// Functions as expressions/functions.def has them; <tgmath.h> makes its functions those of float, and these are faster.
#undef exp
#undef tanh
#undef erf
#undef log
#define exp(x) fast_exp(x)
#define tanh(x) fast_tanh(x)
#define erf(x) fast_erf(x)
#define log(x) fast_log(x)

#define FUNCTION(enumerator, function_label, arity, c_expression, magnitude)                                           \
    case FN_##enumerator:                                                                                              \
        EACH_ENTRY                                                                                                     \
        {                                                                                                              \
            const float a = pa[i], b = (arity) > 1 ? pb[i] : 0, c = (arity) > 2 ? pc[i] : 0;                           \
            (void)b, (void)c;                                                                                          \
            z[i] = (float)(c_expression);                                                                              \
        }                                                                                                              \
        break;
INLINED void compute(enum scalar_function f, float *z, const float *pa, const float *pb, const float *pc, int64_t n)
{
    switch (f) {
#include "expressions/functions.def"
    case FN_COUNT:
        break;
    }
}
#undef FUNCTION

// Each lane joins every so manyth entry; a NaN stays in its lane.
#define LANES 32
INLINED float fold_lanes(enum scalar_function f, float start, const float *a, int64_t n)
{
    float lane[LANES];
    int64_t whole = n / LANES * LANES;
    for (int k = 0; k < LANES; k++)
        lane[k] = start;
    if (whole)
        memcpy(lane, a, sizeof lane);
    for (int64_t i = LANES; i < whole; i += LANES)
        compute(f, lane, lane, a + i, NULL, LANES);
    for (int k = LANES / 2; k && whole; k /= 2)
        compute(f, lane, lane, lane + k, NULL, k);
    for (int64_t i = whole; i < n; i++)
        compute(f, lane, lane, a + i, NULL, 1);
    if (whole)
        compute(f, lane, lane, &start, NULL, 1);
    return lane[0];
}

INLINED float reduce(enum scalar_function f, float start, const float *a, int64_t n)
{
    return f == FN_ADD   ? fold_lanes(FN_ADD, start, a, n)
           : f == FN_MUL ? fold_lanes(FN_MUL, start, a, n)
           : f == FN_MAX ? fold_lanes(FN_MAX, start, a, n)
                         : fold_lanes(FN_MIN, start, a, n);
}

WITH_AVX2 static void compute_by_8(enum scalar_function f, float *z, const float *a, const float *b, const float *c,
                                   int64_t n)
{
    compute(f, z, a, b, c, n);
}

WITH_AVX2 static float reduce_by_8(enum scalar_function f, float start, const float *a, int64_t n)
{
    return reduce(f, start, a, n);
}

void functions_apply(enum scalar_function f, float *z, const float *a, const float *b, const float *c, int64_t n)
{
    if (HAS_AVX2)
        compute_by_8(f, z, a, b, c, n);
    else
        compute(f, z, a, b, c, n);
}

float functions_reduce(enum scalar_function f, float start, const float *a, int64_t n)
{
    return HAS_AVX2 ? reduce_by_8(f, start, a, n) : reduce(f, start, a, n);
}

// --- moving ----------------------------------------------------------------------------------------------------------

// An entry, of any type.
static float load_entry(enum dtype dtype, const char *from)
{
    double real;
    elements_to_reals(dtype, from, 1, &real);
    return (float)real;
}

void functions_load(enum dtype dtype, float *z, const void *from, int64_t stride, int64_t n)
{
    const float *floats = from;
    const uint16_t *bits = from;
    if (dtype == DTYPE_F32 && stride == 1)
        memcpy(z, floats, (size_t)n * sizeof *z);
    else if (dtype == DTYPE_F32)
        EACH_ENTRY z[i] = floats[i * stride];
    else if (dtype == DTYPE_BF16)
        EACH_ENTRY z[i] = float_of_bits((uint32_t)bits[i * stride] << 16);
    else if (dtype == DTYPE_F16)
        for (int64_t i = 0; i < n; i++)
            z[i] = half_to_float(bits[i * stride]);
    else
        for (int64_t i = 0; i < n; i++)
            z[i] = load_entry(dtype, (const char *)from + (int64_t)dtype_size(dtype) * i * stride);
}

void functions_store(enum dtype dtype, void *to, int64_t stride, const float *a, int64_t n)
{
    float *floats = to;
    uint16_t *bits = to;
    uint8_t *truths = to;
    if (dtype == DTYPE_F32 && stride == 1)
        memcpy(floats, a, (size_t)n * sizeof *a);
    for (int64_t i = 0; i < n && (dtype != DTYPE_F32 || stride != 1); i++)
        if (dtype == DTYPE_F32)
            floats[i * stride] = a[i];
        else if (dtype == DTYPE_BF16)
            bits[i * stride] = bfloat_from_float(a[i]);
        else if (dtype == DTYPE_F16)
            bits[i * stride] = half_from_float(a[i]);
        else
            truths[i * stride] = a[i] != 0;
}
