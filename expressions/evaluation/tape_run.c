// Sums of products are reduced once; other functions are applied run by run.
#include "expressions/evaluation/tape_run.h"

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

// A value's reading takes longer to find than to compare, and windows overlap: it is found once for each value.
static double *unknown_readings(const struct run *r, struct arena *scratch)
{
    double *readings = arena_alloc(scratch, r->first * sizeof *readings, _Alignof(double));
    for (uint32_t i = 0; i < r->first; i++)
        readings[i] = NAN;
    return readings;
}

static double reading_of(const struct tape *t, const uint64_t *v, uint16_t value, double *readings)
{
    if (isnan(readings[value]))
        readings[value] = reading(t->key, v[value]);
    return readings[value];
}

// Picks the largest or smallest of several values, as FN_MAX and FN_MIN do of two.
static void pick_values(const struct tape *t, const struct run *r, uint64_t *v, struct arena *scratch)
{
    const uint16_t *o = r->operands;
    double *readings = unknown_readings(r, scratch);
    for (uint32_t i = 0; i < r->n; i++) {
        uint16_t picked = *o++;
        for (uint32_t k = 1; k < r->counts[i]; k++, o++) {
            double x = reading_of(t, v, picked, readings), y = reading_of(t, v, *o, readings);
            bool is_below = x < y || (x == y && v[picked] < v[*o]);
            if (is_below == (r->fn == FN_MAX))
                picked = *o;
        }
        v[r->first + i] = v[picked];
    }
}

static void reduce_values(const struct tape *t, const struct run *r, uint64_t *v, struct arena *scratch)
{
    const uint16_t *o = r->operands;
    if (r->fn == FN_MAX || r->fn == FN_MIN) {
        pick_values(t, r, v, scratch);
        return;
    }
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t result = v[*o++];
        for (uint32_t k = 1; k < r->counts[i]; k++, o++)
            result = apply(t->key, (enum scalar_function)r->fn, result, v[*o], 0);
        v[r->first + i] = result;
    }
}

// A loop for each function, so that `apply` dissolves in it.
static void apply_to_run(const struct tape *t, const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    int arity = function_arity((enum scalar_function)r->fn), b = arity > 1, c = arity > 2 ? 2 : 0;
    switch ((enum scalar_function)r->fn) {
#define FUNCTION(enumerator, name, function_arity, c_expression)                                                       \
    case FN_##enumerator:                                                                                              \
        for (uint32_t i = 0; i < r->n; i++, o += arity)                                                                \
            v[r->first + i] = apply(t->key, FN_##enumerator, v[o[0]], v[o[b]], v[o[c]]);                               \
        break;
#include "expressions/functions.def"
#undef FUNCTION
    case FN_COUNT:
        break;
    }
}

void tape_run(const struct tape *t, const uint64_t *const *inputs, uint64_t *const *outputs, struct arena *scratch)
{
    struct arena_mark mark = arena_mark(scratch);
    uint64_t *v = arena_alloc(scratch, t->n_values * sizeof *v, _Alignof(uint64_t)), *at = v;
    for (int i = 0; i < t->n_inputs; at += t->input_elements[i++])
        memcpy(at, inputs[i], t->input_elements[i] * sizeof *v);
    if (t->n_constants)
        memcpy(at, t->constants, t->n_constants * sizeof *v);
    for (int i = 0; i < t->n_runs; i++)
        switch ((enum action)t->runs[i].action) {
        case ACTION_APPLY:
            apply_to_run(t, &t->runs[i], v);
            break;
        case ACTION_REDUCE:
            reduce_values(t, &t->runs[i], v, scratch);
            break;
        case ACTION_SUM:
            sum_values(&t->runs[i], v);
            break;
        case ACTION_PRODUCT_SUM:
            sum_products(&t->runs[i], v);
            break;
        }
    for (int i = 0; i < t->n_outputs; i++)
        for (size_t k = 0; k < t->output_elements[i]; k++)
            outputs[i][k] = v[t->outputs[i][k]];
    arena_release(scratch, mark);
}
