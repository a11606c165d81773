// Binary heaps: `heap_push(&v, item, is_before, context); first = heap_pop(&v, is_before, context);` of a VEC, whose
// first item is the one that no other stands before. Where is_before leaves no two items equal, what is taken does not
// depend on how they stand in between.
#pragma once
#include "core/memory/vec.h"
#include <assert.h>
#include <stdbool.h>
#include <string.h>

typedef bool heap_order(const void *context, const void *a, const void *b);

#define heap_push(v, item, is_before, context)                                                                         \
    (vec_push((v), (item)), heap_raise((v)->items, sizeof *(v)->items, (v)->count - 1, (is_before), (context)))
#define heap_pop(v, is_before, context)                                                                                \
    (heap_take((v)->items, sizeof *(v)->items, (v)->count, (is_before), (context)), vec_pop(v))
// Makes a heap of a VEC in any order.
#define heap_make(v, is_before, context)                                                                               \
    heap_order_all((v)->items, sizeof *(v)->items, (v)->count, (is_before), (context))

// Inlined with the order and the size of an item, as a heap is often the inner loop.
#define HEAP_INLINE static inline __attribute__((always_inline))
HEAP_INLINE void heap_exchange(char *a, char *b, size_t size)
{
    char kept[64];
    assert(size <= sizeof kept);
    memcpy(kept, a, size);
    memcpy(a, b, size);
    memcpy(b, kept, size);
}

HEAP_INLINE void heap_raise(void *items, size_t size, size_t i, heap_order *is_before, const void *context)
{
    char *at = items;
    for (size_t above; i > 0 && is_before(context, at + i * size, at + (above = (i - 1) / 2) * size); i = above)
        heap_exchange(at + i * size, at + above * size, size);
}

HEAP_INLINE void heap_sink(void *items, size_t size, size_t count, size_t i, heap_order *is_before, const void *context)
{
    char *at = items;
    for (size_t below; (below = 2 * i + 1) < count; i = below) {
        if (below + 1 < count && is_before(context, at + (below + 1) * size, at + below * size))
            below++;
        if (!is_before(context, at + below * size, at + i * size))
            return;
        heap_exchange(at + i * size, at + below * size, size);
    }
}

// The first item changes places with the last one, which is no part of the heap any more.
HEAP_INLINE void heap_take(void *items, size_t size, size_t count, heap_order *is_before, const void *context)
{
    char *at = items;
    if (count > 1)
        heap_exchange(at, at + (count - 1) * size, size);
    heap_sink(items, size, count - 1, 0, is_before, context);
}

HEAP_INLINE void heap_order_all(void *items, size_t size, size_t count, heap_order *is_before, const void *context)
{
    for (size_t i = count / 2; i-- > 0;)
        heap_sink(items, size, count, i, is_before, context);
}
