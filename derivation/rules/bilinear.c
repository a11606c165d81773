// Everything is computed and checked in rationals; doubles are taken at the end, where they are the same numbers.
#include "derivation/rules/bilinear.h"

#include "core/memory/vec.h"
#include "core/numbers/rational.h"
#include <string.h>

struct exact {
    struct bilinear *b;
    struct rational of_first[MOST_PRODUCTS][MOST_PLACES], of_second[MOST_PRODUCTS][MOST_PLACES];
    struct rational to_result[MOST_PLACES][MOST_PRODUCTS];
};

// --- Toom-Cook -------------------------------------------------------------------------------------------------------

static struct rational power(struct rational x, int exponent)
{
    struct rational result = {1, 1};
    while (exponent-- > 0)
        result = rational_product(result, x);
    return result;
}

// The coefficients of the product of (x - point) over all points but `left_out`, the lowest first.
static void expand(const struct rational *points, int n, int left_out, struct rational *ret_coefficients)
{
    ret_coefficients[0] = (struct rational){1, 1};
    for (int i = 1; i <= n; i++)
        ret_coefficients[i] = (struct rational){0, 1};
    for (int k = 0, degree = 0; k < n; k++) {
        if (k == left_out)
            continue;
        for (int i = ++degree; i >= 0; i--)
            ret_coefficients[i] = rational_sum(i ? ret_coefficients[i - 1] : (struct rational){0, 1},
                                               rational_product(rational_negative(points[k]), ret_coefficients[i]));
    }
}

// 1 / product of (point - other) over all other points.
static struct rational weight_of(const struct rational *points, int n, int point)
{
    struct rational weight = {1, 1};
    for (int k = 0; k < n; k++)
        if (k != point)
            weight = rational_product(weight, rational_sum(points[point], rational_negative(points[k])));
    return rational(weight.d, weight.n);
}

static void make_toom_cook(struct exact *e, int results, int window, const struct rational *points)
{
    int n = results + window - 2;   // and infinity
    *e->b = (struct bilinear){.n_iterators = 2,
                              .extents = {results, window},
                              .is_result = {true, false},
                              .first = {1, 1},
                              .second = {0, 1},
                              .result = {1, 0},
                              .n_first = n + 1,
                              .n_second = window,
                              .n_result = results,
                              .n_products = n + 1,
                              .is_window = true};
    for (int p = 0; p <= n; p++) {
        expand(points, n, p < n ? p : -1, e->of_first[p]);
        for (int r = 0; r < window; r++)
            e->of_second[p][r] = p < n ? rational_product(power(points[p], r), weight_of(points, n, p))
                                       : (struct rational){r == window - 1, 1};
        for (int t = 0; t < results; t++)
            e->to_result[t][p] = p < n ? power(points[p], t) : (struct rational){t == results - 1, 1};
    }
}

// --- matrices --------------------------------------------------------------------------------------------------------

enum { STRASSEN = 7, ENTRIES = 4 };

static void make_product(struct exact *e, const int8_t first[STRASSEN][ENTRIES], const int8_t second[STRASSEN][ENTRIES],
                         const int8_t result[ENTRIES][STRASSEN])
{
    *e->b = (struct bilinear){.n_iterators = 3,
                              .extents = {2, 2, 2},
                              .is_result = {true, false, true},
                              .first = {2, 1, 0},
                              .second = {0, 2, 1},
                              .result = {2, 0, 1},
                              .n_first = ENTRIES,
                              .n_second = ENTRIES,
                              .n_result = ENTRIES,
                              .n_products = STRASSEN};
    for (int p = 0; p < STRASSEN; p++)
        for (int i = 0; i < ENTRIES; i++) {
            e->of_first[p][i] = (struct rational){first[p][i], 1};
            e->of_second[p][i] = (struct rational){second[p][i], 1};
            e->to_result[i][p] = (struct rational){result[i][p], 1};
        }
}

// --- what it is ------------------------------------------------------------------------------------------------------

static int place(const struct bilinear *b, const int *factors, int term)
{
    int at = 0;
    for (int i = b->n_iterators; i-- > 0; term /= b->extents[i])
        at += factors[i] * (term % b->extents[i]);
    return at;
}

