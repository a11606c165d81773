// Computations are unrolled, numbered, and cut into runs of one function. Sums of products are reduced once.
#include "expressions/evaluation/tape.h"

#include "core/memory/arena.h"
#include "expressions/evaluation/tape_unroll.h"
#include "expressions/field_functions.h"

// Values of one action and function that stand together.
struct run {
    uint8_t action, fn;
    uint32_t first, n;        // values
    const uint32_t *counts;   // operands of each
    const uint16_t *operands;
};
struct tape {
    uint64_t key;
    int n_inputs, n_outputs, n_runs;
    uint32_t n_values, n_constants;   // values: inputs, constants, then computed ones
    size_t input_elements[MAX_TAPE_INPUTS];
    const uint64_t *constants;
    const struct run *runs;
    const size_t *output_elements;
    const uint16_t *const *outputs;   // of every output the values of its entries
};

// --- making ----------------------------------------------------------------------------------------------------------

// The number of each value. Constants stand in front of what is computed.
static const uint16_t *number_values(const struct unrolling *u, struct arena *scratch)
{
    uint16_t *numbers = arena_array(scratch, uint16_t, u->values.count);
    uint32_t constant = u->n_inputs, computed = constant + (uint32_t)u->constants.count;
    for (uint32_t i = 0; i < u->values.count; i++) {
        enum action action = (enum action)u->values.items[i].action;
        numbers[i] = (uint16_t)(action == ACTION_INPUT ? i : action == ACTION_CONSTANT ? constant++ : computed++);
    }
    return numbers;
}

static const uint16_t *numbers_of(const uint16_t *numbers, const uint32_t *values, size_t n, struct arena *arena)
{
    uint16_t *result = arena_array(arena, uint16_t, n);
    for (size_t i = 0; i < n; i++)
        result[i] = numbers[values[i]];
    return result;
}

static bool belongs_to(const struct run *r, const struct value *v)
{
    return r->action == v->action && r->fn == v->fn;
}

// Operands stand in the order of the values that they are of.
static void make_runs(const struct unrolling *u, struct tape *t, const uint16_t *numbers, struct arena *arena)
{
    const uint16_t *operands = numbers_of(numbers, u->operands.items, u->operands.count, arena);
    uint32_t *counts = arena_array(arena, uint32_t, u->values.count);
    struct run *runs = arena_array(arena, struct run, u->values.count);
    for (uint32_t i = u->n_inputs; i < u->values.count; i++) {
        const struct value *v = &u->values.items[i];
        if (v->action == ACTION_CONSTANT)
            continue;
        if (t->n_runs == 0 || !belongs_to(&runs[t->n_runs - 1], v))
            runs[t->n_runs++] = (struct run){v->action, v->fn, numbers[i], 0, counts, operands + v->first};
        runs[t->n_runs - 1].n++;
        *counts++ = v->count;
    }
    t->runs = runs;
}

static void make_constants(const struct unrolling *u, struct tape *t, struct arena *arena)
{
    uint64_t *constants = arena_array(arena, uint64_t, u->constants.count);
    for (size_t i = 0; i < u->constants.count; i++)
        constants[i] = u->values.items[u->constants.items[i]].constant;
    t->n_constants = (uint32_t)u->constants.count;
    t->constants = constants;
}

static void make_outputs(const struct unrolling *u, struct tape *t, const uint16_t *numbers, struct arena *arena)
{
    size_t *elements = arena_array(arena, size_t, t->n_outputs);
    const uint16_t **outputs = arena_array(arena, const uint16_t *, t->n_outputs);
    for (int i = 0; i < t->n_outputs; i++) {
        elements[i] = (size_t)type_elements(definition_output(u->d, i));
        outputs[i] = numbers_of(numbers, u->stages[u->d->outputs[i]], elements[i], arena);
    }
    t->output_elements = elements;
    t->outputs = outputs;
}

static const struct tape *make_tape(const struct unrolling *u, struct arena *arena)
{
    struct tape *t = arena_new(arena, struct tape);
    const uint16_t *numbers = number_values(u, u->scratch);
    *t = (struct tape){u->key, u->d->n_inputs, u->d->n_outputs, .n_values = (uint32_t)u->values.count};
    for (int i = 0; i < t->n_inputs; i++)
        t->input_elements[i] = (size_t)type_elements(&u->d->inputs[i]);
    make_constants(u, t, arena);
    make_runs(u, t, numbers, arena);
    make_outputs(u, t, numbers, arena);
    return t;
}

const struct tape *tape_make(const struct definition *d, uint64_t key, struct arena *arena)
{
    if (d->is_data_dependent || d->n_inputs > MAX_TAPE_INPUTS)
        return NULL;
    ARENA(scratch);
    struct unrolling u FREED_BY(unrolling_free);
    unroll_definition(&u, d, key, &scratch);
    const struct tape *tape = u.is_too_large ? NULL : make_tape(&u, arena);
    return tape;
}

// --- running ---------------------------------------------------------------------------------------------------------

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

static void reduce_values(const struct tape *t, const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    for (uint32_t i = 0; i < r->n; i++) {
        uint64_t result = v[*o++];
        for (uint32_t k = 1; k < r->counts[i]; k++)
            result = apply(t->key, (enum scalar_function)r->fn, result, v[*o++], 0);
        v[r->first + i] = result;
    }
}

// A loop for each function, so that `apply` dissolves in it.
static void apply_to_run(const struct tape *t, const struct run *r, uint64_t *v)
{
    const uint16_t *o = r->operands;
    int arity = function_arity((enum scalar_function)r->fn), b = arity > 1, c = arity > 2 ? 2 : 0;
    switch ((enum scalar_function)r->fn) {
#define FUNCTION(enumerator, name, function_arity, c_expression, magnitude, sign, is_inside)                           \
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

static void run(const struct tape *t, const struct run *r, uint64_t *v)
{
    if (r->action == ACTION_APPLY)
        apply_to_run(t, r, v);
    else if (r->action == ACTION_PRODUCT_SUM)
        sum_products(r, v);
    else if (r->action == ACTION_SUM)
        sum_values(r, v);
    else
        reduce_values(t, r, v);
}

void tape_run(const struct tape *t, const uint64_t *const *inputs, uint64_t *const *outputs, struct arena *scratch)
{
    ARENA_MARK(mark, scratch);
    uint64_t *v = arena_alloc(scratch, t->n_values * sizeof *v, _Alignof(uint64_t)), *at = v;
    for (int i = 0; i < t->n_inputs; at += t->input_elements[i++])
        memcpy(at, inputs[i], t->input_elements[i] * sizeof *v);
    if (t->n_constants)
        memcpy(at, t->constants, t->n_constants * sizeof *v);
    for (int i = 0; i < t->n_runs; i++)
        run(t, &t->runs[i], v);
    for (int i = 0; i < t->n_outputs; i++)
        for (size_t k = 0; k < t->output_elements[i]; k++)
            outputs[i][k] = v[t->outputs[i][k]];
}
