// Factors that are multiplied into weights of halves: 40 times 3000 is infinite, where 40 x and 120000 x are numbers.
#include "onnx/convert/conversion.h"

#include <math.h>

#define SMALLEST_HALF 0x1p-14    // of full precision
#define MOST_WEIGHTS (1 << 22)   // that are looked at

static bool is_precise_half(double number)
{
    return number == 0 || (fabs(number) <= dtype_largest(DTYPE_F16) && fabs(number) >= SMALLEST_HALF);
}

// Of the weights that one factor is for: `run` in a row, again and again.
static double largest_magnitude(const double *weights, uint32_t n_weights, uint32_t first, uint32_t run, uint32_t step)
{
    double largest = 0;
    for (uint32_t start = first; start < n_weights; start += step)
        for (uint32_t i = start; i < start + run; i++)
            largest = fmax(largest, fabs(weights[i]));
    return largest;
}

bool factors_fit_weights(struct conversion *c, tensor_id weights, uint32_t n_factors, const double *factors,
                         uint32_t run)
{
    const double *items;
    uint32_t n;
    bool fit = true;
    if (type_of(c, weights)->dtype != DTYPE_F16)
        return true;
    if (!is_weight(c, weights) || !constant_reals(c, weights, MOST_WEIGHTS, &items, &n))
        return false;
    for (uint32_t i = 0; i < n_factors && fit; i++)
        fit = is_precise_half(factors[i]) &&
              is_precise_half(factors[i] * largest_magnitude(items, n, i * run, run, n_factors * run));
    return fit;
}

bool numbers_fit(enum dtype dtype, uint32_t n, const double *numbers)
{
    bool fit = true;
    for (uint32_t i = 0; i < n && fit; i++)
        fit = dtype != DTYPE_F16 || fabs(numbers[i]) <= dtype_largest(DTYPE_F16);
    return fit;
}
