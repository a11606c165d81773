// The definition is evaluated at a row of numbers, and again at what comes out: whole numbers and others, of all sizes
// and signs, zeros of both, infinities, and no number. No number is equal to no number.
#include "operators/traits/repeated.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate.h"
#include "operators/traits.h"
#include <math.h>

enum { N_NUMBERS = 512, N_WHOLE = 128 };

static double number_at(struct random *r, int i)
{
    static const double special[] = {0, -0.0, INFINITY, -INFINITY, NAN, 0.5, -0.5, 1.5, -1.5, 2.5, 65504, 1e30, -1e-30};
    const int n_special = sizeof special / sizeof *special;
    if (i < n_special)
        return special[i];
    if (i < n_special + N_WHOLE)
        return i - n_special - N_WHOLE / 2;
    double scale = pow(10, (double)random_below(r, 9) - 4);
    return ((double)random_below(r, 2000001) / 1e6 - 1) * scale;
}

static void apply_f64(const struct definition *d, const double *x, double *z, struct arena *arena)
{
    evaluate_f64(d, &x, &z, arena);
}

static bool are_same(const double *x, const double *y)
{
    return ALL(int, i, N_NUMBERS, x[i] == y[i] || (isnan(x[i]) && isnan(y[i])));
}

static unsigned traits_of_reals(const struct definition *d, struct arena *arena)
{
    struct random r = random_seed(7);
    double x[N_NUMBERS], once[N_NUMBERS], twice[N_NUMBERS];
    for (int i = 0; i < N_NUMBERS; i++)
        x[i] = number_at(&r, i);
    apply_f64(d, x, once, arena);
    apply_f64(d, once, twice, arena);
    return (are_same(once, twice) ? TRAIT_IDEMPOTENT : 0) | (are_same(x, twice) ? TRAIT_INVOLUTION : 0);
}

static bool are_same_integers(const int64_t *x, const int64_t *y)
{
    return ALL(int, i, N_NUMBERS, x[i] == y[i]);
}

static void apply_i64(const struct definition *d, const int64_t *x, int64_t *z, struct arena *arena)
{
    evaluate_i64(d, &x, &z, arena);
}

// Truth values are none but 0 and 1.
static unsigned traits_of_integers(const struct definition *d, bool are_truth_values, struct arena *arena)
{
    struct random r = random_seed(7);
    int64_t x[N_NUMBERS], once[N_NUMBERS], twice[N_NUMBERS];
    for (int i = 0; i < N_NUMBERS; i++)
        x[i] = are_truth_values ? i % 2
               : i < N_WHOLE    ? i - N_WHOLE / 2
                                : (int64_t)random_below(&r, UINT32_MAX) - INT32_MAX;
    apply_i64(d, x, once, arena);
    apply_i64(d, once, twice, arena);
    return (are_same_integers(once, twice) ? TRAIT_IDEMPOTENT : 0) |
           (are_same_integers(x, twice) ? TRAIT_INVOLUTION : 0);
}

unsigned operator_repeated_traits(const struct operator_call *call, struct arena *arena)
{
    struct type row = type_make(call->n_inputs == 1 ? call->inputs[0].dtype : DTYPE_NONE, 1, (int64_t[]){N_NUMBERS});
    struct operator_call again = *call;
    struct definition d FREED_BY(definition_free) = {0};
    unsigned traits = 0;
    again.inputs = &row;
    if (call->n_inputs != 1)
        return 0;
    definition_init(&d, arena, 1, &row);
    d.is_silent = true;
    if (operator_define(&d, &again) && d.n_outputs == 1 && definition_output(&d, 0)->dtype == row.dtype &&
        definition_output(&d, 0)->rank == 1)
        traits = dtype_is_float(row.dtype) ? traits_of_reals(&d, arena)
                                           : traits_of_integers(&d, row.dtype == DTYPE_BOOL, arena);
    return traits;
}
