// The tape's loop over doubles.
#include "expressions/evaluation/tape.h"

#include "core/memory/arena.h"
#include "expressions/evaluation/tape_code.h"
#include "expressions/f64_functions.h"
#include <string.h>

static void sum_products(const struct run *r, double *v)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < r->counts[i]; k += 2, o += 2)
            sum += v[o[0]] * v[o[1]];
        v[r->first + i] = sum;
    }
}

static void sum_values(const struct run *r, double *v)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        double sum = 0;
        for (uint32_t k = 0; k < r->counts[i]; k++)
            sum += v[*o++];
        v[r->first + i] = sum;
    }
}

static void reduce_values(const struct tape *t, const struct run *r, double *v, struct arena *scratch)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        double result = v[*o++];
        for (uint32_t k = 1; k < r->counts[i]; k++, o++)
            result = f64_apply((enum scalar_function)r->fn, v[*o], result, 0);
        v[r->first + i] = result;
    }
}

#define SCALAR double
#define APPLY(t, fn, a, b, c) f64_apply(fn, a, b, c)
#define CONSTANTS(t) (t)->real_constants
#define TAPE_RUN tape_run_f64
#include "expressions/evaluation/tape_run.inc"
