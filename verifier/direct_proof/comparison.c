// Evaluates both sides as polynomials, and as numbers where these differ.
#include "verifier/direct_proof/comparison.h"

#include "verifier/bounds/representatives.h"
#include "verifier/direct_proof/number_values.h"
#include "verifier/polynomials/polynomial_values.h"
#include "verifier/polynomials/signs.h"
#include <math.h>

// --- values ----------------------------------------------------------------------------------------------------------

struct values {
    polynomial **symbolic[MAX_RULE_NODES];   // one array per output
    polynomial *symbolic_inputs[MAX_RULE_VARIABLES];
    node_set nodes;          // those evaluated
    bool has_needs;          // symbolically only what representatives need
    bool divides_integers;   // which polynomials do not
    struct needs needs;
};

static node_set nodes_of_pairs(const struct equation *eq)
{
    node_set nodes = 0;
    for (uint32_t i = 0; i < eq->n_pairs; i++)
        nodes |= equation_nodes_of_term(eq->pattern, eq->left[i]) | equation_nodes_of_term(eq->pattern, eq->right[i]);
    return nodes;
}

static void make_symbolic_inputs(const struct instance *in, struct polynomial_pool *pool, struct values *v)
{
    uint32_t number = 0;
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++) {
        if (!in->types[i])
            continue;
        int64_t n = type_elements(in->types[i]);
        v->symbolic_inputs[i] = arena_array(in->scratch, polynomial, n + 1);
        for (int64_t j = 0; j < n; j++)
            v->symbolic_inputs[i][j] = polynomial_variable(pool, number++);
    }
}

static const polynomial *symbolic_term(const struct instance *in, const struct values *v, term_id term)
{
    const struct term *t = &in->equation->pattern->terms.items[term];
    return t->is_variable ? v->symbolic_inputs[t->index] : v->symbolic[t->index][t->output];
}

static bool evaluate_node_symbolically(const struct instance *in, struct polynomial_pool *pool, struct values *v,
                                       uint32_t node)
{
    const struct pattern_node *n = &in->equation->pattern->nodes.items[node];
    const struct definition *d = typing_definition(in->typing, in->calls[node]);
    const polynomial *inputs[MAX_RULE_VARIABLES];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = symbolic_term(in, v, n->inputs[i]);
    v->symbolic[node] = arena_array(in->scratch, polynomial *, d->n_outputs);
    for (int i = 0; i < d->n_outputs; i++)
        v->symbolic[node][i] = arena_array(in->scratch, polynomial, type_elements(definition_output(d, i)) + 1);
    pool->relu_is_any_function = pattern_node_has_activation(n, in->any_activation);
    bool needed_reals = pool->needs_reals;
    pool->needs_reals = false;
    bool has_values = evaluate_polynomials(d, pool, inputs, v->has_needs ? v->needs.of_node[node] : NULL,
                                           v->symbolic[node], in->scratch);
    v->divides_integers = pool->needs_reals && !dtype_is_float(definition_output(d, 0)->dtype);
    pool->needs_reals = pool->needs_reals || needed_reals;
    return has_values && !v->divides_integers;
}

static bool evaluate_symbolically(const struct instance *in, struct polynomial_pool *pool, struct values *v)
{
    polynomial_pool_clear(pool);
    make_symbolic_inputs(in, pool, v);
    for (uint32_t i = 0; i < in->equation->pattern->nodes.count; i++)
        if ((v->nodes >> i & 1) && in->calls[i] && !evaluate_node_symbolically(in, pool, v, i))
            return false;
    return true;
}

// --- numbers ---------------------------------------------------------------------------------------------------------

static bool is_other_number(double x, double y)
{
    if (isinf(x) || isinf(y))
        return !isnan(x) && !isnan(y) && x != y;
    return fabs(x - y) > 1e-6 * (1 + fabs(x) + fabs(y));
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
    int64_t n = 0;
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++)
        n += in->types[i] ? type_elements(in->types[i]) : 0;
    return n;
}

// Looks for inputs on which the entries of a pair really differ. Where there are few entries each has to be of the one
// sign, or truth value, at which they do.
#define FEW_ENTRIES 8
static bool confirm(const struct instance *in, struct number_values *v, uint32_t pair, struct difference *ret)
{
    uint64_t tries = count_input_entries(in) <= FEW_ENTRIES ? 90 : 9;
    for (uint64_t seed = 0; seed < tries; seed++) {
        number_values_evaluate(in, seed, v);
        if (find_number(in, v, pair, seed, is_other_number, ret))
            return true;
    }
    return false;
}

// --- comparison ------------------------------------------------------------------------------------------------------

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
    if (eq->is_strong && !type_equal_split(of_x, of_y))
        return COMPARISON_OTHER_SPLIT_TREE;
    return COMPARISON_EQUAL;
}

// Cases are enough for one formula at all places alone: bounds are argued of normal forms (bounds.md, 2.1).
static bool are_equal_by_cases(const struct instance *in, struct polynomial_pool *pool, polynomial x, polynomial y)
{
    return equation_is_entry_by_entry(in->equation) && signs_make_equal(pool, x, y);
}

static bool find_other_polynomial(const struct instance *in, struct polynomial_pool *pool, const struct values *v,
                                  uint32_t pair, struct difference *ret)
{
    const struct equation *eq = in->equation;
    const polynomial *x = symbolic_term(in, v, eq->left[pair]), *y = symbolic_term(in, v, eq->right[pair]);
    int64_t n = type_elements(typing_type(in->typing, instance_term_type(in, eq->left[pair])));
    for (int64_t i = 0; i < n; i++)
        if (x[i] != y[i] && (!v->has_needs || v->needs.of_pair[pair][i]) && !are_equal_by_cases(in, pool, x[i], y[i])) {
            ret->entry = i;
            ret->left = x[i];
            ret->right = y[i];
            ret->has_polynomials = true;
            return true;
        }
    return false;
}

