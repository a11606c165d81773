// Tensors with their values, as programs hand them to backends and get them back: dense, row-major, native byte order.
#ifndef BACKENDS_VALUE_H
#define BACKENDS_VALUE_H
#include "operators/type.h"

struct arena;
struct random;

struct tensor_value {
    struct type type;   // known
    void *data;         // type_bytes(&type) bytes, aligned to 64 where this header allocates
};

void *value_allocate(struct arena *a, const struct type *type);   // not cleared
// Between the storage of any numeric element type and doubles or 64-bit integers. Stores round to nearest even (one
// rounding, also to f16 and bf16); integers from doubles are cut off and wrap; to bool every value but 0 is true.
void value_load_f64(enum dtype dtype, const void *data, int64_t count, double *ret_values);
void value_store_f64(enum dtype dtype, void *data, int64_t count, const double *values);
void value_load_i64(enum dtype dtype, const void *data, int64_t count, int64_t *ret_values);   // floats are cut off
void value_store_i64(enum dtype dtype, void *data, int64_t count, const int64_t *values);

float value_from_f16(uint16_t bits);
uint16_t value_to_f16(double value);
float value_from_bf16(uint16_t bits);
uint16_t value_to_bf16(double value);

// Normal numbers for floating-point types; small non-negative integers (below `limit`) for integers, coins for bool.
void value_fill_random(struct tensor_value *value, struct random *random, int64_t limit);
#endif
