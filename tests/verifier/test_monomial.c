// Products of atoms against sorted lists: one number for each list, whatever order it was multiplied in, on both sides
// of what fits into lanes.
#include "tests/support/check.h"
#include "verifier/polynomials/monomial.h"

#define MOST 7
static const uint32_t atoms[] = {0, 1, 2, 3, 32765, 32766, 32767, 32768, 1000000};
#define N_ATOMS (sizeof atoms / sizeof *atoms)

static int compare(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

// As a product of the products of its two halves.
static monomial multiply_all(struct monomial_pool *p, const uint32_t *factors, uint32_t n)
{
    monomial product = MONOMIAL_ONE;
    if (n == 1)
        return monomial_of_atom(p, factors[0]);
    if (n > 1)
        assert_true(monomial_multiply(p, multiply_all(p, factors, n / 2), multiply_all(p, factors + n / 2, n - n / 2),
                                      &product));
    return product;
}

static void shuffle(struct random *r, uint32_t *factors, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint32_t j = (uint32_t)random_below(r, i), t = factors[j];
        factors[j] = factors[i - 1];
        factors[i - 1] = t;
    }
}

static uint32_t make_list(struct random *r, uint32_t *factors)
{
    uint32_t n = (uint32_t)random_below(r, MOST + 1);
    for (uint32_t i = 0; i < n; i++)
        factors[i] = atoms[random_below(r, N_ATOMS)];
    return n;
}

static void are_lists(void **state)
{
    struct monomial_pool p = {0};
    struct random r = random_seed(1);
    for (int round = 0; round < 3000; round++) {
        uint32_t x[MOST], y[MOST], found[MOST_FACTORS];
        uint32_t n = make_list(&r, x), m = make_list(&r, y);
        monomial of_x = multiply_all(&p, x, n), of_y = multiply_all(&p, y, m);
        shuffle(&r, x, n);
        assert_true(multiply_all(&p, x, n) == of_x);
        qsort(x, n, sizeof *x, compare);
        qsort(y, m, sizeof *y, compare);
        assert_int_equal(monomial_factors(&p, of_x, found), n);
        assert_memory_equal(found, x, n * sizeof *x);
        bool are_equal = n == m && memcmp(x, y, n * sizeof *x) == 0;
        assert_true((of_x == of_y) == are_equal);
    }
    monomial_pool_free(&p);
}

static void refuses_what_has_too_many_factors(void **state)
{
    struct monomial_pool p = {0};
    monomial power = monomial_of_atom(&p, 7), product = MONOMIAL_ONE;
    for (int i = 0; i < MOST_FACTORS; i++)
        assert_true(monomial_multiply(&p, product, power, &product));
    assert_false(monomial_multiply(&p, product, power, &product));
    monomial_pool_free(&p);
}

RUN_TESTS(TEST(are_lists), TEST(refuses_what_has_too_many_factors))
