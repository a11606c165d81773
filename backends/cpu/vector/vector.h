// The inner loops of everything that is no library call: scalar functions over blocks of floats, reductions of blocks,
// and moving blocks in and out of memory. Compiled several times for different instruction sets (vector.c); the best
// one for this processor is chosen when the device is opened.
#pragma once
#include "expressions/definition.h"
#include <stddef.h>
#include <stdint.h>

#define VECTOR_BLOCK 512   // entries of a block at most

typedef void vector_function(float *z, const float *a, const float *b, const float *c, int64_t n);
typedef void vector_with_scalar(float *z, const float *a, float b, int64_t n);

struct vector_functions {
    const char *name;                            // of the instruction set
    vector_function *apply[FN_COUNT];            // z[i] = f(a[i], b[i], c[i]); z may be a, b or c
    vector_with_scalar *apply_right[FN_COUNT];   // z[i] = f(a[i], b); NULL where there is none
    vector_with_scalar *apply_left[FN_COUNT];    // z[i] = f(b, a[i])
    float (*sum)(const float *a, int64_t n);
    float (*max)(const float *a, int64_t n);   // NaN where there is one
    float (*min)(const float *a, int64_t n);
    float (*product)(const float *a, int64_t n);
    void (*fill)(float *z, float value, int64_t n);
    void (*load)(float *z, const float *from, int64_t stride, int64_t n);   // z[i] = from[i * stride]
    void (*store)(float *to, int64_t stride, const float *a, int64_t n);    // to[i * stride] = a[i]
    // z[j] = sum(i) x[i] * w[i * n + j] for i below `rows`. Reads w in several streams and ahead of use: one core gets
    // twice as much from memory that way as from one stream. z should stay in the nearest cache.
    void (*combine_rows)(float *z, const float *x, const float *w, int64_t rows, int64_t n);
    // Between element types: f16, bf16 and bool.
    void (*load_as)(enum dtype dtype, float *z, const void *from, int64_t stride, int64_t n);
    void (*store_as)(enum dtype dtype, void *to, int64_t stride, const float *a, int64_t n);
};
const struct vector_functions *vector_functions_best(void);
