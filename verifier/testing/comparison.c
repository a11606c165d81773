// Both sides at numbers, where their types are the same.
#include "verifier/testing/comparison.h"

#include "verifier/limits.h"
#include "verifier/testing/number_values.h"
#include <math.h>

// --- numbers ---------------------------------------------------------------------------------------------------------

static bool is_other_number(double x, double y)
{
    return isinf(x) || isinf(y) ? !isnan(x) && !isnan(y) && x != y : fabs(x - y) > 1e-6 * (1 + fabs(x) + fabs(y));
}

static bool is_on_one_side(double x, double y)
{
    return (isnan(x) && isfinite(y)) || (isfinite(x) && isnan(y));
}

// Do the numbers of a pair differ? They were evaluated at inputs of this seed.
static bool find_number(const struct instance *in, const struct number_values *v, uint32_t pair, uint64_t seed,
                        bool (*is_such)(double x, double y), struct difference *ret)
{
    const struct equation *eq = in->equation;
    int64_t n = type_elements(typing_type(in->typing, instance_term_type(in, eq->left[pair])));
    const double *x = number_values_of_term(in, v, eq->left[pair]), *y = number_values_of_term(in, v, eq->right[pair]);
    for (int64_t i = 0; i < n; i++)
        if (is_such(x[i], y[i])) {
            ret->pair = pair;
            ret->entry = i;
            ret->left_value = x[i];
            ret->right_value = y[i];
            ret->seed = seed;
            return true;
        }
    return false;
}

static int64_t count_input_entries(const struct instance *in)
{
    return SUM_ALL(int64_t, uint32_t, i, in->equation->pattern->n_variables,
                   in->types[i] ? type_elements(in->types[i]) : 0);
}

// --- types -----------------------------------------------------------------------------------------------------------

static enum comparison compare_types(const struct instance *in, uint32_t pair)
{
    const struct equation *eq = in->equation;
    type_id x = instance_term_type(in, eq->left[pair]), y = instance_term_type(in, eq->right[pair]);
    if (x == NO_TYPE || y == NO_TYPE)
        return x == y         ? COMPARISON_BOTH_ILL_TYPED
               : x == NO_TYPE ? COMPARISON_LEFT_ILL_TYPED
                              : COMPARISON_RIGHT_ILL_TYPED;
    const struct type *of_x = typing_type(in->typing, x), *of_y = typing_type(in->typing, y);
    if (!type_equal(of_x, of_y))
        return COMPARISON_OTHER_TYPE;
    return eq->is_strong && !type_equal_split(of_x, of_y) ? COMPARISON_OTHER_SPLIT_TREE : COMPARISON_EQUAL;
}

bool instance_has_values_on_both_sides(const struct instance *in)
{
    return ALL(uint32_t, i, in->equation->n_pairs, compare_types(in, i) == COMPARISON_EQUAL);
}

// The pairs with types on both sides, whose values are left to be compared, one bit each. 0: types decided it.
static uint32_t compare_all_types(const struct instance *in, struct difference *ret)
{
    uint32_t pairs_to_compare = 0;
    *ret = (struct difference){0};
    for (uint32_t i = 0; i < in->equation->n_pairs; i++) {
        ret->pair = i;
        ret->kind = compare_types(in, i);
        if (ret->kind != COMPARISON_EQUAL && ret->kind != COMPARISON_BOTH_ILL_TYPED)
            return 0;
        pairs_to_compare |= (uint32_t)(ret->kind == COMPARISON_EQUAL) << i;
    }
    return pairs_to_compare;
}

enum comparison instance_compare_types(const struct instance *in, struct difference *ret_difference)
{
    if (compare_all_types(in, ret_difference))
        ret_difference->kind = COMPARISON_EQUAL;
    return ret_difference->kind;
}

// --- values ----------------------------------------------------------------------------------------------------------

static void compare_numbers(const struct instance *in, const struct number_values *v, uint32_t pair, uint64_t seed,
                            struct difference *ret)
{
    bool differs = find_number(in, v, pair, seed, is_other_number, ret);
    bool is_on_one = !differs && find_number(in, v, pair, seed, is_on_one_side, ret);
    bool overflows = is_on_one && number_values_overflow(in, v);
    ret->is_number_on_one_side = ret->is_number_on_one_side || overflows;
    ret->kind = differs || (is_on_one && !overflows) ? COMPARISON_OTHER_VALUE : ret->kind;
}

// Each of few entries has to be of the one sign, or truth value, at which the sides differ.
static uint64_t assignments_of(const struct instance *in)
{
    return count_input_entries(in) <= FEW_ENTRIES ? ASSIGNMENTS_OF_FEW : ASSIGNMENTS;
}

// The pairs whose types are the same on both sides.
static void compare_values(struct instance *in, uint32_t pairs, uint64_t seed, struct difference *ret)
{
    struct number_values v = {.nodes = equation_nodes_of_pairs(in->equation)};
    ARENA_MARK(mark, in->scratch);
    number_values_evaluate(in, seed, &v);
    for (uint32_t i = 0; i < in->equation->n_pairs && ret->kind == COMPARISON_EQUAL; i++)
        if (pairs >> i & 1)
            compare_numbers(in, &v, i, seed, ret);
}

enum comparison instance_compare(struct instance *in, struct difference *ret_difference)
{
    uint32_t pairs = compare_all_types(in, ret_difference);
    if (!pairs)
        return ret_difference->kind;
    ret_difference->kind = instance_has_more_entries(in, MOST_ENTRIES) ? COMPARISON_TOO_LARGE : COMPARISON_EQUAL;
    for (uint64_t seed = 0; seed < assignments_of(in) && ret_difference->kind == COMPARISON_EQUAL; seed++)
        compare_values(in, pairs, seed, ret_difference);
    return ret_difference->kind;
}

enum comparison instance_compare_numbers(struct instance *in, uint64_t seed, struct difference *ret_difference)
{
    uint32_t pairs = compare_all_types(in, ret_difference);
    if (pairs)
        ret_difference->kind = COMPARISON_EQUAL;
    if (pairs)
        compare_values(in, pairs, seed, ret_difference);
    return ret_difference->kind;
}
