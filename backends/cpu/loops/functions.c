// Scalar functions mean what expressions/functions.def says, in single precision; exp, sigmoid, tanh and erf are those
// of generated kernels, which take a few entries at a time without branches or tables. On x86 all of it is compiled
// twice, and the processor asked which one it takes.
#include "backends/cpu/loops/functions.h"

#include "core/numbers/float_bits.h"
#include "core/system/vector_code.h"
#include "expressions/elements.h"
#include <math.h>
#include <string.h>
#include <tgmath.h>

#define EACH_ENTRY _Pragma("omp simd") for (int64_t i = 0; i < n; i++)

// --- transcendental functions ----------------------------------------------------------------------------------------

// Processors differ in how they pass vectors, so none is passed: all become part of what is compiled twice.
#define inline inline __attribute__((always_inline))
#define LANES 8
#define NAMED(name) name##_of_lanes
#include "backends/generated/vectors.inc"
#undef inline

#define BY_VECTORS(enumerator, function)                                                                               \
    case enumerator:                                                                                                   \
        for (int64_t i = 0; i < n; i += LANES)                                                                         \
            if (n - i >= LANES)                                                                                        \
                NAMED(store)(z + i, NAMED(function)(NAMED(load)(a + i)));                                              \
            else                                                                                                       \
                NAMED(store_some)(z + i, NAMED(function)(NAMED(load_some)(a + i, n - i)), n - i);                      \
        return true;
INLINED bool compute_by_vectors(enum scalar_function f, float *z, const float *a, int64_t n)
{
    switch (f) {
        BY_VECTORS(FN_EXP, exp)
        BY_VECTORS(FN_SIGMOID, sigmoid)
        BY_VECTORS(FN_TANH, tanh)
        BY_VECTORS(FN_ERF, erf)
    default:
        return false;
    }
}

// x = 2^e m, log(m) = 2 artanh((m - 1) / (m + 1)) by its series.
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

// Functions as expressions/functions.def has them; <tgmath.h> makes its functions those of float. This one is faster.
#undef log
#define log(x) fast_log(x)

#define FUNCTION(enumerator, function_label, arity, c_expression, magnitude, sign, is_inside)                          \
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
    if (compute_by_vectors(f, z, pa, n))
        return;
    switch (f) {
#include "expressions/functions.def"
    case FN_COUNT:
        break;
    }
}
#undef FUNCTION

// Each lane joins every so manyth entry; a NaN stays in its lane.
#define FOLDED 32
INLINED float fold_lanes(enum scalar_function f, float start, const float *a, int64_t n)
{
    float lane[FOLDED];
    int64_t whole = n / FOLDED * FOLDED;
    for (int k = 0; k < FOLDED; k++)
        lane[k] = start;
    if (whole)
        memcpy(lane, a, sizeof lane);
    for (int64_t i = FOLDED; i < whole; i += FOLDED)
        compute(f, lane, lane, a + i, NULL, FOLDED);
    for (int k = FOLDED / 2; k && whole; k /= 2)
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
