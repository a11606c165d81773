// Evaluates both sides as polynomials, and as numbers where these differ.
#include "verifier/direct_proof/comparison.h"

#include "core/numbers/random.h"
#include "core/text/text.h"
#include "expressions/evaluation/evaluate.h"
#include "verifier/bounds/representatives.h"
#include "verifier/polynomials/polynomial_values.h"
#include "verifier/polynomials/signs.h"
#include <inttypes.h>
#include <math.h>

// --- values ----------------------------------------------------------------------------------------------------------

struct values {
    polynomial **symbolic[MAX_RULE_NODES];   // one array per output
    double **numbers[MAX_RULE_NODES];
    polynomial *symbolic_inputs[MAX_RULE_VARIABLES];
    double *number_inputs[MAX_RULE_VARIABLES];
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

// Small integers first, which read well in a counterexample; then positive reals, which logarithms take; then any.
// Integers are small, not negative, and any up to 30.
static double number_for(struct random *r, uint64_t seed, enum dtype dtype)
{
    if (dtype == DTYPE_BOOL)
        return (double)random_below(r, 2);
    if (!dtype_is_float(dtype) && seed % 3)
        return seed % 3 == 1 ? (double)random_below(r, 7) : (double)random_below(r, 61) - 30;
    switch (seed % 3) {
    case 0:
        return (double)random_below(r, 7) - 3;
    case 1:
        return 0.25 + random_unit(r);
    default:
        return random_normal(r);
    }
}

static void make_number_inputs(const struct instance *in, uint64_t seed, struct values *v)
{
    struct random r = random_seed(seed);
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++) {
        if (!in->types[i])
            continue;
        int64_t n = type_elements(in->types[i]);
        v->number_inputs[i] = arena_array(in->scratch, double, n + 1);
        for (int64_t j = 0; j < n; j++)
            v->number_inputs[i][j] = number_for(&r, seed, in->types[i]->dtype);
    }
}

static const double *numbers_of_term(const struct instance *in, const struct values *v, term_id term)
{
    const struct term *t = &in->equation->pattern->terms.items[term];
    return t->is_variable ? v->number_inputs[t->index] : v->numbers[t->index][t->output];
}

static bool has_floats(const struct definition *d)
{
    for (int i = 0; i < d->n_inputs + d->n_stages; i++)
        if (dtype_is_float(definition_tensor(d, i)->dtype))
            return true;
    return false;
}

static int64_t *integers_of(const double *numbers, int64_t n, struct arena *a)
{
    int64_t *integers = arena_array(a, int64_t, n + 1);
    for (int64_t i = 0; i < n && numbers; i++)
        integers[i] = (int64_t)numbers[i];
    return integers;
}

// Integers truncate what they divide.
static void evaluate_integers(const struct definition *d, const double *const *inputs, double *const *outputs,
                              struct arena *scratch)
{
    const int64_t *in[MAX_RULE_VARIABLES];
    int64_t **out = arena_array(scratch, int64_t *, d->n_outputs);
    for (int i = 0; i < d->n_inputs; i++)
        in[i] = integers_of(inputs[i], type_elements(definition_tensor(d, i)), scratch);
    for (int i = 0; i < d->n_outputs; i++)
        out[i] = integers_of(NULL, type_elements(definition_output(d, i)), scratch);
    evaluate_i64(d, in, out, scratch);
    for (int i = 0; i < d->n_outputs; i++)
        for (int64_t j = 0; j < type_elements(definition_output(d, i)); j++)
            outputs[i][j] = (double)out[i][j];
}

static void evaluate_node_numerically(const struct instance *in, struct values *v, uint32_t node)
{
    const struct pattern_node *n = &in->equation->pattern->nodes.items[node];
    const struct definition *d = typing_definition(in->typing, in->calls[node]);
    const double *inputs[MAX_RULE_VARIABLES];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        inputs[i] = numbers_of_term(in, v, n->inputs[i]);
    v->numbers[node] = arena_array(in->scratch, double *, d->n_outputs);
    for (int i = 0; i < d->n_outputs; i++)
        v->numbers[node][i] = arena_array(in->scratch, double, type_elements(definition_output(d, i)) + 1);
    if (has_floats(d))
        evaluate_f64(d, inputs, v->numbers[node], in->scratch);
    else
        evaluate_integers(d, inputs, v->numbers[node], in->scratch);
}

static void evaluate_numerically(const struct instance *in, uint64_t seed, struct values *v)
{
    make_number_inputs(in, seed, v);
    for (uint32_t i = 0; i < in->equation->pattern->nodes.count; i++)
        if ((v->nodes >> i & 1) && in->calls[i])
            evaluate_node_numerically(in, v, i);
}

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

static bool is_infinite_anywhere(const struct instance *in, const struct values *v)
{
    bool is_infinite = false;
    for (uint32_t n = 0; n < in->equation->pattern->nodes.count && !is_infinite; n++) {
        const struct definition *d =
            (v->nodes >> n & 1) && in->calls[n] ? typing_definition(in->typing, in->calls[n]) : NULL;
        for (int i = 0; d && i < d->n_outputs; i++)
            for (int64_t j = 0; j < type_elements(definition_output(d, i)) && !is_infinite; j++)
                is_infinite = isinf(v->numbers[n][i][j]);
    }
    return is_infinite;
}

