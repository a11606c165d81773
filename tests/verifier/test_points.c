// Points that refute inequalities of polynomials: what has one is refuted, what follows never is.
#include "tests/support/check.h"
#include "verifier/inequalities/points.h"

// An image of h places, k of a kernel on it, and what is asked of indices i and j into them.
struct window {
    struct polys polys;
    struct points points;
    int64_t values[2];   // of h and k
    poly h, k, i, j, one;
    poly assumed[4];   // i < h, j < k, and i + j within the image
};

static void begin(struct window *w, int64_t h, int64_t k)
{
    struct polys *p = &w->polys;
    polys_init(p);
    w->h = poly_of_atom(p, atom_symbol(p, 1));
    w->k = poly_of_atom(p, atom_symbol(p, 1));
    w->i = poly_of_atom(p, atom_index(p, 0));
    w->j = poly_of_atom(p, atom_index(p, 1));
    w->one = poly_const(p, 1);
    w->values[0] = h;
    w->values[1] = k;
    w->assumed[0] = poly_sub(p, poly_sub(p, w->h, w->i), w->one);
    w->assumed[1] = poly_sub(p, poly_sub(p, w->k, w->j), w->one);
    w->assumed[2] = poly_sub(p, poly_sub(p, w->h, poly_add(p, w->i, w->j)), w->one);
    w->assumed[3] = poly_sub(p, poly_add(p, w->i, w->j), poly_const(p, 2));
    points_init(&w->points, p);
    points_give(&w->points, w->values, 2, NULL, 0);
}

static void end(struct window *w)
{
    points_free(&w->points);
    polys_free(&w->polys);
}

static bool is_refuted(struct window *w, poly asked)
{
    return points_refute(&w->points, w->assumed, 4, asked);
}

TEST(refutes_what_fails_somewhere)
{
    struct window w FREED_BY(end);
    begin(&w, 40, 7);
    struct polys *p = &w.polys;
    poly last = poly_sub(p, poly_sub(p, w.h, w.i), poly_const(p, 2));
    poly is_odd = poly_sub(p, poly_mod(p, w.i, poly_const(p, 2)), w.one);
    assert_true(is_refuted(&w, poly_sub(p, w.i, w.one)));   // i = 0, j >= 2
    assert_true(is_refuted(&w, last));                      // i = h - 1, j = 0
    assert_true(is_refuted(&w, is_odd));
    assert_true(is_refuted(&w, poly_sub(p, w.i, poly_mul(p, w.j, w.k))));
    assert_true(is_refuted(&w, poly_sub(p, w.j, w.i)));
    assert_true(is_refuted(&w, poly_const(p, -1)));   // all that is assumed may hold together
}

// i * floor((i - 5) / 2) is -2 at 1, though i is never negative.
TEST(a_factor_that_may_be_zero_hides_no_other_sign)
{
    struct polys p FREED_BY(polys_free);
    polys_init(&p);
    poly i = poly_of_atom(&p, atom_index(&p, 0));
    poly half = poly_floor(&p, poly_sub(&p, i, poly_const(&p, 5)), poly_const(&p, 2));
    poly product = poly_mul(&p, i, half);
    assert_false(poly_is_never_less(&p, product, POLY_ZERO));
    assert_true(poly_is_never_less(&p, product, product));
    assert_true(poly_is_never_less(&p, poly_add(&p, product, i), product));
    assert_false(poly_is_never_less(&p, product, poly_add(&p, product, i)));
}

TEST(never_refutes_what_follows)
{
    for (int64_t h = 1; h < 12; h++)
        for (int64_t k = 1; k < 6; k++) {
            struct window w;
            begin(&w, h, k);
            struct polys *p = &w.polys;
            poly sum = poly_add(p, w.i, w.j), two = poly_const(p, 2);
            assert_false(is_refuted(&w, w.assumed[0]));
            assert_false(is_refuted(&w, poly_sub(p, sum, two)));
            assert_false(is_refuted(&w, poly_sub(p, w.h, sum)));
            assert_false(is_refuted(&w, poly_mul(p, w.i, w.j)));
            assert_false(is_refuted(&w, poly_sub(p, w.one, poly_mod(p, sum, two))));
            assert_int_equal(is_refuted(&w, poly_const(p, -1)), h > 2);   // i + j is 2 or more, and below h
            end(&w);
        }
}

// A point is kept, and answers later questions; one that does not meet what is always assumed is not taken.
TEST(keeps_points_that_meet_what_is_assumed)
{
    struct window w FREED_BY(end);
    begin(&w, 40, 7);
    size_t given = w.points.items.count;
    assert_int_equal(given, 1);
    assert_true(is_refuted(&w, poly_sub(&w.polys, w.i, w.one)));
    size_t found = w.points.items.count;
    assert_int_equal(found, given + 1);
    assert_true(is_refuted(&w, poly_sub(&w.polys, w.i, w.one)));
    assert_int_equal(w.points.items.count, found);
    poly is_small = poly_sub(&w.polys, poly_const(&w.polys, 10), w.h);
    points_give(&w.points, w.values, 2, &is_small, 1);
    assert_int_equal(w.points.items.count, found);
}
