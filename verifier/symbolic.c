#include "verifier/symbolic.h"

#define SCALAR struct symbolic_value
#define DOMAIN struct polynomial_pool *
#define LOWEST ((struct symbolic_value){.number = POLYNOMIAL_LOWEST})
#define HIGHEST ((struct symbolic_value){.number = POLYNOMIAL_HIGHEST})

static inline struct symbolic_value from_real(double value)
{
    return (struct symbolic_value){.is_literal = true, .literal = value};
}

static inline struct symbolic_value from_int(int64_t value)
{
    return from_real((double)value);
}

// Never reached: definitions that look at data are refused.
static inline int64_t to_int(struct symbolic_value value)
{
    return (int64_t)value.literal;
}

static polynomial to_polynomial(struct polynomial_pool *pool, struct symbolic_value value)
{
    return value.is_literal ? polynomial_from_real(pool, value.literal) : value.number;
}

static struct symbolic_value apply(struct polynomial_pool *pool, enum scalar_function fn, struct symbolic_value a,
                                   struct symbolic_value b, struct symbolic_value c)
{
    int arity = function_arity(fn);
    polynomial x = to_polynomial(pool, a);
    polynomial y = arity > 1 ? to_polynomial(pool, b) : 0;
    polynomial z = arity > 2 ? to_polynomial(pool, c) : 0;
    return (struct symbolic_value){.number = polynomial_apply(pool, fn, x, y, z)};
}

#include "operators/evaluate.inc"

bool evaluate_symbolic(const struct definition *d, struct polynomial_pool *pool,
                       const struct symbolic_value *const *inputs, struct symbolic_value *const *outputs,
                       struct arena *scratch)
{
    if (d->is_data_dependent)
        return false;
    evaluate(d, pool, inputs, outputs, scratch);
    for (int i = 0; i < d->n_outputs; i++) {
        int64_t n = type_elements(definition_output(d, i));
        for (int64_t j = 0; j < n; j++)
            outputs[i][j] = (struct symbolic_value){.number = to_polynomial(pool, outputs[i][j])};
    }
    return true;
}
