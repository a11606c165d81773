// Normal forms: equal expressions have one number, different ones different numbers.
#include "tests/support/check.h"
#include "verifier/polynomials/polynomial.h"
#include "verifier/polynomials/signs.h"

static polynomial apply2(struct polynomial_pool *p, enum scalar_function fn, polynomial a, polynomial b)
{
    return polynomial_apply(p, fn, a, b, 0);
}

static polynomial apply1(struct polynomial_pool *p, enum scalar_function fn, polynomial a)
{
    return polynomial_apply(p, fn, a, 0, 0);
}

static void has_the_laws_of_a_ring(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial x = polynomial_variable(&p, 0), y = polynomial_variable(&p, 1), z = polynomial_variable(&p, 2);
    polynomial sum = apply2(&p, FN_ADD, x, y), difference = apply2(&p, FN_SUB, x, y);
    assert_int_equal(apply2(&p, FN_ADD, y, x), sum);
    assert_int_equal(apply2(&p, FN_MUL, sum, z),
                     apply2(&p, FN_ADD, apply2(&p, FN_MUL, z, y), apply2(&p, FN_MUL, x, z)));
    polynomial squares = apply2(&p, FN_SUB, apply2(&p, FN_MUL, x, x), apply2(&p, FN_MUL, y, y));
    assert_int_equal(apply2(&p, FN_MUL, sum, difference), squares);
    assert_int_equal(apply2(&p, FN_SUB, sum, sum), POLYNOMIAL_ZERO);
    assert_int_not_equal(apply2(&p, FN_MUL, x, y), sum);
    assert_false(p.has_overflowed);
    polynomial_pool_free(&p);
}

static void keeps_fractions_exact(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial third = apply2(&p, FN_DIV, POLYNOMIAL_ONE, polynomial_from_real(&p, 3));
    assert_int_equal(apply2(&p, FN_ADD, third, apply2(&p, FN_ADD, third, third)), POLYNOMIAL_ONE);
    assert_true(p.needs_reals);
    polynomial x = polynomial_variable(&p, 0);
    assert_int_not_equal(apply2(&p, FN_DIV, x, x), POLYNOMIAL_ONE);
    polynomial_pool_free(&p);
}

static void takes_maxima_as_sets(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial x = polynomial_variable(&p, 0), y = polynomial_variable(&p, 1), z = polynomial_variable(&p, 2);
    polynomial xy = apply2(&p, FN_MAX, x, y);
    assert_int_equal(apply2(&p, FN_MAX, xy, z), apply2(&p, FN_MAX, x, apply2(&p, FN_MAX, z, y)));
    assert_int_equal(apply2(&p, FN_MAX, xy, x), xy);
    assert_int_equal(apply1(&p, FN_RELU, apply1(&p, FN_RELU, x)), apply1(&p, FN_RELU, x));
    assert_int_equal(apply1(&p, FN_SIGMOID, xy),
                     apply2(&p, FN_MAX, apply1(&p, FN_SIGMOID, y), apply1(&p, FN_SIGMOID, x)));
    assert_int_equal(apply2(&p, FN_MAX, POLYNOMIAL_LOWEST, x), x);
    assert_int_not_equal(apply2(&p, FN_MIN, x, y), xy);
    polynomial_pool_free(&p);
}

static polynomial twice(struct polynomial_pool *p, polynomial a)
{
    return polynomial_scale(p, a, 2, 1);
}

static void takes_coefficients_out_of_maxima(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial x = polynomial_variable(&p, 0), y = polynomial_variable(&p, 1), z = polynomial_variable(&p, 2);
    polynomial xy = apply2(&p, FN_MAX, x, y), sum = apply2(&p, FN_ADD, x, y);
    polynomial of_twice = apply2(&p, FN_MAX, twice(&p, x), twice(&p, y));
    assert_int_equal(of_twice, twice(&p, xy));
    assert_int_equal(apply2(&p, FN_MAX, of_twice, twice(&p, z)), twice(&p, apply2(&p, FN_MAX, xy, z)));
    assert_int_equal(apply2(&p, FN_MAX, of_twice, z),
                     apply2(&p, FN_MAX, twice(&p, x), apply2(&p, FN_MAX, z, twice(&p, y))));
    assert_int_equal(apply1(&p, FN_RELU, twice(&p, x)), twice(&p, apply1(&p, FN_RELU, x)));
    assert_int_equal(apply2(&p, FN_MIN, twice(&p, x), twice(&p, y)), twice(&p, apply2(&p, FN_MIN, x, y)));
    assert_int_equal(apply1(&p, FN_EXP, of_twice),
                     apply2(&p, FN_MAX, apply1(&p, FN_EXP, twice(&p, x)), apply1(&p, FN_EXP, twice(&p, y))));
    assert_int_not_equal(apply2(&p, FN_MAX, polynomial_scale(&p, x, -2, 1), polynomial_scale(&p, y, -2, 1)),
                         polynomial_scale(&p, xy, -2, 1));
    assert_int_not_equal(apply2(&p, FN_MAX, twice(&p, x), y), twice(&p, xy));
    assert_int_not_equal(apply2(&p, FN_MAX, twice(&p, sum), twice(&p, z)), apply2(&p, FN_MAX, sum, z));
    polynomial_pool_free(&p);
}

