// Prelude of every unit test: cmocka, what most need of C and of core, and tests that end by asking whether memory is
// left.
#pragma once
#include "core/memory/vec.h"
#include "core/numbers/random.h"
#include "core/text/error.h"
#include "tests/support/scoped.h"
#include <math.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NO_ROW SIZE_MAX
static size_t bytes_before_test, row_in_hand;   // of the table that a test goes through,
static const char *table_in_hand;               // or the line of this file

static inline int note_what_is_in_use(void **state)
{
    bytes_before_test = mem_in_use();
    row_in_hand = NO_ROW;
    table_in_hand = "its table, from 0 on";
    return 0;
}

static inline int check_that_nothing_is_left(void **state)
{
    if (row_in_hand != NO_ROW)
        print_error("it fails in row %zu of %s\n", row_in_hand, table_in_hand);
    if (mem_in_use() != bytes_before_test)
        print_error("%zd bytes are left\n", (ssize_t)(mem_in_use() - bytes_before_test));
    return mem_in_use() == bytes_before_test ? 0 : -1;
}

// Fewer of `count` random instances under sanitizers, where a tenth of them, or four, meets the same code.
static inline uint64_t some_of(uint64_t count)
{
    uint64_t fewer = count / 10 < 4 ? 4 : count / 10;
    return getenv("TASO_FEW") && fewer < count ? fewer : count;
}

// Under sanitizers each so many of the combinations will do.
static inline bool is_left_out(size_t combination, size_t each)
{
    return getenv("TASO_FEW") && combination % each;
}

// A call that has to succeed: its `&error` says why it did not.
#define OK(...)                                                                                                        \
    do {                                                                                                               \
        struct error error = {0};                                                                                      \
        if (!(__VA_ARGS__))                                                                                            \
            fail_msg("%s", error.message);                                                                             \
    } while (0)

// The bytes of which the first failure of memory in a statement says that it wanted them; 0: it had all.
static jmp_buf after_failure;
static volatile size_t bytes_wanted;
static inline void leave_with_bytes(size_t bytes)
{
    bytes_wanted = bytes;
    longjmp(after_failure, 1);
}
#define MUST_RUN_OUT(...)                                                                                              \
    do {                                                                                                               \
        bytes_wanted = 0;                                                                                              \
        mem_set_out_of_memory(leave_with_bytes);                                                                       \
        if (setjmp(after_failure) == 0)                                                                                \
            (void)(__VA_ARGS__);                                                                                       \
        mem_set_out_of_memory(NULL);                                                                                   \
        assert_true(bytes_wanted > 0);                                                                                 \
    } while (0)

// How a process ended that does this, as waitpid says it.
static inline int end_of(int (*process)(int argument), int argument)
{
    int status = -1;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(process(argument));
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

// All that was written to a temporary file, which is closed.
static inline void check_printed(FILE *out, const char *wanted)
{
    char printed[1000];
    rewind(out);
    printed[fread(printed, 1, sizeof printed - 1, out)] = '\0';
    fclose(out);
    assert_string_equal(printed, wanted);
}

// The entry of a list of cmocka's.
#define UNIT_TEST(function) cmocka_unit_test_setup_teardown(function, note_what_is_in_use, check_that_nothing_is_left)

// Tests of a program: those of its files, in the order in which they stand there, whatever main does before and after.
void tests_enter(struct CMUnitTest test, const char *path, int line);
int tests_run(const char *pattern);   // those with such a name, FILE.TEST; 0: there are some, and none failed
#define TEST_BETWEEN(function, set_up, tear_down)                                                                      \
    static void function(void **state);                                                                                \
    __attribute__((constructor)) static void enter_##function(void)                                                    \
    {                                                                                                                  \
        tests_enter((struct CMUnitTest)cmocka_unit_test_setup_teardown(function, set_up, tear_down), __FILE__,         \
                    __LINE__);                                                                                         \
    }                                                                                                                  \
    static void function(void **state)
// `TEST(reads_empty_text) { ... }`
#define TEST(function) TEST_BETWEEN(function, note_what_is_in_use, check_that_nothing_is_left)
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))
// `TEST_OF_EACH(reads_lines, row, table) { ... row->text ... }`: of all rows of a table, naming the one that fails.
#define TEST_OF_EACH(function, row, table)                                                                             \
    static void function##_of_row(__typeof__(&*(table)) row);                                                          \
    TEST(function)                                                                                                     \
    {                                                                                                                  \
        for (row_in_hand = 0; row_in_hand < COUNT_OF(table); row_in_hand++)                                            \
            function##_of_row(&(table)[row_in_hand]);                                                                  \
        row_in_hand = NO_ROW;                                                                                          \
    }                                                                                                                  \
    static void function##_of_row(__typeof__(&*(table)) row)
