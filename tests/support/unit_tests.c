// The tests of a program, entered before main begins: those of test_arena.c are named `arena.TEST`.
#include "tests/support/check.h"
#include <fnmatch.h>

#define MOST_TESTS 256

static struct entered {
    struct CMUnitTest test;
    const char *file;
    int line;
    char name[120];
} all[MOST_TESTS];
static size_t n_tests;

void tests_enter(struct CMUnitTest test, const char *path, int line)
{
    assert_true(n_tests < MOST_TESTS);
    struct entered *e = &all[n_tests++];
    const char *file = strrchr(path, '/') + 1;
    file += strncmp(file, "test_", 5) == 0 ? 5 : 0;
    snprintf(e->name, sizeof e->name, "%.*s.%s", (int)strcspn(file, "."), file, test.name);
    e->test = test;
    e->file = file;
    e->line = line;
}

static int compare_places(const void *a, const void *b)
{
    const struct entered *x = a, *y = b;
    int order = strcmp(x->file, y->file);
    return order ? order : x->line - y->line;
}

int tests_run(const char *pattern)
{
    static struct CMUnitTest wanted[MOST_TESTS];
    size_t n = 0;
    qsort(all, n_tests, sizeof *all, compare_places);
    for (size_t i = 0; i < n_tests; i++) {
        if (fnmatch(pattern, all[i].name, 0) != 0)
            continue;
        wanted[n] = all[i].test;
        wanted[n++].name = all[i].name;
    }
    if (n == 0)
        print_error("no test is named %s\n", pattern);
    return n == 0 || _cmocka_run_group_tests("tests", wanted, n, NULL, NULL);
}
