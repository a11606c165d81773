// How far outputs are from each other, over rounds, and what of that says anything.
#include "optimizer/run/comparison.h"

#include "tests/support/interruption.h"
#include "tests/support/parse_graph.h"

static struct tensor_value values_of(enum dtype dtype, int64_t n, void *data)
{
    return (struct tensor_value){type_make(dtype, 1, &n), data};
}

static struct output_comparison compare(enum dtype dtype, int64_t n, void *a, void *b, bool is_where_finite)
{
    struct tensor_value reference = values_of(dtype, n, a), other = values_of(dtype, n, b);
    return output_compare(&reference, &other, is_where_finite);
}

// The largest difference of two rounds is in the second one, which is constant; the first one varies.
TEST(the_worst_round_counts)
{
    float a[] = {1, 2, 3, 4, 4, 4}, b[] = {1, 2.25f, 3, 4, 4, 5};
    LOCAL_LIST(output_comparisons, found);
    struct tensor_value of_a[] = {values_of(DTYPE_F32, 3, a), values_of(DTYPE_F32, 3, a + 3)};
    struct tensor_value of_b[] = {values_of(DTYPE_F32, 3, b), values_of(DTYPE_F32, 3, b + 3)};
    const struct recording x = {2, 1, of_a}, y = {2, 1, of_b};
    recordings_compare(&x, &y, false, 0.25, &found);
    assert_int_equal(found.count, 1);
    const struct output_comparison *o = &found.items[0];
    assert_true(o->max_difference == 1 && o->max_magnitude == 4 && o->place == 2 && o->a == 4 && o->b == 5);
    assert_true(o->is_trustworthy && o->is_equal_enough && outputs_agree(&found));
    recordings_compare(&x, &y, false, 0.24, &found);
    assert_false(found.items[0].is_equal_enough || outputs_agree(&found));
}

// A million and one is within the tolerance of reals from a million.
TEST(integers_are_equal_or_not)
{
    float reals[] = {1000000, 7}, more[] = {1000001, 7};
    int32_t integers[] = {1000000, 7}, others[] = {1000001, 7};
    int64_t large[] = {INT64_MAX - 1, 7}, larger[] = {INT64_MAX, 7};   // the same as reals
    struct output_comparison o = compare(DTYPE_F32, 2, reals, more, false);
    assert_true(output_is_within(&o, 1e-5));
    o = compare(DTYPE_I32, 2, integers, others, false);
    assert_false(output_is_within(&o, 1e-5));
    o = compare(DTYPE_I32, 2, integers, integers, false);
    assert_true(output_is_within(&o, 1e-5) && o.is_trustworthy);
    o = compare(DTYPE_I64, 2, large, larger, false);
    assert_false(output_is_within(&o, 1e-5));
}

TEST(what_is_not_finite_counts_where_it_is_asked_for)
{
    float a[] = {NAN, INFINITY, 1, 2}, b[] = {NAN, INFINITY, 1, 2}, c[] = {0, 0, 1, 2}, d[] = {NAN, INFINITY, 1, NAN};
    struct output_comparison o = compare(DTYPE_F32, 4, a, b, false);
    assert_true(o.max_difference == 0 && !o.is_trustworthy && !o.is_finite);
    o = compare(DTYPE_F32, 4, a, c, false);
    assert_true(isinf(o.max_difference));
    o = compare(DTYPE_F32, 4, a, c, true);
    assert_true(o.max_difference == 0 && o.is_trustworthy && !o.is_finite);
    o = compare(DTYPE_F32, 4, a, d, true);
    assert_true(isinf(o.max_difference) && o.place == 3);
}

TEST(other_types_are_not_near)
{
    float a[] = {1, 2};
    struct tensor_value two = values_of(DTYPE_F32, 2, a), one = values_of(DTYPE_F32, 1, a);
    struct output_comparison o = output_compare(&two, &one, false);
    assert_false(output_is_within(&o, 1e9));
}

// A model that computes nothing; an end is asked for in one of its runs.
static int n_runs, n_runs_before_end;
static bool run_on_paper(struct model *m, const struct workers *workers, const struct tensor_value *inputs,
                         struct tensor_value *outputs, double *ret_seconds, struct error *error)
{
    if (++n_runs == n_runs_before_end)
        interrupt_listen(&interruption);
    return true;
}

TEST(no_round_is_begun_once_an_end_is_asked_for)
{
    static const struct executor on_paper = {.run = run_on_paper};
    const struct model_inputs none = {0};
    struct recording recordings[2];
    float x[] = {1, 2, 3, 4};
    LOCAL_LIST(output_comparisons, found);
    ARENA(arena);
    GRAPH(g, &arena, "x = f32 4");
    struct model model = {.executor = &on_paper, .plan = {.graph = &g}};
    for (n_runs_before_end = 4; n_runs_before_end > 2; n_runs_before_end--) {
        struct recording *r = &recordings[n_runs_before_end == 4];
        n_runs = 0;
        assert_true(model_record(&model, &g, 1, &none, 1, 0, 5, &arena, r, &(struct error){0}));
        interrupt_listen(NULL);
        assert_int_equal(n_runs, n_runs_before_end);
        assert_int_equal(r->rounds, n_runs_before_end);
        for (int round = 0; round < r->rounds; round++)
            memcpy(r->values[round].data, x, sizeof x);
    }
    ((float *)recordings[1].values[3].data)[0] = 5;   // which the other one has not
    recordings_compare(&recordings[1], &recordings[0], false, 0, &found);
    assert_true(found.items[0].is_equal_enough && found.items[0].is_trustworthy);
}
