// The reference, with one rounding when values are stored: that that runs definitions.
#include "expressions/elements.h"
#include "tests/support/parse_graph.h"
#include "tests/support/reference_graph.h"

static const struct {
    double value;
    uint16_t f16, bf16;
} roundings[] = {
    {1 + 0x1p-11, 0x3c00, 0x3f80},             // ties go to even
    {1 + 3 * 0x1p-11, 0x3c02, 0x3f80},         //
    {1 + 0x1p-11 + 0x1p-40, 0x3c01, 0x3f80},   // rounding twice, through f32, would give 0x3c00
    {1 + 0x1p-8, 0x3c04, 0x3f80},              //
    {1 + 3 * 0x1p-8, 0x3c0c, 0x3f82},          //
    {65519.99, 0x7bff, 0x4780},                // the largest f16 is 65504
    {65520, 0x7c00, 0x4780},                   //
    {-1e300, 0xfc00, 0xff80},                  //
    {0x1p-24, 1, 0x3380},                      // the smallest f16
    {0x1p-25, 0, 0x3300},                      //
    {0x1.8p-25, 1, 0x3340},                    //
    {0x1p-140, 0, 0},                          //
    {-0.0, 0x8000, 0x8000},                    //
};

TEST_OF_EACH(rounds_once_to_nearest_even, row, roundings)
{
    uint16_t f16, bf16;
    elements_from_reals(DTYPE_F16, &row->value, 1, &f16);
    elements_from_reals(DTYPE_BF16, &row->value, 1, &bf16);
    assert_int_equal(f16, row->f16);
    assert_int_equal(bf16, row->bf16);
}

TEST(runs_a_graph)
{
    static const char text[] = "x = f32 1 3; w = weight 1 f32 3 2; i = input 2 i64 2; m = matmul x w; y = relu m; "
                               "z = cast :to f16 y; s = ewadd i i; output z s x";
    float x[] = {1, 2, 3}, w[] = {1, -1, 1, -1, 0.5f, -1};
    int64_t i[] = {INT64_MAX, 21};
    ARENA(a);
    struct error error = {0};
    GRAPH(g, &a, text);
    struct tensor_value inputs[3] = {
        {type_make(DTYPE_F32, 2, (int64_t[]){1, 3}), x}, {{0}, NULL}, {type_make(DTYPE_I64, 1, (int64_t[]){2}), i}};
    struct tensor_value weights[2] = {{{0}, NULL}, {type_make(DTYPE_F32, 2, (int64_t[]){3, 2}), w}};
    struct tensor_value outputs[3];
    if (!reference_run_graph(&g, 3, inputs, 2, weights, outputs, &a, &error))
        fail_msg("%s", error.message);
    assert_int_equal(((uint16_t *)outputs[0].data)[0], half_from_float(4.5f));
    assert_int_equal(((uint16_t *)outputs[0].data)[1], 0);
    assert_true(((int64_t *)outputs[1].data)[0] == -2);
    assert_true(((int64_t *)outputs[1].data)[1] == 42);
    assert_memory_equal(outputs[2].data, x, sizeof x);
    assert_false(reference_run_graph(&g, 2, inputs, 2, weights, outputs, &a, &error));
    assert_string_equal(error.message, "input 2 has no value");
}
