// The tape's loop over the prime field: sums of products are reduced once.
#include "expressions/evaluation/tape.h"

#include "core/memory/arena.h"
#include "expressions/evaluation/tape_code.h"
#include <string.h>

// Factors are below 2^61, so many products fit and are reduced once. Two sums are made side by side, as an addition
// has to wait for the one before it.
static uint64_t sum_products_of(const uint16_t *o, uint32_t n, const uint64_t *v)
{
    field_wide even = 0, odd = 0;
    for (uint32_t k = 0; k + 1 < n; k += 2, o += 4) {
        even += (field_wide)v[o[0]] * v[o[1]];
        odd += (field_wide)v[o[2]] * v[o[3]];
    }
    if (n % 2)
        even += (field_wide)v[o[0]] * v[o[1]];
    return field_reduce_wide(even + odd);
}

static void sum_products(const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t sum = 0;
        for (uint32_t left = r->counts[i] / 2; left > 0;) {
            uint32_t n = left < FIELD_LAZY_PRODUCTS ? left : FIELD_LAZY_PRODUCTS;
            sum = field_add(sum, sum_products_of(o, n, v));
            o += 2 * n;
            left -= n;
        }
        v[r->first + i] = sum;
    }
}

static void sum_values(const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        field_wide lazy = 0;
        for (uint32_t k = 0; k < r->counts[i]; k++)
            lazy += v[*o++];
        v[r->first + i] = field_reduce_wide(lazy);
    }
}

#define SCALAR uint64_t
#define APPLY(t, fn, a, b, c) apply((t)->key, fn, a, b, c)
#define CONSTANTS(t) (t)->constants
#define TAPE_RUN tape_run
#include "expressions/evaluation/tape_run.inc"
