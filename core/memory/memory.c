// Memory of the whole process, as a test that asks whether anything is left must see every thread, and a hook must be
// reachable from any depth: the bytes in use, their limit, and what is done when there are no more. Programs set the
// last two.
#define _GNU_SOURCE   // program_invocation_short_name
#include "core/memory/memory.h"
#include "core/exit_code.h"
#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

static atomic_size_t bytes_in_use, most_bytes = SIZE_MAX;
static _Thread_local int64_t bytes_of_thread;   // what it took less what it gave back

static void do_nothing(void)
{
}

static _Atomic(void (*)(void)) at_end = do_nothing;

// A limit is something that was asked for and cannot be served.
static void report_and_exit(size_t size)
{
    char program_and_colon[64] = "";
    size_t limit = atomic_load(&most_bytes);
    atomic_load (&at_end)();
#ifdef __GLIBC__
    snprintf(program_and_colon, sizeof program_and_colon, "%s: ", program_invocation_short_name);
#endif
    if (limit == SIZE_MAX) {
        fprintf(stderr, "%sout of memory (%zu more bytes were wanted)\n", program_and_colon, size);
        _exit(EXIT_INTERNAL);
    }
    fprintf(stderr, "%sthe limit of memory is reached: %.0f MiB, of which %.0f are in use and %.0f more are wanted\n",
            program_and_colon, (double)limit / 0x1p20, (double)atomic_load(&bytes_in_use) / 0x1p20,
            (double)size / 0x1p20);
    _exit(EXIT_UNSUPPORTED);
}

static _Atomic(void (*)(size_t)) out_of_memory_hook = report_and_exit;

static _Noreturn void fail_for_lack_of_memory(size_t size)
{
    atomic_load (&out_of_memory_hook)(size);
    abort();
}

// Can a block of the old size become one of the new size within the limit?
static bool is_possible(size_t old_size, size_t new_size)
{
    size_t limit = atomic_load_explicit(&most_bytes, memory_order_relaxed);
    if (new_size > PTRDIFF_MAX || limit == SIZE_MAX)
        return new_size <= PTRDIFF_MAX;
    size_t others = atomic_load_explicit(&bytes_in_use, memory_order_relaxed) - old_size;
    return new_size <= old_size || mem_sum(others, new_size) <= limit;
}

static void count_change(size_t old_size, size_t new_size)
{
    bytes_of_thread += (int64_t)(new_size - old_size);
    atomic_fetch_add_explicit(&bytes_in_use, new_size - old_size, memory_order_relaxed);
}

#define HUGE_PAGE ((size_t)1 << 21)

// Whole huge pages begin with one, so that the system has huge pages for all of them, and what is in them has the same
// neighbours in caches wherever it is.
void *mem_alloc(size_t size)
{
    bool is_whole = size > 0 && size % HUGE_PAGE == 0 && is_possible(0, size);
    void *block = is_whole ? aligned_alloc(HUGE_PAGE, size) : NULL;
    if (!block)
        return mem_resize(NULL, 0, size);
    count_change(0, size);
    return block;
}

void *mem_alloc_zero(size_t size)
{
    if (size == 0)
        return NULL;
    void *block = is_possible(0, size) ? calloc(1, size) : NULL;
    if (!block)
        fail_for_lack_of_memory(size);
    count_change(0, size);
    return block;
}

void *mem_resize(void *block, size_t old_size, size_t new_size)
{
    assert((block == NULL) == (old_size == 0));
    if (new_size == 0) {
        mem_free(block, old_size);
        return NULL;
    }
    void *resized = is_possible(old_size, new_size) ? realloc(block, new_size) : NULL;
    if (!resized)
        fail_for_lack_of_memory(new_size);
    count_change(old_size, new_size);
    return resized;
}

void mem_free(void *block, size_t size)
{
    assert((block == NULL) == (size == 0));
    free(block);
    count_change(size, 0);
}

enum { MOST_KEPT = 1 << 30, LARGEST_KEPT = 1 << 25 };   // bytes; glibc takes no larger limit than the second
enum { LEAST_GIVEN_BACK = 1 << 20 };

void mem_keep_freed(void)
{
#ifdef __GLIBC__
    mallopt(M_TRIM_THRESHOLD, MOST_KEPT);
    mallopt(M_MMAP_THRESHOLD, LARGEST_KEPT);
#endif
}

void mem_give_back_large(void)
{
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, LEAST_GIVEN_BACK);
#endif
}

void mem_give_back(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void mem_set_limit(size_t bytes)
{
    atomic_store(&most_bytes, bytes);
}

size_t mem_in_use(void)
{
    return atomic_load_explicit(&bytes_in_use, memory_order_relaxed);
}

int64_t mem_of_thread(void)
{
    return bytes_of_thread;
}

// The number that stands in a line of a file of the system, after `before`; false: there is no such line.
static bool read_number(const char *path, const char *before, size_t *ret_number)
{
    FILE *file = fopen(path, "re");
    char line[256];
    bool is_found = false;
    while (file && !is_found && fgets(line, sizeof line, file))
        is_found = strncmp(line, before, strlen(before)) == 0 && sscanf(line + strlen(before), "%zu", ret_number) == 1;
    if (file)
        fclose(file);
    return is_found;
}

size_t mem_peak_resident(void)
{
    size_t kibibytes = 0;
    read_number("/proc/self/status", "VmHWM:", &kibibytes);
    return kibibytes * 1024;
}

static size_t left_of(size_t most, size_t used)
{
    return used < most ? most - used : 0;
}

size_t mem_available(void)
{
    size_t available = SIZE_MAX, number, used;
    struct rlimit limit;
    if (read_number("/proc/meminfo", "MemAvailable:", &number))
        available = number * 1024;
    if (read_number("/sys/fs/cgroup/memory.max", "", &number) &&
        read_number("/sys/fs/cgroup/memory.current", "", &used))
        available = mem_smaller(available, left_of(number, used));
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
        read_number("/proc/self/status", "VmSize:", &used))
        available = mem_smaller(available, left_of(limit.rlim_cur, used * 1024));
    size_t most = atomic_load(&most_bytes);
    return most == SIZE_MAX ? available : mem_smaller(available, left_of(most, mem_in_use()));
}

void mem_set_at_end(void (*hook)(void))
{
    atomic_store(&at_end, hook);
}

void mem_set_out_of_memory(void (*hook)(size_t size))
{
    atomic_store(&out_of_memory_hook, hook ? hook : report_and_exit);
}

void mem_ask_for_huge_pages(void *bytes, size_t size)
{
#ifdef MADV_HUGEPAGE
    uintptr_t begin = ((uintptr_t)bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    uintptr_t end = ((uintptr_t)bytes + size) / HUGE_PAGE * HUGE_PAGE;
    if (begin < end)
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#endif
}
