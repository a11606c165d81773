// Compiled once per instruction set, with VECTOR_VARIANT naming it. All loops are plain C that compilers vectorize.
//
// Scalar functions mean what expressions/functions.def says, in single precision. The transcendental ones are written
// without branches or tables, from these identities:
//   exp      x = n ln 2 + r,  |r| <= ln(2) / 2,  exp(x) = 2^n (1 + p(r)), p the Taylor polynomial of exp - 1
//   expm1    2^n p(r) + (2^n - 1), exact for small x
//   tanh     expm1(2x) / (expm1(2x) + 2)
//   log      x = 2^e m,  log(m) = 2 artanh((m - 1) / (m + 1)) by its series
//   erf      1 - exp(-P(x)) for x >= 0, where P = -log(erfc) is nearly a parabola: x times a polynomial of degree 8
//            fitted on [0, 4] (relative error of erf below 2e-7)
#include "backends/cpu/vector/vector.h"
#include "expressions/elements.h"
#include <math.h>
#include <string.h>
#include <tgmath.h>

#define JOIN(a, b) a##b
#define NAME_OF(variant) JOIN(vector_functions_, variant)
#define TEXT_OF(x) #x
#define NAME_TEXT(x) TEXT_OF(x)
#define EACH_ENTRY _Pragma("omp simd") for (int64_t i = 0; i < n; i++)

// --- transcendental functions ----------------------------------------------------------------------------------------

static inline float float_from_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static inline uint32_t bits_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

// exp(r) - 1 for |r| <= ln(2) / 2
static inline float short_expm1(float r)
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
static inline float split_exponent(float x, float *ret_rest)
{
    const float rounder = 12582912.0f;
    float n = (x * 1.44269504f + rounder) - rounder;
    *ret_rest = (x - n * 0.693145752f) - n * 1.42860677e-6f;
    return n;
}

// 1.5 * 2^23 + 127: what is added to it stands, with the bias of exponents, in the lowest bits. NaN has bits as well,
// but is no integer.
static inline float power_of_2(float n)
{
    const float biased_rounder = 12583039.0f;
    return float_from_bits(bits_from_float(n + biased_rounder) << 23);
}

// 2^n may be too large where exp is not: it is applied as 2^(n - 1) and 2. Results below 2^-124 become 0.
static inline float fast_exp(float x)
{
    const float high = 88.7228f, low = -85.9f;
    float clamped = x > high ? high : x < low ? low : x, r;
    float n = split_exponent(clamped, &r);
    float y = (short_expm1(r) + 1) * power_of_2(n - 1) * 2;
    y = x > high ? INFINITY : y;
    return x < low ? 0 : y;
}

// |x| <= 80, or NaN
static inline float expm1_in_range(float x)
{
    float r, n = split_exponent(x, &r), scale = power_of_2(n);
    return scale * short_expm1(r) + (scale - 1);
}

static inline float fast_expm1(float x)
{
    return expm1_in_range(x > 80 ? 80 : x < -80 ? -80 : x);
}

static inline float fast_tanh(float x)
{
    float size = fabsf(x), doubled = fast_expm1(2 * (size > 10 ? 10 : size));
    float y = copysignf(doubled / (doubled + 2), x);
    return x != x ? x : y;
}

static inline float fast_erf(float x)
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

