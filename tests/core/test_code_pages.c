#include "core/system/code_pages.h"
#include "tests/support/check.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

// Of pages of files; -1: the system does not tell.
static long resident_kibibytes(void)
{
    char line[256];
    long found = -1;
    FILE *status = fopen("/proc/self/status", "re");
    while (status && found < 0 && fgets(line, sizeof line, status))
        if (sscanf(line, "RssFile: %ld", &found) != 1)
            found = -1;
    if (status)
        fclose(status);
    return found;
}

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

// Linking at the start has touched most names of the libraries: that is gone, and code and constants are read
// again.
TEST(code_comes_again_when_it_is_needed)
{
    int numbers[] = {3, 1, 2};
    long before = resident_kibibytes();
    code_pages_forget();
    long after = resident_kibibytes();
    if (before < 0)
        skip();
    assert_true(after < before);
    qsort(numbers, 3, sizeof *numbers, compare);
    assert_int_equal(numbers[0], 1);
    assert_string_equal(strerror(0), "Success");
}

static char *map_own_program(size_t bytes)
{
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    char *mapped = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
    close(file);
    assert_ptr_not_equal(mapped, MAP_FAILED);
    return mapped;
}

// As a debugger's breakpoints, and what patches code that runs.
TEST(changed_code_stays)
{
    size_t bytes = 2 * (size_t)sysconf(_SC_PAGESIZE);
    char *changed = map_own_program(bytes), *same = map_own_program(bytes);
    changed[bytes - 1] = 'x';
    changed[1] = 'e';
    assert_int_equal(mprotect(changed, bytes, PROT_READ | PROT_EXEC), 0);
    assert_int_equal(mprotect(same, bytes, PROT_READ | PROT_EXEC), 0);
    code_pages_forget();
    assert_int_equal(changed[bytes - 1], 'x');
    assert_memory_equal(changed, "\177eLF", 4);
    assert_memory_equal(same, "\177ELF", 4);
    munmap(changed, bytes);
    munmap(same, bytes);
}
