// Sizes as functions of symbols: found by their values at the probes, and told apart at the first.
#include "graph/sizes.h"

#include "tests/support/check.h"

static struct sizes two_symbols(void)
{
    struct sizes s = {0};
    sizes_add_symbol(&s, 1, (int64_t[]){211, 150, 96, 331, 5003});
    sizes_add_symbol(&s, 1, (int64_t[]){223, 151, 99, 334, 5007});
    return s;
}

static int64_t value_at(struct sizes *s, const int64_t *at, int64_t x, int64_t y)
{
    struct size_form form;
    int64_t binding[MAX_SYMBOLS] = {x, y};
    return sizes_fit(s, at, &form) ? sizes_form_at(s, &form, binding) : -2;
}

// 12 x, x y, x + y, 2 x + 2 y + 6, 7
TEST(finds_functions)
{
    struct sizes s FREED_BY(sizes_free) = two_symbols();
    int64_t at[5][N_PROBES];
    for (int k = 0; k < N_PROBES; k++) {
        int64_t x = s.probes[k][0], y = s.probes[k][1];
        at[0][k] = 12 * x;
        at[1][k] = x * y;
        at[2][k] = x + y;
        at[3][k] = 2 * x + 2 * y + 6;
        at[4][k] = 7;
    }
    int64_t expected[] = {60, 15, 8, 22, 7};
    for (int i = 0; i < 5; i++)
        assert_int_equal(value_at(&s, at[i], 5, 3), expected[i]);
    assert_true(sizes_are_told_apart(&s));
    assert_int_equal(sizes_at(&s, 3 * (211 + 223), (int64_t[MAX_SYMBOLS]){5, 3}), 24);
    assert_false(sizes_varies(&s, 768));
    assert_true(sizes_depends(&s, 211 * 5, 0));
    assert_false(sizes_depends(&s, 211 * 5, 1));
}

// Half of x where that is even, x cut at 512, and numbers that follow no rule.
TEST(refuses_what_is_none)
{
    struct sizes s FREED_BY(sizes_free) = two_symbols();
    int64_t half[N_PROBES], cut[N_PROBES];
    for (int k = 0; k < N_PROBES; k++) {
        half[k] = s.probes[k][0] / 2;
        cut[k] = s.probes[k][0] < 512 ? s.probes[k][0] : 512;
    }
    assert_int_equal(value_at(&s, half, 4, 4), -2);
    assert_int_equal(value_at(&s, cut, 4, 4), -2);
    assert_int_equal(value_at(&s, (int64_t[]){3, 1, 4, 1, 5}, 4, 4), -2);
}

// A quotient of a quotient is one of the symbol; neither is known before it was added.
TEST(knows_quotients)
{
    struct sizes s FREED_BY(sizes_free) = two_symbols();
    int64_t at[3][N_PROBES];
    for (int k = 0; k < N_PROBES; k++) {
        at[0][k] = s.probes[k][0];
        at[1][k] = (at[0][k] + 1) / 2;
        at[2][k] = (at[1][k] - 1) / 2;
    }
    assert_int_equal(value_at(&s, at[1], 4, 4), -2);
    for (int i = 0; i < 2; i++)
        sizes_add_quotient(&s, at[i], i ? -1 : 1, 2);
    for (int x = 3; x < 40; x++) {
        assert_int_equal(value_at(&s, at[1], x, 1), (x + 1) / 2);
        assert_int_equal(value_at(&s, at[2], x, 1), ((x + 1) / 2 - 1) / 2);
    }
    assert_int_equal(s.n_factors, 4);
    assert_int_equal(s.factors[3].divisor, 4);
}

// (6 x + 9) / 4 is (3 x + 4) / 2, of a product of symbols nothing is known, and (2 x + 4) / 2 is a sum.
TEST(brings_quotients_to_lowest_terms)
{
    struct sizes s FREED_BY(sizes_free) = two_symbols();
    int64_t six[N_PROBES], product[N_PROBES];
    for (int k = 0; k < N_PROBES; k++) {
        six[k] = 6 * s.probes[k][0];
        product[k] = s.probes[k][0] * s.probes[k][1];
    }
    sizes_add_quotient(&s, six, 9, 4);
    assert_int_equal(s.factors[2].weights[0], 3);
    assert_int_equal(s.factors[2].constant, 4);
    assert_int_equal(s.factors[2].divisor, 2);
    sizes_add_quotient(&s, six, 12, 6);
    assert_int_equal(s.factors[3].weights[0], 1);
    assert_int_equal(s.factors[3].constant, 2);
    assert_int_equal(s.factors[3].divisor, 1);
    sizes_add_quotient(&s, product, 1, 2);
    assert_int_equal(s.n_factors, 4);
}

// A third of so many times a symbol would overflow where the symbol is not chosen yet.
TEST(knows_no_quotients_of_huge_multiples)
{
    struct sizes s FREED_BY(sizes_free) = two_symbols();
    int64_t huge[N_PROBES], first[MAX_SYMBOLS];
    for (int k = 0; k < N_PROBES; k++)
        huge[k] = s.probes[k][1] << 34;
    sizes_add_quotient(&s, huge, 0, 3);
    assert_int_equal(s.n_factors, 2);
    assert_true(sizes_find_first_probe(&s, 211, first));
}

