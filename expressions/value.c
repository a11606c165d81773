#include "expressions/value.h"

#include "core/arena.h"
#include "core/random.h"
#include "expressions/elements.h"

void *value_allocate(struct arena *a, const struct type *type)
{
    return arena_alloc(a, type_bytes(type), 64);
}

void value_fill_random(struct tensor_value *value, struct random *random, int64_t limit)
{
    enum dtype dtype = value->type.dtype;
    size_t size = dtype_size(dtype);
    int64_t count = type_elements(&value->type);
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
}