// Numbers may confirm another entry than the first symbolic difference, which may have been left out: its polynomials
// are the ones to show.
static void show_confirmed_entry(const struct instance *in, struct polynomial_pool *pool, struct values *v,
                                 struct difference *ret)
{
    const struct equation *eq = in->equation;
    if (v->has_needs) {
        v->has_needs = false;
        ret->has_polynomials = evaluate_symbolically(in, pool, v) && !pool->has_overflowed;
    }
    if (!ret->has_polynomials)
        return;
    ret->left = symbolic_term(in, v, eq->left[ret->pair])[ret->entry];
    ret->right = symbolic_term(in, v, eq->right[ret->pair])[ret->entry];
}

static enum comparison compare_values(struct instance *in, struct polynomial_pool *pool, bool with_numbers,
                                      uint32_t pairs_to_compare, struct difference *ret)
{
    struct values v = {.nodes = nodes_of_pairs(in->equation)};
    struct number_values numbers = {.nodes = v.nodes};
    v.has_needs = representatives_find(in, pairs_to_compare, v.nodes, &v.needs);
    bool has_values = evaluate_symbolically(in, pool, &v) && !pool->has_overflowed;
    ret->needs_reals = pool->needs_reals;
    for (uint32_t i = 0; i < in->equation->n_pairs; i++) {
        if (!(pairs_to_compare >> i & 1))
            continue;
        ret->pair = i;
        if (has_values && !find_other_polynomial(in, pool, &v, i, ret))
            continue;
        if (with_numbers && confirm(in, &numbers, i, ret)) {
            if (has_values)
                show_confirmed_entry(in, pool, &v, ret);
            return COMPARISON_OTHER_VALUE;
        }
        ret->reason = pool->has_overflowed ? "a coefficient overflows"
                      : v.divides_integers ? "integers are divided"
                      : !has_values        ? "the meaning depends on data"
                                           : "normal forms differ, but no numbers were found that do";
        return COMPARISON_UNDECIDED;
    }
    return COMPARISON_EQUAL;
}

bool instance_has_values_on_both_sides(const struct instance *in)
{
    for (uint32_t i = 0; i < in->equation->n_pairs; i++)
        if (compare_types(in, i) != COMPARISON_EQUAL)
            return false;
    return true;
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

static int64_t entries_of_node(const struct instance *in, uint32_t node)
{
    const struct definition *d = typing_definition(in->typing, in->calls[node]);
    int64_t entries = 0;
    for (int i = 0; i < d->n_stages && entries <= MOST_ENTRIES; i++)
        entries += type_elements(&d->stages[i].type);
    return entries;
}

bool instance_is_too_large(const struct instance *in)
{
    node_set nodes = nodes_of_pairs(in->equation);
    int64_t entries = 0;
    for (uint32_t i = 0; i < in->equation->pattern->n_variables && entries <= MOST_ENTRIES; i++)
        entries += in->types[i] ? type_elements(in->types[i]) : 0;
    for (uint32_t i = 0; i < in->equation->pattern->nodes.count && entries <= MOST_ENTRIES; i++)
        entries += (nodes >> i & 1) && in->calls[i] ? entries_of_node(in, i) : 0;
    return entries > MOST_ENTRIES;
}

enum comparison instance_compare(struct instance *in, struct polynomial_pool *pool, bool with_numbers,
                                 struct difference *ret_difference)
{
    struct arena_mark mark = arena_mark(in->scratch);
    uint32_t pairs = compare_all_types(in, ret_difference);
    if (pairs && instance_is_too_large(in))
        ret_difference->kind = COMPARISON_TOO_LARGE;
    else if (pairs)
        ret_difference->kind = compare_values(in, pool, with_numbers, pairs, ret_difference);
    arena_release(in->scratch, mark);
    return ret_difference->kind;
}

enum comparison instance_compare_types(const struct instance *in, struct difference *ret_difference)
{
    if (compare_all_types(in, ret_difference))
        ret_difference->kind = COMPARISON_EQUAL;
    return ret_difference->kind;
}

static void compare_numbers(const struct instance *in, const struct number_values *v, uint32_t pair, uint64_t seed,
                            struct difference *ret)
{
    bool differs = find_number(in, v, pair, seed, is_other_number, ret);
    bool is_on_one = !differs && find_number(in, v, pair, seed, is_on_one_side, ret);
    bool overflows = is_on_one && number_values_overflow(in, v);
    ret->is_number_on_one_side = ret->is_number_on_one_side || overflows;
    ret->kind = differs || (is_on_one && !overflows) ? COMPARISON_OTHER_VALUE : ret->kind;
}

enum comparison instance_compare_numbers(struct instance *in, uint64_t seed, struct difference *ret_difference)
{
    struct number_values v = {.nodes = nodes_of_pairs(in->equation)};
    struct arena_mark mark = arena_mark(in->scratch);
    uint32_t pairs = compare_all_types(in, ret_difference);
    if (pairs) {
        number_values_evaluate(in, seed, &v);
        ret_difference->kind = COMPARISON_EQUAL;
    }
    for (uint32_t i = 0; i < in->equation->n_pairs && ret_difference->kind == COMPARISON_EQUAL; i++)
        if (pairs >> i & 1)
            compare_numbers(in, &v, i, seed, ret_difference);
    arena_release(in->scratch, mark);
    return ret_difference->kind;
}