// Of 212, twice the quarter is the half; at what is found it is not.
TEST(finds_a_probe_that_tells_quotients_apart)
{
    struct sizes s = {0}, there = {0};
    struct size_form form;
    int64_t first[MAX_SYMBOLS], at[N_PROBES] = {212, 150, 96, 331, 5003}, half[N_PROBES], twice[N_PROBES];
    for (int i = 0; i < 2; i++) {
        struct sizes *sizes = i ? &there : &s;
        at[0] = i ? first[0] : at[0];
        sizes_add_symbol(sizes, 1, at);
        for (int k = 0; k < N_PROBES; k++) {
            half[k] = at[k] / 2;
            twice[k] = half[k] / 2 * 2;
        }
        sizes_add_quotient(sizes, at, 0, 2);
        sizes_add_quotient(sizes, half, 0, 2);
        assert_true(sizes_fit(sizes, twice, &form));
        assert_int_equal(sizes_are_told_apart(sizes), i);
        assert_true(i || sizes_find_first_probe(sizes, 211, first));
    }
    assert_true(first[0] >= 4 * 211);
    sizes_free(&s);
    sizes_free(&there);
}

// Up to three symbols and a number; of four, five probes say nothing.
TEST(finds_sums_of_three)
{
    int64_t sum[2][N_PROBES], binding[MAX_SYMBOLS] = {2, 3, 5, 7};
    static const int64_t probes[4][N_PROBES] = {
        {211, 150, 96, 331, 5003}, {223, 152, 101, 359, 5391}, {227, 156, 106, 382, 5774}, {229, 157, 109, 408, 6156}};
    struct sizes s FREED_BY(sizes_free) = {0};
    for (int i = 0; i < 4; i++)
        sizes_add_symbol(&s, 1, probes[i]);
    for (int k = 0; k < N_PROBES; k++) {
        sum[0][k] = 2 * probes[0][k] + probes[1][k] - probes[3][k] + 4;
        sum[1][k] = probes[0][k] + probes[1][k] + probes[2][k] + probes[3][k];
    }
    struct size_form form;
    assert_true(sizes_fit(&s, sum[0], &form));
    assert_int_equal(sizes_form_at(&s, &form, binding), 2 * 2 + 3 - 7 + 4);
    assert_false(sizes_fit(&s, sum[1], &form));
}

// A fixed number that a symbol's prime divides is taken for a multiple of it.
TEST(tells_what_is_not_told_apart)
{
    struct sizes s FREED_BY(sizes_free) = two_symbols();
    assert_int_equal(value_at(&s, (int64_t[]){422, 422, 422, 422, 422}, 4, 4), 422);
    assert_false(sizes_are_told_apart(&s));
}

TEST(sizes_beyond_any_tensor_are_none)
{
    struct sizes s FREED_BY(sizes_free) = two_symbols();
    int64_t many = (int64_t)1 << 40;
    assert_int_equal(sizes_at(&s, 211 * 223, (int64_t[MAX_SYMBOLS]){many, many}), -1);
}

// A reshape of x to (x * 4, 2) at other sizes, and one to a fixed shape, which is ill-typed there.
TEST(makes_nodes_at_a_binding)
{
    ARENA(arena);
    struct graph g, there;
    struct sizes s FREED_BY(sizes_free) = two_symbols();
    node_id nodes[2], copy;
    graph_init(&g, &arena);
    graph_init(&there, &arena);
    struct type type = type_make(DTYPE_F32, 2, (int64_t[]){211, 8});
    tensor_id x = graph_add_leaf(&g, operators[OP_INPUT], 0, &type);
    int64_t shapes[2][2] = {{844, 2}, {8, 211}};
    for (int i = 0; i < 2; i++)
        assert_true(graph_add(&g, operators[OP_RESHAPE], &(struct attribute_value){2, shapes[i]}, 1, &x, &nodes[i]));
    int64_t binding[MAX_SYMBOLS] = {3, 1};
    assert_true(sizes_add_node(&s, binding, &there, &g, g.tensors.items[x].producer, NULL, &copy));
    tensor_id moved = graph_output_of(&there, copy, 0);
    assert_int_equal(graph_type(&there, moved)->dim[0], 3);
    assert_true(sizes_add_node(&s, binding, &there, &g, nodes[0], &moved, &copy));
    assert_int_equal(graph_type(&there, graph_output_of(&there, copy, 0))->dim[0], 12);
    type = type_make(DTYPE_F32, 2, (int64_t[]){5, 8});
    tensor_id other = graph_add_leaf(&there, operators[OP_INPUT], 1, &type);
    assert_false(sizes_add_node(&s, binding, &there, &g, nodes[1], &other, &copy));
    graph_free(&there);
    graph_free(&g);
}
