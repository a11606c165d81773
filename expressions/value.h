// Tensors with their values, as programs hand them to backends and get them back: dense, row-major, native byte order.
#pragma once
#include "expressions/type.h"

struct random;

struct tensor_value {
    struct type type;   // known
    void *data;         // type_bytes(&type) bytes, aligned to 64 where this header allocates
};

void *value_allocate(struct arena *a, const struct type *type);   // not cleared
// Normal numbers for floating-point types; small non-negative integers (below `limit`) for integers, coins for bool.
// Beyond a million elements the same ones come again.
void value_fill_random(struct tensor_value *value, struct random *random, int64_t limit);