// Do the numbers of a pair differ? They were evaluated at inputs of this seed.
static bool find_number(const struct instance *in, const struct values *v, uint32_t pair, uint64_t seed,
                        bool (*is_such)(double x, double y), struct difference *ret)
{
    const struct equation *eq = in->equation;
    int64_t n = type_elements(typing_type(in->typing, instance_term_type(in, eq->left[pair])));
    const double *x = numbers_of_term(in, v, eq->left[pair]), *y = numbers_of_term(in, v, eq->right[pair]);
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
static bool confirm(const struct instance *in, struct values *v, uint32_t pair, struct difference *ret)
{
    uint64_t tries = count_input_entries(in) <= FEW_ENTRIES ? 90 : 9;
    for (uint64_t seed = 0; seed < tries; seed++) {
        evaluate_numerically(in, seed, v);
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
    v.has_needs = representatives_find(in, pairs_to_compare, v.nodes, &v.needs);
    bool has_values = evaluate_symbolically(in, pool, &v) && !pool->has_overflowed;
    ret->needs_reals = pool->needs_reals;
    for (uint32_t i = 0; i < in->equation->n_pairs; i++) {
        if (!(pairs_to_compare >> i & 1))
            continue;
        ret->pair = i;
        if (has_values && !find_other_polynomial(in, pool, &v, i, ret))
            continue;
        if (with_numbers && confirm(in, &v, i, ret)) {
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

static void compare_numbers(const struct instance *in, const struct values *v, uint32_t pair, uint64_t seed,
                            struct difference *ret)
{
    bool differs = find_number(in, v, pair, seed, is_other_number, ret);
    bool is_on_one = !differs && find_number(in, v, pair, seed, is_on_one_side, ret);
    bool overflows = is_on_one && is_infinite_anywhere(in, v);
    ret->is_number_on_one_side = ret->is_number_on_one_side || overflows;
    ret->kind = differs || (is_on_one && !overflows) ? COMPARISON_OTHER_VALUE : ret->kind;
}

enum comparison instance_compare_numbers(struct instance *in, uint64_t seed, struct difference *ret_difference)
{
    struct values v = {.nodes = nodes_of_pairs(in->equation)};
    struct arena_mark mark = arena_mark(in->scratch);
    uint32_t pairs = compare_all_types(in, ret_difference);
    if (pairs) {
        evaluate_numerically(in, seed, &v);
        ret_difference->kind = COMPARISON_EQUAL;
    }
    for (uint32_t i = 0; i < in->equation->n_pairs && ret_difference->kind == COMPARISON_EQUAL; i++)
        if (pairs >> i & 1)
            compare_numbers(in, &v, i, seed, ret_difference);
    arena_release(in->scratch, mark);
    return ret_difference->kind;
}

// --- printing --------------------------------------------------------------------------------------------------------

// An attribute that is the variable; NULL: none is it alone.
static const struct attribute *attribute_of_variable(const struct pattern *p, uint32_t variable)
{
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute_pattern *a = &p->nodes.items[n].attributes[i];
            if (a->count == 1 && a->terms[0]->kind == TERM_VARIABLE && a->terms[0]->value == variable)
                return &p->nodes.items[n].op->attributes[i];
        }
    return NULL;
}

static void print_variable(struct text *out, const struct instance *in, uint32_t variable)
{
    static const struct attribute integers = {.kind = ATTRIBUTE_INTS};
    const struct attribute *attribute = attribute_of_variable(in->equation->pattern, variable);
    text_printf(out, "$%s = ", in->equation->pattern->attribute_variables[variable]);
    attribute_print(out, attribute ? attribute : &integers, &in->attributes[variable]);
}

// "x = (f32 2 2) ..." on one line, and the values of small tensors that refute it on lines of their own.
static void instance_print(struct text *out, const struct instance *in)
{
    const struct pattern *p = in->equation->pattern;
    bool is_first = true;
    for (uint32_t i = 0; i < p->n_variables; i++) {
        if (!in->types[i])
            continue;
        text_printf(out, "%s?%s = ", is_first ? "" : ", ", p->variables[i]);
        type_print(out, in->types[i]);
        for (int a = 0; a < in->types[i]->rank; a++)
            if (in->types[i]->split[a])
                text_printf(out, " cut on axis %d at %" PRId64, a, in->types[i]->split[a]->left_size);
        is_first = false;
    }
    for (uint32_t i = 0; i < p->n_attribute_variables; i++) {
        if (in->attributes[i].count == UINT32_MAX)
            continue;
        text_add(out, is_first ? "" : ", ");
        print_variable(out, in, i);
        is_first = false;
    }
}

static void print_input_entry(struct text *out, const void *context, uint32_t number)
{
    const struct instance *in = context;
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++) {
        if (!in->types[i])
            continue;
        int64_t n = type_elements(in->types[i]);
        if (number >= n) {
            number -= (uint32_t)n;
            continue;
        }
        text_printf(out, "%s[", in->equation->pattern->variables[i]);
        int64_t rest = n, at = number;
        for (int a = 0; a < in->types[i]->rank; a++) {
            rest /= in->types[i]->dim[a];
            text_printf(out, "%s%" PRId64, a ? "," : "", at / rest);
            at %= rest;
        }
        text_add(out, "]");
        return;
    }
}

static void print_numbers(struct text *out, const struct instance *in, uint64_t seed)
{
    struct values v = {0};
    make_number_inputs(in, seed, &v);
    for (uint32_t i = 0; i < in->equation->pattern->n_variables; i++) {
        if (!in->types[i])
            continue;
        int64_t n = type_elements(in->types[i]);
        text_printf(out, "\n    ?%s =", in->equation->pattern->variables[i]);
        for (int64_t j = 0; j < n && j < 32; j++)
            text_printf(out, " %.6g", v.number_inputs[i][j]);
        text_add(out, n > 32 ? " ..." : "");
    }
}

static term_id other_side(const struct instance *in, const struct difference *difference, term_id term)
{
    term_id left = in->equation->left[difference->pair], right = in->equation->right[difference->pair];
    return term == left ? right : left;
}

static void print_cuts(struct text *out, const struct split_tree *t)
{
    text_printf(out, "%" PRId64, t->left_size);
    for (int side = 0; side < 2; side++) {
        const struct split_tree *piece = side ? t->right : t->left;
        if (!piece)
            continue;
        text_add(out, side ? ", its second piece " : ", its first piece ");
        if (piece == SPLIT_ANY)
            text_add(out, "anywhere");
        else
            print_cuts(out, piece);
    }
}

// How axes are cut that the other side cuts in another way.
static void print_other_cuts(struct text *out, const struct type *t, const struct type *other)
{
    for (int axis = 0; axis < t->rank; axis++) {
        const struct split_tree *tree = t->split[axis];
        if (split_tree_equal(tree, other->split[axis]))
            continue;
        text_printf(out, ", axis %d ", axis);
        if (!tree)
            text_add(out, "is not cut");
        else if (tree == SPLIT_ANY)
            text_add(out, "is the same at all places, and cut anywhere");
        else {
            text_add(out, "is cut at ");
            print_cuts(out, tree);
        }
    }
}

static void print_side(struct text *out, const struct instance *in, const struct polynomial_pool *pool,
                       const struct difference *difference, const char *side, term_id term, polynomial value,
                       double number)
{
    text_printf(out, "\n    %s ", side);
    pattern_print_term(out, in->equation->pattern, term);
    type_id type = instance_term_type(in, term);
    if (type == NO_TYPE) {
        text_add(out, " is ill-typed");
        return;
    }
    text_add(out, " : ");
    type_print(out, typing_type(in->typing, type));
    if (difference->kind == COMPARISON_OTHER_SPLIT_TREE)
        print_other_cuts(out, typing_type(in->typing, type),
                         typing_type(in->typing, instance_term_type(in, other_side(in, difference, term))));
    if (difference->kind != COMPARISON_OTHER_VALUE)
        return;
    text_printf(out, ", entry %" PRId64 " is %.6g", difference->entry, number);
    if (difference->has_polynomials && pool->polynomials.items[value].count <= 12) {
        text_add(out, " = ");
        polynomial_print(out, pool, value, print_input_entry, in);
    }
}

void instance_print_difference(struct text *out, const struct instance *in, const struct polynomial_pool *pool,
                               const struct difference *difference)
{
    static const char *const kinds[] = {
        [COMPARISON_EQUAL] = "equal",
        [COMPARISON_BOTH_ILL_TYPED] = "both sides are ill-typed",
        [COMPARISON_LEFT_ILL_TYPED] = "only the left side is ill-typed",
        [COMPARISON_RIGHT_ILL_TYPED] = "only the right side is ill-typed",
        [COMPARISON_OTHER_TYPE] = "the sides have different types",
        [COMPARISON_OTHER_SPLIT_TREE] = "the sides have different split trees",
        [COMPARISON_OTHER_VALUE] = "the sides have different values",
        [COMPARISON_UNDECIDED] = "undecided",
        [COMPARISON_TOO_LARGE] = "too many entries",
    };
    const struct equation *eq = in->equation;
    text_printf(out, "%s%s%s at ", kinds[difference->kind], difference->reason ? ": " : "",
                difference->reason ? difference->reason : "");
    instance_print(out, in);
    struct arena_mark mark = arena_mark(in->scratch);
    if (difference->kind == COMPARISON_OTHER_VALUE)
        print_numbers(out, in, difference->seed);
    print_side(out, in, pool, difference, "left ", eq->left[difference->pair], difference->left,
               difference->left_value);
    print_side(out, in, pool, difference, "right", eq->right[difference->pair], difference->right,
               difference->right_value);
    arena_release(in->scratch, mark);
}
