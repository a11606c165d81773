// Sized allocation with a count of the bytes in use, so that a test can end by asserting that nothing is left.
// Running out of memory is fatal, through one replaceable hook.
#pragma once
#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t size);                                      // never NULL (size 0 gives NULL); not cleared
void *mem_alloc_zero(size_t size);                                 // the same, cleared
void *mem_resize(void *block, size_t old_size, size_t new_size);   // realloc that knows the old size
void mem_free(void *block, size_t size);                           // NULL is allowed with size 0
size_t mem_in_use(void);                                           // bytes allocated and not freed, over all threads
// Bytes that this thread allocated less those that it freed: what lies between two calls is its own.
int64_t mem_of_thread(void);
size_t mem_peak_resident(void);   // VmHWM of this process in bytes, 0 when unknown
// No more than this is to be in use: what goes beyond it is out of memory. SIZE_MAX: no limit, as in the beginning.
void mem_set_limit(size_t bytes);
// The bytes that this process may take beside what it has: the least that the machine, its group of processes and its
// own limits leave. SIZE_MAX when nothing of that is known.
size_t mem_available(void);
// Memory that was freed stays with the process, for the next one to ask: else what is large, or last, goes back to the
// system each time and comes again page by page.
void mem_keep_freed(void);
// Large blocks that are freed go back to the system at once, and leave no holes between others.
void mem_give_back_large(void);
// Memory that was freed goes back to the system, also what lies between blocks that are in use.
void mem_give_back(void);
// Memory of this range in huge pages, where the system has them: what reads a lot once through misses the TLB less.
void mem_ask_for_huge_pages(void *bytes, size_t size);
void mem_set_out_of_memory(void (*hook)(size_t size));   // must not return
void mem_set_at_end(void (*hook)(void));   // what is to be cleared away when no other hook ends the process

// a * b, or SIZE_MAX when that does not fit: such a request then ends as out of memory, never as a small block.
static inline size_t mem_product(size_t a, size_t b)
{
    size_t product;
    return __builtin_mul_overflow(a, b, &product) ? SIZE_MAX : product;
}

// a + b, or SIZE_MAX when that does not fit.
static inline size_t mem_sum(size_t a, size_t b)
{
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? SIZE_MAX : sum;
}

static inline size_t mem_smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

#define mem_new_array(T, n) ((T *)mem_alloc(mem_product(sizeof(T), (size_t)(n))))
#define mem_free_array(p, n) mem_free((p), mem_product(sizeof(*(p)), (size_t)(n)))

// `struct plan plan FREED_BY(plan_free);`: initialized before the block is left, and freed whichever way that is.
#define FREED_BY(function) __attribute__((cleanup(function)))

struct mem_block {
    void *bytes;
    size_t size;
};
static inline void mem_block_free(struct mem_block *b)
{
    mem_free(b->bytes, b->size);
}

// `T *name`, n items that are freed with the block in which they are declared: not cleared, or cleared.
#define LOCAL_ARRAY(T, name, n) LOCAL_BLOCK_BY(mem_alloc, T, name, n)
#define LOCAL_ZEROS(T, name, n) LOCAL_BLOCK_BY(mem_alloc_zero, T, name, n)
#define LOCAL_BLOCK_BY(alloc, T, name, n)                                                                              \
    struct mem_block name##_block FREED_BY(mem_block_free) = {.size = mem_product(sizeof(T), (size_t)(n))};            \
    T *name = name##_block.bytes = alloc(name##_block.size)