static void notices_overflow(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial n = polynomial_from_real(&p, 1e8);
    for (int i = 0; i < 3; i++)
        n = apply2(&p, FN_MUL, n, n);
    assert_true(p.has_overflowed);
    polynomial_pool_clear(&p);
    assert_false(p.has_overflowed);
    polynomial_pool_free(&p);
}

// (a + b + c)^2 d as one sum of products and multiplied out in steps, in the other order.
static void sums_products_term_by_term(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial square = POLYNOMIAL_ZERO, sum = POLYNOMIAL_ZERO, d = polynomial_variable(&p, 3);
    for (uint32_t i = 3; i-- > 0;)
        sum = apply2(&p, FN_ADD, sum, polynomial_variable(&p, i));
    square = apply2(&p, FN_MUL, d, apply2(&p, FN_MUL, sum, sum));
    size_t begin = polynomial_sum_begin(&p);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t j = 3; j-- > 0;)
            polynomial_sum_add_product(&p, apply2(&p, FN_MUL, polynomial_variable(&p, i), d),
                                       polynomial_variable(&p, j));
    assert_int_equal(polynomial_sum_end(&p, begin), square);
    begin = polynomial_sum_begin(&p);
    polynomial_sum_add(&p, square);
    polynomial_sum_add(&p, apply1(&p, FN_NEG, square));
    polynomial_sum_add(&p, d);
    assert_int_equal(polynomial_sum_end(&p, begin), d);
    polynomial_pool_free(&p);
}

static void print_name(struct text *out, const void *context, uint32_t number)
{
    text_printf(out, "%c", "xyz"[number]);
}

static void prints_polynomials(void **state)
{
    struct polynomial_pool p;
    TEXT(out);
    polynomial_pool_init(&p);
    polynomial x = polynomial_variable(&p, 0), y = polynomial_variable(&p, 1);
    polynomial half = apply2(&p, FN_MUL, polynomial_from_real(&p, 0.5), apply2(&p, FN_MUL, x, y));
    polynomial_print(&out, &p, apply2(&p, FN_SUB, x, apply1(&p, FN_TANH, half)), print_name, NULL);
    assert_string_equal(out.chars, "x - tanh(1/2 x y)");
    polynomial_pool_free(&p);
}

// Equal in all cases of what is positive, and next to these what is not.
static void decides_by_signs(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial x = polynomial_variable(&p, 0), y = polynomial_variable(&p, 1), relu = apply1(&p, FN_RELU, x);
    polynomial twice = apply2(&p, FN_ADD, x, x), thrice = apply2(&p, FN_ADD, twice, x);
    assert_true(signs_make_equal(&p, apply1(&p, FN_RELU, twice), apply2(&p, FN_ADD, relu, relu)));
    assert_true(signs_make_equal(&p, apply2(&p, FN_MUL, x, relu), apply2(&p, FN_MUL, relu, relu)));
    assert_true(signs_make_equal(&p, apply2(&p, FN_SUB, relu, apply1(&p, FN_RELU, apply1(&p, FN_NEG, x))), x));
    assert_true(signs_make_equal(&p, apply2(&p, FN_ADD, apply2(&p, FN_MAX, x, y), apply2(&p, FN_MIN, x, y)),
                                 apply2(&p, FN_ADD, x, y)));
    assert_false(signs_make_equal(&p, apply1(&p, FN_RELU, twice), apply1(&p, FN_RELU, thrice)));
    assert_false(signs_make_equal(&p, relu, x));
    assert_false(signs_make_equal(&p, apply1(&p, FN_RELU, y), relu));
    assert_false(signs_make_equal(&p, apply1(&p, FN_ABS, x), relu));
    assert_false(signs_make_equal(&p, apply2(&p, FN_MUL, x, relu), apply2(&p, FN_MUL, y, relu)));
    assert_false(p.has_overflowed);
    polynomial_pool_free(&p);
}

