// The scalar functions over IEEE doubles, for evaluators and for those who ask for a value at 0.
#pragma once
#include "expressions/definition.h"
#include <math.h>

static inline double f64_apply(enum scalar_function fn, double a, double b, double c)
{
    switch (fn) {
#define FUNCTION(enumerator, name, arity, c_expression, magnitude, sign, is_inside)                                    \
    case FN_##enumerator:                                                                                              \
        return c_expression;
#include "expressions/functions.def"
#undef FUNCTION
    case FN_COUNT:
        break;
    }
    return NAN;
}
