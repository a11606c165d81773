// Arithmetic modulo 2^61 - 1 against 128-bit arithmetic, and the laws that the field's stand-ins for other functions
// must have (evaluate_field.c).
#include "expressions/evaluation/evaluate.h"
#include "expressions/field.h"
#include "operators/operator.h"
#include "tests/support/check.h"

__extension__ typedef unsigned __int128 wide;

static const uint64_t corners[] = {0,    1, 2, FIELD_PRIME - 1, FIELD_PRIME - 2, FIELD_PRIME / 2, (uint64_t)1 << 60,
                                   12345};

static uint64_t some_value(struct random *r)
{
    return random_below(r, 4) ? random_below(r, FIELD_PRIME) : corners[random_below(r, COUNT_OF(corners))];
}

TEST(arithmetic_is_that_of_wide_integers)
{
    struct random r = random_seed(1);
    for (int i = 0; i < 20000; i++) {
        uint64_t a = some_value(&r), b = some_value(&r), any = random_next(&r);
        assert_int_equal(field_add(a, b), ((wide)a + b) % FIELD_PRIME);
        assert_int_equal(field_sub(a, b), ((wide)a + FIELD_PRIME - b) % FIELD_PRIME);
        assert_int_equal(field_mul(a, b), (wide)a * b % FIELD_PRIME);
        assert_int_equal(field_reduce(any), any % FIELD_PRIME);
        assert_int_equal(field_mul(a, field_inverse(a)), a != 0);
    }
    for (uint64_t a = 1; a < 1 << 17; a++)
        assert_int_equal(field_mul(a, field_inverse(a)), 1);
    assert_int_equal(field_reduce(UINT64_MAX), UINT64_MAX % FIELD_PRIME);
    assert_int_equal(field_inverse(0), 0);
    wide most = (wide)(FIELD_PRIME - 1) * (FIELD_PRIME - 1), sum = FIELD_LAZY_PRODUCTS * most;
    assert_int_equal(field_reduce_wide(sum), sum % FIELD_PRIME);
    assert_int_equal(field_reduce_wide(sum - 1), (sum - 1) % FIELD_PRIME);
    assert_int_equal(field_power(3, 5), 243);
    assert_int_equal(field_power(7, 0), 1);
}

TEST(integers_keep_their_sums_and_products)
{
    static const int64_t values[] = {0, 1, -1, 5, -7, 1000000007, -123456789, INT64_MAX, INT64_MIN};
    for (size_t i = 0; i < COUNT_OF(values); i++) {
        wide shift = (wide)FIELD_PRIME * 8;
        assert_int_equal(field_from_int(values[i]), (shift + (wide)values[i]) % FIELD_PRIME);
        for (size_t j = 0; j < 7 && i < 7; j++) {
            uint64_t a = field_from_int(values[i]), b = field_from_int(values[j]);
            assert_int_equal(field_add(a, b), field_from_int(values[i] + values[j]));
            assert_int_equal(field_mul(a, b), field_from_int(values[i] * values[j]));
        }
    }
}

TEST(reals_are_dyadic_rationals)
{
    struct random r = random_seed(2);
    assert_int_equal(field_mul(field_from_real(0.5), 2), 1);
    assert_int_equal(field_from_real(-0.0), 0);
    assert_int_equal(field_from_real(-3), field_from_int(-3));
    assert_int_equal(field_mul(field_from_real(5e-324), field_power(2, 1074 % 61)), 1);
    for (int i = 0; i < 2000; i++) {
        double a = ldexp((double)(int64_t)(random_below(&r, 1 << 26)) - (1 << 25), (int)random_below(&r, 60) - 30);
        double b = ldexp((double)(int64_t)(random_below(&r, 1 << 26)) - (1 << 25), 3);
        assert_int_equal(field_mul(field_from_real(a), field_from_real(b)), field_from_real(a * b));
    }
    field_from_real(NAN);
    assert_int_not_equal(field_from_real(INFINITY), field_from_real(-INFINITY));
}

// --- stand-ins -------------------------------------------------------------------------------------------------------

// The value of an element-wise operator on scalars.
static uint64_t apply_operator(enum operator_id id, uint64_t key, uint64_t a, uint64_t b)
{
    ARENA(arena);
    struct definition d FREED_BY(definition_free);
    const struct type scalars[2] = {{.dtype = DTYPE_F32}, {.dtype = DTYPE_F32}};
    const uint64_t *inputs[] = {&a, &b};
    uint64_t result, *outputs[] = {&result};
    struct attribute_value attributes[MAX_ATTRIBUTES];
    operator_standard_attributes(operators[id], &arena, attributes);
    struct operator_call call = {operators[id], operators[id]->min_inputs, scalars, attributes};
    definition_init(&d, &arena, call.n_inputs, scalars);
    assert_true(operator_define(&d, &call));
    evaluate_field(&d, key, inputs, outputs, &arena);
    return result;
}

