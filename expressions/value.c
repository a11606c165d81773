// Values of tensors: aligned memory, and random numbers of each element type.
#include "expressions/value.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "expressions/elements.h"
#include <string.h>

void *value_allocate(struct arena *a, const struct type *type)
{
    return arena_alloc(a, type_bytes(type), 64);
}

#define MOST_DIFFERENT 1048573   // a prime, so that no axis is as long as what is repeated

// The first ones, again and again.
static void repeat_elements(char *data, size_t n_elements, size_t n_different, size_t size)
{
    for (size_t i = n_different; i < n_elements; i += n_different)
        memcpy(data + i * size, data, (n_elements - i < n_different ? n_elements - i : n_different) * size);
}

void value_fill_random(struct tensor_value *value, struct random *random, int64_t limit)
{
    enum dtype dtype = value->type.dtype;
    size_t size = dtype_size(dtype);
    int64_t all = type_elements(&value->type), count = all < MOST_DIFFERENT ? all : MOST_DIFFERENT;
    for (int64_t i = 0; i < count; i++) {
        void *place = (char *)value->data + (size_t)i * size;
        int64_t integer = 0;
        double real = 0;
        if (dtype_is_float(dtype)) {
            real = random_normal(random);
            elements_from_reals(dtype, &real, 1, place);
            continue;
        }
        integer = (int64_t)random_below(random, dtype == DTYPE_BOOL ? 2 : (uint64_t)limit);
        elements_from_integers(dtype, &integer, 1, place);
    }
    if (all > count)
        repeat_elements(value->data, (size_t)all, (size_t)count, size);
}
