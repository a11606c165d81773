// The tests of a program, entered before main begins.
#include "tests/support/check.h"

#define MOST_TESTS 64

static struct CMUnitTest tests[MOST_TESTS];
static int lines[MOST_TESTS];
static size_t n_tests;

void tests_enter(struct CMUnitTest test, int line)
{
    size_t place = n_tests++;
    assert_true(n_tests <= MOST_TESTS);
    for (; place > 0 && lines[place - 1] > line; place--) {
        tests[place] = tests[place - 1];
        lines[place] = lines[place - 1];
    }
    tests[place] = test;
    lines[place] = line;
}

int tests_run(void)
{
    return _cmocka_run_group_tests("tests", tests, n_tests, NULL, NULL);
}
