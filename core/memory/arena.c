// Blocks form a list from old to new, `arena.block` is the one being filled:
//
//     older <── [full] <── [full] <── [filling | free] ──> [kept, empty] ──> newer
//
// Releasing to a mark moves `arena.block` back and keeps the newer blocks for reuse. Those kept that are all too small
// for a request make room for its block, so that an arena holds no more than it had in use at some time. Under
// AddressSanitizer the free part of every block is poisoned, so that a use after arena_release is found; a release
// poisons what it frees alone, as the rest of a block may be 16 MiB.
#include "core/memory/arena.h"
#include <assert.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISONS
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISONS
#endif
#ifdef ARENA_POISONS
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(address, size) ((void)(address), (void)(size))
#endif

enum { SMALLEST_BLOCK = 1 << 10, LARGEST_STEP = 1 << 24, HUGE_PAGE = 1 << 21 };

struct arena_block {
    struct arena_block *older, *newer;
    size_t used, capacity;   // of `bytes`
    unsigned char bytes[];
};

static size_t block_bytes(const struct arena_block *b)
{
    return sizeof *b + b->capacity;
}

static struct arena_block *oldest_block(struct arena_block *b)
{
    while (b && b->older)
        b = b->older;
    return b;
}

static size_t padding_to_align(const struct arena_block *b, size_t align)
{
    uintptr_t free_address = (uintptr_t)(b->bytes + b->used);
    return (size_t)(-free_address & (align - 1));
}

static bool block_has_room(const struct arena_block *b, size_t size, size_t align)
{
    size_t left = b->capacity - b->used, padding = padding_to_align(b, align);
    return padding <= left && size <= left - padding;
}

static size_t capacity_of_next_block(const struct arena *a, size_t size, size_t align)
{
    size_t step = a->block ? 2 * block_bytes(a->block) : SMALLEST_BLOCK;
    if (step > LARGEST_STEP)
        step = LARGEST_STEP;
    size_t capacity = step - sizeof(struct arena_block), needed;
    if (__builtin_add_overflow(size, align, &needed) || needed > SIZE_MAX - sizeof(struct arena_block))
        return SIZE_MAX - sizeof(struct arena_block);
    if (capacity / 2 >= needed)   // no large rest that the next large one does not fit into
        return capacity;
    size_t rest = (needed + sizeof(struct arena_block)) % HUGE_PAGE;
    bool has_huge_pages = !a->is_read_once && needed >= HUGE_PAGE && rest && needed <= SIZE_MAX / 2;
    return has_huge_pages ? needed + HUGE_PAGE - rest : needed;
}

static void unlink_block(struct arena_block *b)
{
    if (b->older)
        b->older->newer = b->newer;
    if (b->newer)
        b->newer->older = b->older;
}

static void link_after_current(struct arena *a, struct arena_block *b)
{
    b->older = a->block;
    b->newer = a->block ? a->block->newer : NULL;
    if (b->newer)
        b->newer->older = b;
    if (a->block)
        a->block->newer = b;
}

static void free_block(struct arena *a, struct arena_block *b)
{
    a->total -= block_bytes(b);
    ASAN_UNPOISON_MEMORY_REGION(b->bytes, b->capacity);
    mem_free(b, block_bytes(b));
}

static void free_kept_blocks(struct arena *a, size_t at_least)
{
    struct arena_block *kept;
    for (size_t freed = 0; a->block && (kept = a->block->newer) && freed < at_least;) {
        freed += block_bytes(kept);
        unlink_block(kept);
        free_block(a, kept);
    }
}

static void add_block(struct arena *a, size_t size, size_t align)
{
    size_t capacity = capacity_of_next_block(a, size, align);
    free_kept_blocks(a, capacity);
    struct arena_block *b = mem_alloc(sizeof *b + capacity);
    if (!a->is_read_once)
        mem_ask_for_huge_pages(b, sizeof *b + capacity);
    b->used = 0;
    b->capacity = capacity;
    ASAN_POISON_MEMORY_REGION(b->bytes, capacity);
    link_after_current(a, b);
    a->total += block_bytes(b);
    a->block = b;
}

static struct arena_block *find_kept_block(const struct arena *a, size_t size, size_t align)
{
    struct arena_block *kept = a->block ? a->block->newer : NULL;
    while (kept && !block_has_room(kept, size, align))
        kept = kept->newer;
    return kept;
}

static void advance_to_room(struct arena *a, size_t size, size_t align)
{
    struct arena_block *kept = find_kept_block(a, size, align);
    if (!kept) {
        add_block(a, size, align);
        return;
    }
    unlink_block(kept);
    link_after_current(a, kept);
    a->block = kept;
}

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_free(struct arena *a)
{
    struct arena_block *b = oldest_block(a->block);
    while (b) {
        struct arena_block *newer = b->newer;
        free_block(a, b);
        b = newer;
    }
    arena_init(a);
}

void *arena_alloc(struct arena *a, size_t size, size_t align)
{
    assert(align && (align & (align - 1)) == 0);
    if (!a->block || !block_has_room(a->block, size, align))
        advance_to_room(a, size, align);
    struct arena_block *b = a->block;
    unsigned char *start = b->bytes + b->used + padding_to_align(b, align);
    b->used = (size_t)(start - b->bytes) + size;
    ASAN_UNPOISON_MEMORY_REGION(start, size);
    return start;
}

void arena_reserve(struct arena *a, size_t size)
{
    if (!a->block || !block_has_room(a->block, size, 1))
        advance_to_room(a, size, 1);
}

void *arena_alloc_zero(struct arena *a, size_t size, size_t align)
{
    return memset(arena_alloc(a, size, align), 0, size);
}

void *arena_copy(struct arena *a, const void *bytes, size_t size, size_t align)
{
    void *copy = arena_alloc(a, size, align);
    return size ? memcpy(copy, bytes, size) : copy;
}

char *arena_string(struct arena *a, const char *text)
{
    return arena_string_n(a, text, strlen(text));
}

char *arena_string_n(struct arena *a, const char *text, size_t n)
{
    assert(n < SIZE_MAX);
    char *copy = arena_alloc(a, n + 1, 1);
    if (n)
        memcpy(copy, text, n);
    copy[n] = '\0';
    return copy;
}

char *arena_printf(struct arena *a, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int n = vsnprintf(NULL, 0, format, arguments);
    assert(n >= 0);
    char *text = arena_alloc(a, (size_t)n + 1, 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){a->block, a->block ? a->block->used : 0};
}

static void shrink_block(struct arena_block *b, size_t used)
{
    assert(used <= b->used);
    ASAN_POISON_MEMORY_REGION(b->bytes + used, b->used - used);
    b->used = used;
}

void arena_release(struct arena *a, struct arena_mark mark)
{
    struct arena_block *target = mark.block ? mark.block : oldest_block(a->block);
    for (struct arena_block *b = a->block; b && b != target; b = b->older)
        shrink_block(b, 0);
    a->block = target;
    if (target)
        shrink_block(target, mark.used);
}

size_t arena_used(const struct arena *a)
{
    size_t used = 0;
    for (const struct arena_block *b = a->block; b; b = b->older)
        used += b->used;
    return used;
}
