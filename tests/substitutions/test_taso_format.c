// TASO's numbers of operators, there and back: none is said of two operators, and none has two numbers.
#include "substitutions/taso_format.h"
#include "tests/support/check.h"

enum { FIRST_UNKNOWN = 200, N_KNOWN = 19 };

static void numbers_come_back_as_they_were(void **state)
{
    int n = 0;
    for (int number = 0; number < FIRST_UNKNOWN; number++) {
        const struct operator* op = taso_format_operator(number);
        if (!op)
            continue;
        assert_int_equal(taso_format_number(op), number);
        n++;
    }
    assert_int_equal(n, N_KNOWN);
}

static void operators_come_back_as_they_were(void **state)
{
    int n = 0;
    for (int id = 0; id < OP_COUNT; id++) {
        int number = taso_format_number(operators[id]);
        if (number < 0)
            continue;
        assert_ptr_equal(taso_format_operator(number), operators[id]);
        n++;
    }
    assert_int_equal(n, N_KNOWN);
}

// As rules.proto of that project has them: the first, the last, and those on both sides of gaps.
static void numbers_are_those_of_published_files(void **state)
{
    static const struct {
        int number;
        const char *name;
    } known[] = {{3, "conv"}, {8, "relu"}, {12, "concat"}, {16, "ewadd"}, {18, "matmul"}, {19, "smul"}, {25, "cpool"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        assert_string_equal(taso_format_operator(known[i].number)->name, known[i].name);
    assert_null(taso_format_operator(0));
    assert_null(taso_format_operator(-3));
    assert_null(taso_format_operator(INT64_C(3) + (INT64_C(1) << 32)));
}

RUN_TESTS(TEST(numbers_come_back_as_they_were), TEST(operators_come_back_as_they_were),
          TEST(numbers_are_those_of_published_files))
