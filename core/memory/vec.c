// Growth by doubling; the typed pointer is read and written as bytes, so that any VEC(T) can pass its address.
#include "core/memory/vec.h"
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 8 };

static size_t next_capacity(size_t capacity, size_t at_least)
{
    size_t doubled = capacity ? mem_product(capacity, 2) : FIRST_CAPACITY;
    return doubled < at_least ? at_least : doubled;
}

void vec_grow(void *items_address, size_t *capacity, size_t item_size, size_t at_least)
{
    void *items;
    memcpy(&items, items_address, sizeof items);
    size_t grown = next_capacity(*capacity, at_least);
    items = mem_resize(items, *capacity * item_size, mem_product(grown, item_size));
    memcpy(items_address, &items, sizeof items);
    *capacity = grown;
}

// An empty vec has no items, and qsort may not be given NULL.
void vec_sort_items(void *items, size_t count, size_t item_size, int (*compare)(const void *, const void *))
{
    if (count > 1)
        qsort(items, count, item_size, compare);
}

void vec_keeper_free(struct vec_keeper *keeper)
{
    VEC(void) vec;
    memcpy(&vec, keeper->vec, sizeof vec);
    mem_free(vec.items, vec.capacity * keeper->item_size);
}
