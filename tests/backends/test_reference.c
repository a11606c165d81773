// Conversions of element types, and the reference that runs definitions.
#include "backends/reference/reference.h"
#include "core/arena.h"
#include "core/error.h"
#include "core/sexp.h"
#include "graph/text.h"
#include "tests/support/check.h"
#include <math.h>
#include <string.h>

static void every_16_bit_number_survives(void **state)
{
    for (uint32_t bits = 0; bits < 0x10000; bits++) {
        float half = value_from_f16((uint16_t)bits), brain = value_from_bf16((uint16_t)bits);
        if (half == half)
            assert_int_equal(value_to_f16((double)half), bits);
        if (brain == brain)
            assert_int_equal(value_to_bf16((double)brain), bits);
    }
    assert_true(isnan(value_from_f16(value_to_f16(NAN))));
    assert_true(isnan(value_from_bf16(value_to_bf16(NAN))));
}

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

static void rounds_once_to_nearest_even(void **state)
{
    for (size_t i = 0; i < COUNT_OF(roundings); i++) {
        assert_int_equal(value_to_f16(roundings[i].value), roundings[i].f16);
        assert_int_equal(value_to_bf16(roundings[i].value), roundings[i].bf16);
    }
}

static void integers_wrap_and_fractions_go(void **state)
{
    const double reals[] = {-1.9, 300.5, 2e10};
    uint8_t bytes[3];
    int32_t words[3];
    value_store_f64(DTYPE_U8, bytes, 3, reals);
    value_store_f64(DTYPE_I32, words, 2, reals);
    assert_int_equal(bytes[0], 255);
    assert_int_equal(bytes[1], 300 - 256);
    assert_int_equal(words[0], -1);
    assert_int_equal(words[1], 300);
    uint8_t truths[3];
    const double mixed[] = {0, 0.25, NAN};
    value_store_f64(DTYPE_BOOL, truths, 3, mixed);
    assert_memory_equal(truths, "\0\1\1", 3);
}

static void runs_a_graph(void **state)
{
    static const char text[] =
        "(graph (let x (input 0) (f32 1 3)) (let w (weight 1) (f32 3 2)) (let i (input 2) (i64 2))"
        " (let m (matmul x w)) (let y (relu m)) (let z (cast :to f16 y)) (let s (ewadd i i)) (output z s x))";
    float x[] = {1, 2, 3}, w[] = {1, -1, 1, -1, 0.5f, -1};
    int64_t i[] = {INT64_MAX, 21};
    struct arena a;
    struct graph g;
    struct error error = {0};
    const struct sexp *list;
    arena_init(&a);
    graph_init(&g, &a);
    assert_true(sexp_parse(&a, "test", text, strlen(text), &list, &error));
    if (!graph_parse(&list->items[0], "test", &g, &error))
        fail_msg("%s", error.message);
    struct tensor_value inputs[3] = {
        {type_make(DTYPE_F32, 2, (int64_t[]){1, 3}), x}, {{0}, NULL}, {type_make(DTYPE_I64, 1, (int64_t[]){2}), i}};
    struct tensor_value weights[2] = {{{0}, NULL}, {type_make(DTYPE_F32, 2, (int64_t[]){3, 2}), w}};
    struct tensor_value outputs[3];
    if (!reference_run_graph(&g, 3, inputs, 2, weights, outputs, &a, &error))
        fail_msg("%s", error.message);
    assert_int_equal(((uint16_t *)outputs[0].data)[0], value_to_f16(4.5));
    assert_int_equal(((uint16_t *)outputs[0].data)[1], 0);
    assert_true(((int64_t *)outputs[1].data)[0] == -2);
    assert_true(((int64_t *)outputs[1].data)[1] == 42);
    assert_memory_equal(outputs[2].data, x, sizeof x);
    assert_false(reference_run_graph(&g, 2, inputs, 2, weights, outputs, &a, &error));
    assert_string_equal(error.message, "input 2 has no value");
    graph_free(&g);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(every_16_bit_number_survives), TEST(rounds_once_to_nearest_even),
                                       TEST(integers_wrap_and_fractions_go), TEST(runs_a_graph)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