static inline float fast_log(float x)
{
    float scale = x < 1.17549435e-38f ? 8388608.0f : 1.0f, lift = x < 1.17549435e-38f ? 23.0f : 0.0f;
    uint32_t bits = bits_from_float(x * scale);
    int32_t e = (int32_t)(bits - 0x3f3504f3u) >> 23;   // so that the mantissa is in [sqrt(1/2), sqrt(2))
    float m = float_from_bits(bits - ((uint32_t)e << 23)), exponent = (float)e - lift;
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

// As expressions/functions.def has them; <tgmath.h> makes its functions those of float, and these are faster.
#undef exp
#undef tanh
#undef erf
#undef log
#define exp(x) fast_exp(x)
#define tanh(x) fast_tanh(x)
#define erf(x) fast_erf(x)
#define log(x) fast_log(x)

#define WIDTH 16
// The functions above: what is left behind whole vectors is one more of them, and not entry by entry.
static inline bool fills_vectors(enum scalar_function fn)
{
    return fn == FN_EXP || fn == FN_TANH || fn == FN_ERF || fn == FN_LOG || fn == FN_SIGMOID;
}

#define FUNCTION(enumerator, function_label, arity, c_expression)                                                      \
    static inline void map_##enumerator(float *z, const float *pa, const float *pb, const float *pc, int64_t n)        \
    {                                                                                                                  \
        EACH_ENTRY                                                                                                     \
        {                                                                                                              \
            const float a = pa[i], b = (arity) > 1 ? pb[i] : 0, c = (arity) > 2 ? pc[i] : 0;                           \
            (void)b, (void)c;                                                                                          \
            z[i] = (float)(c_expression);                                                                              \
        }                                                                                                              \
    }                                                                                                                  \
    static void apply_##enumerator(float *z, const float *pa, const float *pb, const float *pc, int64_t n)             \
    {                                                                                                                  \
        int64_t whole = fills_vectors(FN_##enumerator) ? n / WIDTH * WIDTH : n;                                        \
        map_##enumerator(z, pa, pb, pc, whole);                                                                        \
        if (whole < n) {                                                                                               \
            float last[WIDTH] = {0};                                                                                   \
            memcpy(last, pa + whole, (size_t)(n - whole) * sizeof *last);                                              \
            map_##enumerator(last, last, pb, pc, WIDTH);                                                               \
            memcpy(z + whole, last, (size_t)(n - whole) * sizeof *last);                                               \
        }                                                                                                              \
    }
#include "expressions/functions.def"
#undef FUNCTION

#define WITH_SCALAR(CASE)                                                                                              \
    CASE(ADD, a + b)                                                                                                   \
    CASE(SUB, a - b)                                                                                                   \
    CASE(MUL, a *b)                                                                                                    \
    CASE(DIV, a / b)                                                                                                   \
    CASE(MAX, a != a || b != b ? a + b : (a > b ? a : b))                                                              \
    CASE(MIN, a != a || b != b ? a + b : (a < b ? a : b))

#define CASE(enumerator, expression)                                                                                   \
    static void right_##enumerator(float *z, const float *pa, float b, int64_t n)                                      \
    {                                                                                                                  \
        EACH_ENTRY                                                                                                     \
        {                                                                                                              \
            const float a = pa[i];                                                                                     \
            z[i] = (expression);                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    static void left_##enumerator(float *z, const float *pb, float a, int64_t n)                                       \
    {                                                                                                                  \
        EACH_ENTRY                                                                                                     \
        {                                                                                                              \
            const float b = pb[i];                                                                                     \
            z[i] = (expression);                                                                                       \
        }                                                                                                              \
    }
WITH_SCALAR(CASE)
#undef CASE

static void general_power(float *z, const float *a, float b, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        z[i] = powf(a[i], b);
}

// Powers by the usual exponents are products and roots.
static void right_POW(float *z, const float *a, float b, int64_t n)
{
    if (b == 2) {
        EACH_ENTRY z[i] = a[i] * a[i];
    } else if (b == 3) {
        EACH_ENTRY z[i] = a[i] * a[i] * a[i];
    } else if (b == 1) {
        EACH_ENTRY z[i] = a[i];
    } else if (b == -1) {
        EACH_ENTRY z[i] = 1 / a[i];
    } else {
        general_power(z, a, b, n);
    }
}

// --- reductions ------------------------------------------------------------------------------------------------------

// Each lane joins every 64th entry: compilers do not reorder these by themselves, and one vector would wait for itself.
// What is left is filled up with `start`, and lanes are joined by halves, four at a time in the end, so that nothing
// branches on what the entries are. A NaN stays in its lane.
#define LANES 64
#define JOIN_LANES(name, n, lane, other)                                                                               \
    _Pragma("omp simd") for (int k = 0; k < (n); k++)(lane)[k] = join_##name((lane)[k], (other)[k])
#define REDUCTION(name, start, joined)                                                                                 \
    static inline float join_##name(float a, float b)                                                                  \
    {                                                                                                                  \
        return joined;                                                                                                 \
    }                                                                                                                  \
    static float name(const float *a, int64_t n)                                                                       \
    {                                                                                                                  \
        float lane[LANES], last[LANES];                                                                                \
        int64_t i = 0;                                                                                                 \
        for (int k = 0; k < LANES; k++)                                                                                \
            lane[k] = last[k] = start;                                                                                 \
        for (; i + LANES <= n; i += LANES)                                                                             \
            JOIN_LANES(name, LANES, lane, a + i);                                                                      \
        memcpy(last, a + i, (size_t)(n - i) * sizeof *a);                                                              \
        JOIN_LANES(name, LANES, lane, last);                                                                           \
        JOIN_LANES(name, 32, lane, lane + 32);                                                                         \
        JOIN_LANES(name, 16, lane, lane + 16);                                                                         \
        JOIN_LANES(name, 8, lane, lane + 8);                                                                           \
        JOIN_LANES(name, 4, lane, lane + 4);                                                                           \
        JOIN_LANES(name, 4, lane, lane + 2);                                                                           \
        JOIN_LANES(name, 4, lane, lane + 1);                                                                           \
        return lane[0];                                                                                                \
    }
REDUCTION(sum_of_block, 0, a + b)
REDUCTION(product_of_block, 1, a *b)
REDUCTION(max_of_block, -INFINITY, ((b > a) | (b != b)) ? b : a)
REDUCTION(min_of_block, INFINITY, ((b < a) | (b != b)) ? b : a)

// --- sums of rows ---------------------------------------------------------------------------------------------------

#define STREAMS 8
#define LINE 16     // floats
#define AHEAD 128   // floats

// In one order for every column, so that equal columns have equal sums, in the last line too.
static inline float sum_of_streams(const float *factor, const float *const *row, int64_t column)
{
    float a = factor[0] * row[0][column] + factor[1] * row[1][column];
    float b = factor[2] * row[2][column] + factor[3] * row[3][column];
    float c = factor[4] * row[4][column] + factor[5] * row[5][column];
    float d = factor[6] * row[6][column] + factor[7] * row[7][column];
    return (a + b) + (c + d);
}

static void add_rows_apart(float *restrict z, const float *x, const float *w, int64_t apart, int64_t n)
{
    const float *row[STREAMS];
    float factor[STREAMS];
    int64_t i = 0;
    for (int j = 0; j < STREAMS; j++) {
        row[j] = w + j * apart * n;
        factor[j] = x[j * apart];
    }
    for (; i + LINE <= n; i += LINE) {
        for (int j = 0; j < STREAMS; j++)
            __builtin_prefetch(row[j] + i + AHEAD);
        _Pragma("omp simd") for (int64_t lane = i; lane < i + LINE; lane++) z[lane] +=
            sum_of_streams(factor, row, lane);
    }
    for (; i < n; i++)
        z[i] += sum_of_streams(factor, row, i);
}

static void combine_rows(float *restrict z, const float *x, const float *w, int64_t rows, int64_t n)
{
    int64_t apart = rows / STREAMS;
    memset(z, 0, (size_t)n * sizeof *z);
    for (int64_t i = 0; i < apart; i++)
        add_rows_apart(z, x + i, w + i * n, apart, n);
    for (int64_t i = apart * STREAMS; i < rows; i++) {
        const float *row = w + i * n;
        const float factor = x[i];
        _Pragma("omp simd") for (int64_t j = 0; j < n; j++) z[j] += factor * row[j];
    }
}

// --- moving ----------------------------------------------------------------------------------------------------------

static void fill_block(float *z, float value, int64_t n)
{
    EACH_ENTRY z[i] = value;
}

static void load_block(float *z, const float *from, int64_t stride, int64_t n)
{
    EACH_ENTRY z[i] = from[i * stride];
}

static void store_block(float *to, int64_t stride, const float *a, int64_t n)
{
    if (stride == 1)
        memcpy(to, a, (size_t)n * sizeof *a);
    else
        for (int64_t i = 0; i < n; i++)
            to[i * stride] = a[i];
}

static void load_other(enum dtype dtype, float *z, const void *from, int64_t stride, int64_t n)
{
    size_t size = dtype_size(dtype);
    if (dtype == DTYPE_BF16) {
        const uint16_t *bits = from;
        EACH_ENTRY z[i] = float_from_bits((uint32_t)bits[i * stride] << 16);
    } else if (dtype == DTYPE_F16) {
        const uint16_t *bits = from;
        for (int64_t i = 0; i < n; i++)
            z[i] = half_to_float(bits[i * stride]);
    } else if (dtype == DTYPE_BOOL) {
        const uint8_t *truths = from;
        EACH_ENTRY z[i] = truths[i * stride] != 0;
    } else {
        for (int64_t i = 0; i < n; i++) {
            double real;
            elements_to_reals(dtype, (const char *)from + (int64_t)size * i * stride, 1, &real);
            z[i] = (float)real;
        }
    }
}

static void store_other(enum dtype dtype, void *to, int64_t stride, const float *a, int64_t n)
{
    uint16_t *bits = to;
    uint8_t *truths = to;
    if (dtype == DTYPE_BF16) {
        for (int64_t i = 0; i < n; i++)
            bits[i * stride] = bfloat_from_float(a[i]);
    } else if (dtype == DTYPE_F16) {
        for (int64_t i = 0; i < n; i++)
            bits[i * stride] = half_from_float(a[i]);
    } else {
        for (int64_t i = 0; i < n; i++)
            truths[i * stride] = a[i] != 0;
    }
}

// --- the table -------------------------------------------------------------------------------------------------------

extern const struct vector_functions NAME_OF(VECTOR_VARIANT);
const struct vector_functions NAME_OF(VECTOR_VARIANT) = {
    .name = NAME_TEXT(VECTOR_VARIANT),
#define FUNCTION(enumerator, name, arity, c_expression) [FN_##enumerator] = apply_##enumerator,
    .apply =
        {
#include "expressions/functions.def"
        },
#undef FUNCTION
#define CASE(enumerator, expression) [FN_##enumerator] = right_##enumerator,
    .apply_right = {WITH_SCALAR(CASE)[FN_POW] = right_POW},
#undef CASE
#define CASE(enumerator, expression) [FN_##enumerator] = left_##enumerator,
    .apply_left = {WITH_SCALAR(CASE)},
#undef CASE
    .sum = sum_of_block,
    .max = max_of_block,
    .min = min_of_block,
    .product = product_of_block,
    .combine_rows = combine_rows,
    .fill = fill_block,
    .load = load_block,
    .store = store_block,
    .load_as = load_other,
    .store_as = store_other,
};
