// What every kernel may use, behind the machine's prelude and before the scalar functions (kernel_text.h).
#define INT64_HIGHEST 9223372036854775807ll
#define INT64_LOWEST (-9223372036854775807ll - 1)

// The same without tensor cores.
#ifndef ROUNDED
#define ROUNDED(r) (r)
#endif
#ifndef MULTIPLY_FRAGMENTS
#define MULTIPLY_FRAGMENTS(sum, x, x_row, y, y_row, lane)                                                              \
    for (int k_of_8 = 0; k_of_8 < 8; k_of_8++)                                                                         \
        for (int of_4 = 0; of_4 < 4; of_4++)                                                                           \
    (sum)[of_4] += (x)[k_of_8 * (x_row) + (lane) / 4 + of_4 / 2 * 8] * (y)[k_of_8 * (y_row) + (lane) % 4 * 2 + of_4 % 2]
#endif

struct two_words {
    uint64_t low, high;
};

static DEVICE int64_t saturated(double r, int64_t low, int64_t high)
{
    return r != r ? 0 : r <= (double)low ? low : r >= (double)high ? high : (int64_t)r;
}

static DEVICE uint64_t saturated_u64(double r)
{
    return !(r > 0) ? 0 : r >= 18446744073709551616.0 ? ~(uint64_t)0 : (uint64_t)r;
}

static DEVICE int64_t integer_power(int64_t base, int64_t exponent)
{
    uint64_t result = 1, b = (uint64_t)base;
    if (exponent < 0)
        return base == 1 ? 1 : base == -1 ? (exponent % 2 ? -1 : 1) : 0;
    for (; exponent; exponent >>= 1, b *= b)
        if (exponent & 1)
            result *= b;
    return (int64_t)result;
}

static DEVICE int64_t floor_divided(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

static DEVICE int64_t floor_rest(int64_t a, int64_t b)
{
    return a % b < 0 ? a % b + b : a % b;
}

// Beyond 2^60 nothing is an index.
static DEVICE int64_t index_of_integer(int64_t i)
{
    const int64_t limit = (int64_t)1 << 60;
    return i > limit ? limit : i < -limit ? -limit : i;
}

static DEVICE int64_t index_of_real(double r)
{
    return index_of_integer(saturated(r, INT64_LOWEST, INT64_HIGHEST));
}
