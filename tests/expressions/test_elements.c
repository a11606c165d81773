// Element conversions: every 16-bit float comes back, rounding is to nearest even, and the edges of every type.
#include "expressions/elements.h"
#include "tests/support/check.h"

TEST(halves_come_back)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        float half = half_to_float((uint16_t)bits), brain = bfloat_to_float((uint16_t)bits);
        if (isnan(half))
            assert_true(isnan(half_to_float(half_from_float(half))));
        else
            assert_int_equal(half_from_float(half), bits);
        if (isnan(brain))
            assert_true(isnan(bfloat_to_float(bfloat_from_float(brain))));
        else
            assert_int_equal(bfloat_from_float(brain), bits);
    }
}

// Half way between two neighbours goes to the even one, anything else to the nearer one.
TEST(halves_are_rounded_to_even)
{
    for (uint16_t bits = 0; bits < 0x7bff; bits++) {
        float low = half_to_float(bits), high = half_to_float((uint16_t)(bits + 1)), middle = (low + high) / 2;
        assert_int_equal(half_from_float(middle), bits + (bits & 1));
        assert_int_equal(half_from_float(nextafterf(middle, low)), bits);
        assert_int_equal(half_from_float(nextafterf(middle, high)), bits + 1);
    }
    assert_int_equal(half_from_float(65520.0f), 0x7c00);
    assert_int_equal(half_from_float(65519.0f), 0x7bff);
    assert_int_equal(bfloat_from_float(1.0f + 0x1p-8f), 0x3f80);
    assert_int_equal(bfloat_from_float(1.0f + 0x1.8p-7f), 0x3f82);
}

struct edge {
    enum dtype dtype;
    double real;
    int64_t integer;   // what the real becomes as an element, read as an integer
};
static const struct edge edges[] = {
    {DTYPE_I8, 300, 127},          {DTYPE_I8, -300, -128},
    {DTYPE_I8, -1.9, -1},          {DTYPE_U8, -5, 0},
    {DTYPE_U8, 255.5, 255},        {DTYPE_I16, 1e9, 32767},
    {DTYPE_U16, 1e9, 65535},       {DTYPE_I32, 1e19, INT32_MAX},
    {DTYPE_U32, 1e19, 4294967295}, {DTYPE_I64, 1e30, INT64_MAX},
    {DTYPE_I64, -1e30, INT64_MIN}, {DTYPE_U64, -1, 0},
    {DTYPE_BOOL, 0.5, 1},          {DTYPE_BOOL, 0, 0},
    {DTYPE_F32, 2.7, 2},           {DTYPE_F16, -2.7, -2},
    {DTYPE_I32, NAN, 0},
};

TEST_OF_EACH(edges_are_kept, row, edges)
{
    uint64_t element = 0;
    int64_t integer;
    elements_from_reals(row->dtype, &row->real, 1, &element);
    elements_to_integers(row->dtype, &element, 1, &integer);
    assert_int_equal(integer, row->integer);
}

TEST(integers_come_back)
{
    static const int64_t values[] = {0, 1, 2, 100, 127};
    for (enum dtype dtype = DTYPE_NONE; dtype < DTYPE_COUNT; dtype++) {
        uint8_t elements[sizeof values];
        int64_t back[COUNT_OF(values)];
        double reals[COUNT_OF(values)];
        if (!dtype_has_numbers(dtype) || dtype == DTYPE_BOOL)
            continue;
        elements_from_integers(dtype, values, COUNT_OF(values), elements);
        elements_to_integers(dtype, elements, COUNT_OF(values), back);
        elements_to_reals(dtype, elements, COUNT_OF(values), reals);
        assert_memory_equal(back, values, sizeof values);
        for (size_t i = 0; i < COUNT_OF(values); i++)
            assert_true(reals[i] == (double)values[i]);
    }
}

TEST(largest_are_found_among_what_is_no_number)
{
    static const enum dtype floats[] = {DTYPE_F16, DTYPE_BF16, DTYPE_F32, DTYPE_F64};
    static const double finite[] = {-0.0, 3, -64, 0.5}, others[] = {2, -INFINITY, NAN, INFINITY}, none[] = {-NAN};
    bool are_finite;
    char elements[64];
    for (size_t i = 0; i < COUNT_OF(floats); i++) {
        elements_from_reals(floats[i], finite, COUNT_OF(finite), elements);
        assert_true(elements_largest(floats[i], elements, COUNT_OF(finite), &are_finite) == 64 && are_finite);
        assert_true(elements_largest(floats[i], elements, 0, &are_finite) == 0 && are_finite);
        elements_from_reals(floats[i], others, COUNT_OF(others), elements);
        assert_true(elements_largest(floats[i], elements, COUNT_OF(others), &are_finite) == 2 && !are_finite);
        elements_from_reals(floats[i], none, 1, elements);
        assert_true(elements_largest(floats[i], elements, 1, &are_finite) == 0 && !are_finite);
    }
    assert_true(elements_largest(DTYPE_I8, (const int8_t[]){3, -128}, 2, &are_finite) == 128 && are_finite);
}