TEST(max_and_min_go_by_one_order)
{
    struct random r = random_seed(3);
    for (uint64_t key = 0; key < 400; key++) {
        uint64_t a = some_value(&r), b = some_value(&r), c = some_value(&r);
        uint64_t ab = apply_operator(OP_MAX, key, a, b), bc = apply_operator(OP_MAX, key, b, c);
        uint64_t least = apply_operator(OP_MIN, key, a, b);
        assert_true(ab == a || ab == b);
        assert_int_equal(ab, apply_operator(OP_MAX, key, b, a));
        assert_int_equal(apply_operator(OP_MAX, key, ab, c), apply_operator(OP_MAX, key, a, bc));
        assert_int_equal(field_add(ab, least), field_add(a, b));
        assert_int_equal(apply_operator(OP_MIN, key, a, ab), a);
        assert_int_equal(apply_operator(OP_LESS, key, a, b), a != b && ab == b);
        assert_int_equal(apply_operator(OP_LESS_EQUAL, key, a, b), ab == b);
    }
}

TEST(relu_keeps_order_and_small_integers)
{
    struct random r = random_seed(4);
    for (uint64_t key = 0; key < 400; key++) {
        uint64_t a = some_value(&r), b = key % 2 ? some_value(&r) : field_add(a, random_below(&r, 1 << 22));
        uint64_t of_a = apply_operator(OP_RELU, key, a, 0), of_b = apply_operator(OP_RELU, key, b, 0);
        uint64_t most = apply_operator(OP_MAX, key, a, b);
        assert_int_equal(apply_operator(OP_RELU, key, of_a, 0), of_a);
        assert_int_equal(apply_operator(OP_RELU, key, most, 0), apply_operator(OP_MAX, key, of_a, of_b));
        assert_int_equal(apply_operator(OP_RELU, key, key, 0), key);
    }
}

// A value below -1/2 is not above it; negation turns the order round; values stand on all sides of thresholds.
TEST(thresholds_stand_as_among_the_reals)
{
    static const double thresholds[] = {-1e30, -6, -3, -1, -0.5, -0.25, 0, 0.0999999940395355224609375, 0.5, 1, 6, 1e8};
    struct random r = random_seed(7);
    uint64_t infinite = field_from_real(INFINITY);
    for (uint64_t key = 0; key < 200; key++) {
        uint64_t x = random_below(&r, FIELD_PRIME), y = some_value(&r);
        assert_int_equal(apply_operator(OP_LESS, key, x, y),
                         apply_operator(OP_LESS, key, field_sub(0, y), field_sub(0, x)));
        assert_int_equal(apply_operator(OP_MAX, key, x, infinite), infinite);
        assert_int_equal(apply_operator(OP_MIN, key, x, field_sub(0, infinite)), field_sub(0, infinite));
        assert_int_equal(apply_operator(OP_RELU, key, infinite, 0), infinite);
    }
    for (size_t i = 1; i + 2 < COUNT_OF(thresholds); i++) {
        uint64_t threshold = field_from_real(thresholds[i]), next = field_from_real(thresholds[i + 1]);
        int below = 0, between = 0;
        for (uint64_t key = 0; key < 400; key++) {
            uint64_t x = random_below(&r, FIELD_PRIME);
            bool is_below = apply_operator(OP_LESS, key, x, threshold);
            below += is_below;
            between += !is_below && apply_operator(OP_LESS, key, x, next);
            assert_true(apply_operator(OP_LESS, key, threshold, next));
        }
        assert_in_range(below, 20, 380);
        assert_in_range(between, 4, 200);
    }
}

TEST(operators_with_thresholds_are_neither_constant_nor_the_identity)
{
    static const enum operator_id ids[] = {OP_SHRINK, OP_THRESHOLDEDRELU, OP_HARDSIGMOID, OP_HARDSWISH};
    struct random r = random_seed(8);
    for (size_t i = 0; i < COUNT_OF(ids); i++) {
        int same = 0, zero = 0;
        for (uint64_t key = 0; key < 200; key++) {
            uint64_t x = random_below(&r, FIELD_PRIME), z = apply_operator(ids[i], key, x, 0);
            same += z == x;
            zero += z == 0;
        }
        assert_in_range(same + zero, 20, 200);
        assert_in_range(same, 0, 180);
        assert_in_range(zero, 0, 180);
    }
}

TEST(clip_depends_on_its_argument)
{
    struct random r = random_seed(5);
    int n_moved = 0;
    for (uint64_t key = 0; key < 200; key++) {
        uint64_t a = random_below(&r, FIELD_PRIME);
        n_moved += apply_operator(OP_LEAKYRELU, key, a, 0) != a && apply_operator(OP_MAX, key, a, 0) != a;
    }
    assert_true(n_moved > 20 && n_moved < 180);
}

TEST(powers_and_roundings_are_exact_where_small)
{
    struct random r = random_seed(6);
    for (uint64_t key = 0; key < 100; key++) {
        uint64_t a = some_value(&r);
        assert_int_equal(apply_operator(OP_POW, key, a, 2), field_mul(a, a));
        assert_int_equal(apply_operator(OP_POW, key, a, field_from_int(-1)), field_inverse(a));
        assert_int_equal(apply_operator(OP_FLOOR, key, field_from_int(-(int64_t)key), 0),
                         field_from_int(-(int64_t)key));
        assert_int_equal(apply_operator(OP_ISNAN, key, a, 0), 0);
        assert_int_equal(apply_operator(OP_EXP, key, a, 0), apply_operator(OP_EXP, key, a, 0));
        assert_int_not_equal(apply_operator(OP_EXP, key, a, 0), apply_operator(OP_EXP, key + 1, a, 0));
        assert_int_not_equal(apply_operator(OP_EXP, key, a, 0), apply_operator(OP_TANH, key, a, 0));
    }
}