static int count_terms(const struct bilinear *b, int t, int w, int r)
{
    int n = 0, all = 1;
    for (int i = 0; i < b->n_iterators; i++)
        all *= b->extents[i];
    for (int term = 0; term < all; term++)
        n += place(b, b->result, term) == t && place(b, b->first, term) == w && place(b, b->second, term) == r;
    return n;
}

static bool is_right_at(const struct exact *e, int t, int w, int r)
{
    struct rational value = {0, 1};
    for (int p = 0; p < e->b->n_products; p++)
        value = rational_sum(
            value, rational_product(e->to_result[t][p], rational_product(e->of_first[p][w], e->of_second[p][r])));
    return value.d == 1 && value.n == count_terms(e->b, t, w, r);
}

static bool is_right(const struct exact *e)
{
    return ALL(int, t, e->b->n_result,
               ALL(int, w, e->b->n_first, ALL(int, r, e->b->n_second, is_right_at(e, t, w, r))));
}

// --- doubles ---------------------------------------------------------------------------------------------------------

static bool take_double(struct rational x, int64_t by, double *ret)
{
    struct rational scaled = rational_product(x, (struct rational){by, 1});
    *ret = (double)scaled.n / (double)scaled.d;
    return (scaled.d & (scaled.d - 1)) == 0 && scaled.n < INT32_MAX && scaled.n > -INT32_MAX;
}

// Sums of weights, which are made once, are multiplied by what makes integers of them; the divisor takes that back.
static bool take_doubles(const struct exact *e)
{
    struct bilinear *b = e->b;
    int64_t divisor = 1;
    bool are_exact = true;
    for (int p = 0; p < b->n_products; p++)
        for (int r = 0; r < b->n_second; r++)
            divisor *= e->of_second[p][r].d / greatest_common_divisor(divisor, e->of_second[p][r].d);
    b->divisor = (double)divisor;
    for (int p = 0; p < b->n_products; p++) {
        for (int w = 0; w < b->n_first; w++)
            are_exact = take_double(e->of_first[p][w], 1, &b->of_first[p][w]) && are_exact;
        for (int r = 0; r < b->n_second; r++)
            are_exact = take_double(e->of_second[p][r], divisor, &b->of_second[p][r]) && are_exact;
        for (int t = 0; t < b->n_result; t++)
            are_exact = take_double(e->to_result[t][p], 1, &b->to_result[t][p]) && are_exact;
    }
    return are_exact && divisor < INT32_MAX;
}

// --- the table -------------------------------------------------------------------------------------------------------

#define MATRIX(...)                                                                                                    \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }
static const struct toom_cook {
    int results, window;
    int8_t quarters[MOST_PRODUCTS];   // the points
} toom_cook[] = {
#define TOOM_COOK(name, results, window, ...) {results, window, {__VA_ARGS__}},
#define PRODUCT(...)
#include "derivation/rules/bilinear.def"
#undef TOOM_COOK
#undef PRODUCT
};
static const struct matrices {
    int8_t first[STRASSEN][ENTRIES], second[STRASSEN][ENTRIES], result[ENTRIES][STRASSEN];
} matrices[] = {
#define TOOM_COOK(...)
#define PRODUCT(name, ...) {__VA_ARGS__},
#include "derivation/rules/bilinear.def"
#undef TOOM_COOK
#undef PRODUCT
};
enum { N_TOOM_COOK = sizeof toom_cook / sizeof *toom_cook, N_MATRICES = sizeof matrices / sizeof *matrices };

size_t bilinear_count(void)
{
    return N_TOOM_COOK + N_MATRICES;
}

bool bilinear_take(size_t which, struct bilinear *ret_bilinear)
{
    struct exact e = {.b = ret_bilinear};
    struct rational points[MOST_PRODUCTS];
    if (which >= N_TOOM_COOK) {
        const struct matrices *m = &matrices[which - N_TOOM_COOK];
        make_product(&e, m->first, m->second, m->result);
        return is_right(&e) && take_doubles(&e);
    }
    const struct toom_cook *row = &toom_cook[which];
    for (int i = 0; i < row->results + row->window - 2; i++)
        points[i] = rational(row->quarters[i], 4);
    make_toom_cook(&e, row->results, row->window, points);
    return is_right(&e) && take_doubles(&e);
}
