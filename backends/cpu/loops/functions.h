// Scalar functions over blocks of floats, in plain loops that compilers vectorize, and moving entries in and out of
// memory.
#pragma once
#include "expressions/definition.h"
#include <stdint.h>

// z[i] = f(a[i], b[i], c[i]) in single precision; z may be a, b or c, and what f does not take is not read.
void functions_apply(enum scalar_function f, float *z, const float *a, const float *b, const float *c, int64_t n);
// All of them joined by f (ADD, MUL, MAX or MIN), and `start` with them, in an order of their number alone.
float functions_reduce(enum scalar_function f, float start, const float *a, int64_t n);
// z[i] = from[i * stride], and to[i * stride] = a[i]; element types are those of single precision, and loading converts
// of any type.
void functions_load(enum dtype dtype, float *z, const void *from, int64_t stride, int64_t n);
void functions_store(enum dtype dtype, void *to, int64_t stride, const float *a, int64_t n);