static void passes_signs_on(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial x = polynomial_variable(&p, 0), y = polynomial_variable(&p, 1), minus = apply1(&p, FN_NEG, x);
    polynomial ahead = apply2(&p, FN_SUB, x, y), behind = apply2(&p, FN_SUB, y, x);
    assert_int_equal(apply1(&p, FN_TANH, minus), apply1(&p, FN_NEG, apply1(&p, FN_TANH, x)));
    assert_int_equal(apply1(&p, FN_SIGN, behind), apply1(&p, FN_NEG, apply1(&p, FN_SIGN, ahead)));
    assert_int_equal(apply1(&p, FN_COS, behind), apply1(&p, FN_COS, ahead));
    assert_int_equal(apply1(&p, FN_CEIL, minus), apply1(&p, FN_NEG, apply1(&p, FN_FLOOR, x)));
    assert_int_equal(apply1(&p, FN_ERF, POLYNOMIAL_ZERO), POLYNOMIAL_ZERO);
    assert_int_not_equal(apply1(&p, FN_COS, POLYNOMIAL_ZERO), POLYNOMIAL_ZERO);
    assert_int_not_equal(apply1(&p, FN_ACOS, minus), apply1(&p, FN_NEG, apply1(&p, FN_ACOS, x)));
    assert_int_not_equal(apply1(&p, FN_FLOOR, minus), apply1(&p, FN_NEG, apply1(&p, FN_FLOOR, x)));
    polynomial_pool_free(&p);
}

static polynomial choice(struct polynomial_pool *p, enum scalar_function fn, polynomial x, polynomial y, polynomial a,
                         polynomial b)
{
    return polynomial_apply(p, FN_WHERE, apply2(p, fn, x, y), a, b);
}

// Of one formula at all places: choices by order, products, exponentials; and next to these what is not.
static void knows_laws_of_one_place(void **state)
{
    struct polynomial_pool p;
    polynomial_pool_init(&p);
    polynomial x = polynomial_variable(&p, 0), y = polynomial_variable(&p, 1), xy = apply2(&p, FN_MUL, x, y);
    polynomial of_x = apply1(&p, FN_EXP, x), of_y = apply1(&p, FN_EXP, y), one = POLYNOMIAL_ONE;
    polynomial greatest = apply2(&p, FN_MAX, x, y),
               magnitudes = apply2(&p, FN_MUL, apply1(&p, FN_ABS, x), apply1(&p, FN_ABS, y));
    assert_true(signs_make_equal(&p, choice(&p, FN_LESS, x, y, y, x), greatest));
    assert_true(signs_make_equal(&p, choice(&p, FN_LESS_EQUAL, x, y, y, x), greatest));
    assert_false(signs_make_equal(&p, choice(&p, FN_LESS, x, y, x, y), greatest));
    assert_false(signs_make_equal(&p, choice(&p, FN_LESS, x, y, one, x), greatest));
    assert_true(signs_make_equal(&p, apply1(&p, FN_ABS, xy), magnitudes));
    assert_false(signs_make_equal(&p, apply1(&p, FN_ABS, xy), xy));
    assert_true(signs_make_equal(&p, apply1(&p, FN_EXP, apply2(&p, FN_ADD, x, y)), apply2(&p, FN_MUL, of_x, of_y)));
    assert_false(signs_make_equal(&p, apply1(&p, FN_EXP, xy), apply2(&p, FN_MUL, of_x, of_y)));
    polynomial sum = apply2(&p, FN_ADD, of_x, of_y), rest = apply1(&p, FN_EXP, apply2(&p, FN_SUB, y, x));
    polynomial shifted = apply2(&p, FN_ADD, x, apply1(&p, FN_LOG, apply2(&p, FN_ADD, one, rest)));
    assert_true(signs_make_equal(&p, apply1(&p, FN_LOG, sum), shifted));
    assert_false(signs_make_equal(&p, apply1(&p, FN_LOG, apply2(&p, FN_SUB, of_x, of_y)), shifted));
    assert_false(p.has_overflowed);
    polynomial_pool_free(&p);
}

RUN_TESTS(TEST(has_the_laws_of_a_ring), TEST(keeps_fractions_exact), TEST(takes_maxima_as_sets),
          TEST(takes_coefficients_out_of_maxima), TEST(notices_overflow), TEST(sums_products_term_by_term),
          TEST(prints_polynomials), TEST(decides_by_signs), TEST(passes_signs_on), TEST(knows_laws_of_one_place))
