// Evaluation modulo the prime p = 2^61 - 1, with the functions of field_functions.h.
#include "expressions/evaluation/evaluate.h"

#include "expressions/definition.h"
#include "expressions/field_functions.h"

#define SCALAR uint64_t
#define DOMAIN uint64_t

static inline uint64_t add_product(uint64_t sum, uint64_t a, uint64_t b)
{
    return field_reduce_wide((field_wide)a * b + sum);
}

#include "expressions/evaluation/evaluate.inc"

void evaluate_field(const struct definition *d, uint64_t key, const uint64_t *const *inputs, uint64_t *const *outputs,
                    struct arena *scratch)
{
    evaluate_once(d, key, false, inputs, outputs, scratch);
}

void evaluate_plan_field(const struct evaluation_plan *plan, uint64_t key, const uint64_t *const *inputs,
                         uint64_t *const *outputs, struct arena *scratch)
{
    evaluate(plan, key, false, inputs, outputs, scratch);
}
