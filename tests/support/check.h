// What every unit test includes: cmocka, and tests that end by asking whether memory is left.
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H
#include "core/memory.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static inline int check_that_nothing_is_left(void **state)
{
    if (mem_in_use() != 0)
        print_error("%zu bytes are left\n", mem_in_use());
    return mem_in_use() == 0 ? 0 : -1;
}

// An entry of the list that cmocka_run_group_tests takes: `TEST(reads_empty_text)` for `static void
// reads_empty_text(void **state)`.
#define TEST(function) cmocka_unit_test_teardown(function, check_that_nothing_is_left)
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
#endif
