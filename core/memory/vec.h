// Growable arrays: `VEC(int) v = {0}; vec_push(&v, 3); v.items[0]; vec_free(&v);`, and questions of all of an array.
#pragma once
#include "core/memory/memory.h"
#include <stdbool.h>

#define VEC(T)                                                                                                         \
    struct {                                                                                                           \
        T *items;                                                                                                      \
        size_t count, capacity;                                                                                        \
    }

void vec_grow(void *items_address, size_t *capacity, size_t item_size, size_t at_least);
void vec_sort_items(void *items, size_t count, size_t item_size, int (*compare)(const void *, const void *));

#define vec_reserve(v, n)                                                                                              \
    ((size_t)(n) <= (v)->capacity ? (void)0                                                                            \
                                  : vec_grow((void *)&(v)->items, &(v)->capacity, sizeof(*(v)->items), (size_t)(n)))
#define vec_push(v, item) (vec_reserve((v), (v)->count + 1), (void)((v)->items[(v)->count++] = (item)))
#define vec_pop(v) ((v)->items[--(v)->count])
#define vec_last(v) ((v)->items[(v)->count - 1])
#define vec_clear(v) ((void)((v)->count = 0))
// The answer for qsort: does x go before y?
#define ORDER(x, y) (((x) > (y)) - ((x) < (y)))
// A comparison for qsort of items x and y of a type: `ORDER(x->size, y->size) ?: strcmp(x->name, y->name)`.
#define COMPARISON(name, T, ...)                                                                                       \
    static int name(const void *x_item, const void *y_item)                                                            \
    {                                                                                                                  \
        const __typeof__(T) *x = x_item, *y = y_item;                                                                  \
        return __extension__(__VA_ARGS__);                                                                             \
    }
#define vec_sort(v, compare) vec_sort_items((v)->items, (v)->count, sizeof *(v)->items, (compare))
#define vec_free(v)                                                                                                    \
    (mem_free((v)->items, (v)->capacity * sizeof(*(v)->items)), (void)((v)->items = NULL),                             \
     (void)((v)->count = (v)->capacity = 0))
// Two to six of a struct, by their names: `vecs_free(s, items, open)` frees s->items and s->open.
#define vecs_free(s, ...)                                                                                              \
    VECS_FREE_PICK(__VA_ARGS__, VECS_FREE_6, VECS_FREE_5, VECS_FREE_4, VECS_FREE_3, VECS_FREE_2, 0)                    \
    (s, __VA_ARGS__)
#define VECS_FREE_PICK(a, b, c, d, e, f, chosen, ...) chosen
#define VECS_FREE_2(s, a, b) (vec_free(&(s)->a), vec_free(&(s)->b))
#define VECS_FREE_3(s, a, b, c) (VECS_FREE_2(s, a, b), vec_free(&(s)->c))
#define VECS_FREE_4(s, a, b, c, d) (VECS_FREE_2(s, a, b), VECS_FREE_2(s, c, d))
#define VECS_FREE_5(s, a, b, c, d, e) (VECS_FREE_3(s, a, b, c), VECS_FREE_2(s, d, e))
#define VECS_FREE_6(s, a, b, c, d, e, f) (VECS_FREE_3(s, a, b, c), VECS_FREE_3(s, d, e, f))

struct vec_keeper {
    void *vec;
    size_t item_size;
};
void vec_keeper_free(struct vec_keeper *keeper);

// An empty VEC(T), or one of a type that is one, which is freed with the block in which it is declared.
#define LOCAL_VEC(T, name) LOCAL_LIST(VEC(T), name)
#define LOCAL_LIST(type, name)                                                                                         \
    type name = {0};                                                                                                   \
    __attribute__((unused)) struct vec_keeper name##_keeper FREED_BY(vec_keeper_free) = {&name, sizeof *name.items}

