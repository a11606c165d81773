#include "core/system/code_pages.h"
#include "tests/support/check.h"
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// What was linked at the start has touched most names of the libraries: that is gone, and code and constants are read
// again.
static void code_comes_again_when_it_is_needed(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(code_comes_again_when_it_is_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
