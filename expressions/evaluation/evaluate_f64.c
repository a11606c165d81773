// Evaluation over IEEE doubles.
#include "expressions/evaluation/evaluate.h"

#include "expressions/definition.h"
#include "expressions/f64_functions.h"
#include <math.h>

#define SCALAR double
#define DOMAIN int

static inline double lowest(int domain)
{
    return -INFINITY;
}

static inline double highest(int domain)
{
    return INFINITY;
}

static inline double from_real(double value)
{
    return value;
}

static inline double from_int(int64_t value)
{
    return (double)value;
}

static inline int64_t to_int(double value)
{
    const double limit = 4e18;
    return value != value ? 0 : value > limit ? (int64_t)limit : value < -limit ? -(int64_t)limit : (int64_t)value;
}

static inline double apply(int domain, enum scalar_function fn, double a, double b, double c)
{
    return f64_apply(fn, a, b, c);
}

static inline double add_product(double sum, double a, double b)
{
    return sum + a * b;
}

#include "expressions/evaluation/evaluate.inc"

void evaluate_f64(const struct definition *d, const double *const *inputs, double *const *outputs,
                  struct arena *scratch)
{
    evaluate_once(d, 0, false, inputs, outputs, scratch);
}

bool evaluate_f64_or_stop(const struct definition *d, const double *const *inputs, double *const *outputs,
                          struct arena *scratch)
{
    return evaluate_once(d, 0, true, inputs, outputs, scratch);
}

void evaluate_plan_f64(const struct evaluation_plan *plan, const double *const *inputs, double *const *outputs,
                       struct arena *scratch)
{
    evaluate(plan, 0, false, inputs, outputs, scratch);
}