// A question of i, asked of 0, 1, ... below n: is it so of any, of all, of how many? ANY and ALL ask no more of them
// than decide.
#define ANY(T, i, n, ...)                                                                                              \
    __extension__({                                                                                                    \
        bool i##_is_found = false;                                                                                     \
        for (T i = 0; i < (n) && !i##_is_found; i++)                                                                   \
            i##_is_found = (__VA_ARGS__);                                                                              \
        i##_is_found;                                                                                                  \
    })
#define ALL(T, i, n, ...) (!ANY(T, i, n, !(__VA_ARGS__)))
#define COUNT(T, i, n, ...)                                                                                            \
    __extension__({                                                                                                    \
        size_t i##_count = 0;                                                                                          \
        for (T i = 0; i < (n); i++)                                                                                    \
            i##_count += (__VA_ARGS__) ? 1 : 0;                                                                        \
        i##_count;                                                                                                     \
    })
// The sum of an expression of i, or its product.
#define SUM_ALL(R, T, i, n, ...)                                                                                       \
    __extension__({                                                                                                    \
        R i##_sum = 0;                                                                                                 \
        for (T i = 0; i < (n); i++)                                                                                    \
            i##_sum += (__VA_ARGS__);                                                                                  \
        i##_sum;                                                                                                       \
    })
#define PRODUCT_ALL(R, T, i, n, ...)                                                                                   \
    __extension__({                                                                                                    \
        R i##_product = 1;                                                                                             \
        for (T i = 0; i < (n); i++)                                                                                    \
            i##_product *= (__VA_ARGS__);                                                                              \
        i##_product;                                                                                                   \
    })
// The union of sets of bits, each an expression of i.
#define UNION_ALL(R, T, i, n, ...)                                                                                     \
    __extension__({                                                                                                    \
        R i##_union = 0;                                                                                               \
        for (T i = 0; i < (n); i++)                                                                                    \
            i##_union |= (__VA_ARGS__);                                                                                \
        i##_union;                                                                                                     \
    })
// The largest of a value and an expression of i, or the smallest; what is no number is neither.
#define LARGEST(R, value, T, i, n, ...)                                                                                \
    __extension__({                                                                                                    \
        R i##_largest = (value);                                                                                       \
        for (T i = 0; i < (n); i++) {                                                                                  \
            R i##_value = (__VA_ARGS__);                                                                               \
            i##_largest = i##_value > i##_largest ? i##_value : i##_largest;                                           \
        }                                                                                                              \
        i##_largest;                                                                                                   \
    })
#define SMALLEST(R, value, T, i, n, ...)                                                                               \
    __extension__({                                                                                                    \
        R i##_smallest = (value);                                                                                      \
        for (T i = 0; i < (n); i++) {                                                                                  \
            R i##_value = (__VA_ARGS__);                                                                               \
            i##_smallest = i##_value < i##_smallest ? i##_value : i##_smallest;                                        \
        }                                                                                                              \
        i##_smallest;                                                                                                  \
    })
// The first i of which it is so; n: there is none.
#define FIRST_OF(T, i, n, ...)                                                                                         \
    __extension__({                                                                                                    \
        T i = 0;                                                                                                       \
        while (i < (n) && !(__VA_ARGS__))                                                                              \
            i++;                                                                                                       \
        i;                                                                                                             \
    })
// The same of signed i; -1: there is none.
#define PLACE_OF(T, i, n, ...)                                                                                         \
    __extension__({                                                                                                    \
        T i##_first = FIRST_OF(T, i, n, __VA_ARGS__);                                                                  \
        i##_first < (n) ? i##_first : -1;                                                                              \
    })
// The first item x of which it is so; NULL: there is none.
#define FIND(array, n, x, ...)                                                                                         \
    __extension__({                                                                                                    \
        __typeof__(*(array)) *x = NULL, *x##_found = NULL;                                                             \
        for (size_t x##_i = 0; x##_i < (size_t)(n) && !x##_found; x##_i++) {                                           \
            x = &(array)[x##_i];                                                                                       \
            x##_found = (__VA_ARGS__) ? x : NULL;                                                                      \
        }                                                                                                              \
        x##_found;                                                                                                     \
    })
#define vec_find(v, x, ...) FIND((v)->items, (v)->count, x, __VA_ARGS__)
// A loop over the items x of an array, or of a vec, which may grow meanwhile; it has no break.
#define EACH(array, n, x)                                                                                              \
    for (size_t x##_i = 0; x##_i < (size_t)(n); x##_i++)                                                               \
        for (__typeof__(*(array)) *x = &(array)[x##_i]; x; x = NULL)
#define vec_each(v, x) EACH((v)->items, (v)->count, x)
// Keeps the items x of which it is so, in their order.
#define vec_keep(v, x, ...)                                                                                            \
    do {                                                                                                               \
        size_t x##_kept = 0;                                                                                           \
        for (size_t x##_i = 0; x##_i < (v)->count; x##_i++) {                                                          \
            __typeof__(*(v)->items) *x = &(v)->items[x##_i];                                                           \
            if (__VA_ARGS__)                                                                                           \
                (v)->items[x##_kept++] = *x;                                                                           \
        }                                                                                                              \
        (v)->count = x##_kept;                                                                                         \
    } while (0)
