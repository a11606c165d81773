// So much of cmocka as the tests of the device "cuda" use, for machines that have a GPU and little else.
#pragma once
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct CMUnitTest {
    const char *name;
    void (*test_func)(void **state);
    int (*setup_func)(void **state), (*teardown_func)(void **state);
    void *initial_state;
};
#define cmocka_unit_test_setup_teardown(function, setup, teardown)                                                     \
    {                                                                                                                  \
#function, function, setup, teardown, NULL                                                                     \
    }

static jmp_buf plain_failure;

static inline void plain_print(FILE *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
}
#define print_error(...) plain_print(stderr, __VA_ARGS__)
#define print_message(...) plain_print(stdout, __VA_ARGS__)

static inline void plain_fail(const char *file, int line)
{
    fprintf(stderr, "%s:%d: failed\n", file, line);
    longjmp(plain_failure, 1);
}
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), plain_fail(__FILE__, __LINE__))
#define assert_true(condition) ((condition) ? (void)0 : fail_msg("%s", #condition))
#define assert_false(condition) assert_true(!(condition))
#define assert_non_null(pointer) assert_true((pointer) != NULL)
#define assert_null(pointer) assert_true((pointer) == NULL)
#define assert_int_equal(a, b) assert_true((a) == (b))
#define assert_string_equal(a, b) assert_true(strcmp((a), (b)) == 0)
#define assert_memory_equal(a, b, size) assert_true(memcmp((a), (b), (size)) == 0)

static inline int plain_run(const struct CMUnitTest *test)
{
    void *state = test->initial_state;
    volatile int is_failed = 1;
    printf("[ RUN      ] %s\n", test->name);
    fflush(stdout);
    if (test->setup_func)
        test->setup_func(&state);
    if (!setjmp(plain_failure)) {
        test->test_func(&state);
        is_failed = test->teardown_func && test->teardown_func(&state) != 0;
    }
    printf("[  %s ] %s\n", is_failed ? "FAILED" : "    OK", test->name);
    fflush(stdout);
    return is_failed;
}

static inline int _cmocka_run_group_tests(const char *group, const struct CMUnitTest *tests, size_t n, void *setup,
                                          void *teardown)
{
    int failed = 0;
    for (size_t i = 0; i < n; i++)
        failed += plain_run(&tests[i]);
    printf("%s: %zu tests, %d failed\n", group, n, failed);
    return failed;
}
