// Bump allocation with marks: one arena per lifetime (program, rule set, one search state).
// Everything allocated after a mark is given back by arena_release; blocks are kept for reuse.
#pragma once
#include "core/memory/memory.h"
#include <stdbool.h>
#include <stddef.h>

struct arena_block;
struct arena {
    struct arena_block *block;   // the block being filled; older ones are linked behind it
    size_t total;                // bytes held by all blocks
    bool is_read_once;           // what is allocated: no huge pages, which take longer to get
};
struct arena_mark {
    struct arena_block *block;
    size_t used;
};

void arena_init(struct arena *a);   // an arena of zeros is empty, too
void arena_free(struct arena *a);   // gives every block back; `a` is empty then
// Never NULL, also for size 0; `align` is a power of two. The bytes of arena_alloc are not cleared.
void *arena_alloc(struct arena *a, size_t size, size_t align);
void *arena_alloc_zero(struct arena *a, size_t size, size_t align);
void *arena_copy(struct arena *a, const void *bytes, size_t size, size_t align);
char *arena_string(struct arena *a, const char *text);   // copy of a NUL-terminated string
char *arena_string_n(struct arena *a, const char *text, size_t n);
char *arena_printf(struct arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct arena_mark arena_mark(const struct arena *a);
void arena_release(struct arena *a, struct arena_mark mark);
// The arena has so many bytes in one piece, and what is allocated next fills it from its beginning.
void arena_reserve(struct arena *a, size_t size);
size_t arena_used(const struct arena *a);   // bytes given since the beginning, or the release to it

#define arena_new(a, T) ((T *)arena_alloc_zero((a), sizeof(T), _Alignof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc_zero((a), mem_product(sizeof(T), (size_t)(n)), _Alignof(T)))
#define arena_copy_array(a, p, n) arena_copy((a), (p), mem_product(sizeof(*(p)), (size_t)(n)), _Alignof(max_align_t))

// An arena that ends with the block in which it is declared.
#define ARENA(name) struct arena name FREED_BY(arena_free) = {0}

// A mark to which the arena is released at the end of the block in which it is declared.
struct arena_mark_keeper {
    struct arena *arena;
    struct arena_mark mark;
};
static inline void arena_mark_keeper_release(struct arena_mark_keeper *keeper)
{
    arena_release(keeper->arena, keeper->mark);
}
#define ARENA_MARK(name, a)                                                                                            \
    __attribute__((unused)) struct arena_mark_keeper name FREED_BY(arena_mark_keeper_release) = {(a), arena_mark(a)}
