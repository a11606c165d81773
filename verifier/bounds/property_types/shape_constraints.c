// Linear polynomials of sizes and attributes, and what is never negative whatever they are (bounds.md, 3).
#include "verifier/bounds/property_types/shape_constraints.h"

#include <string.h>

// --- polynomials -----------------------------------------------------------------------------------------------------

static polynomial demands_number(struct demands *d, int64_t n)
{
    return polynomial_from_real(d->pool, (double)n);
}

polynomial demands_add(struct demands *d, polynomial a, polynomial b)
{
    return polynomial_apply(d->pool, FN_ADD, a, b, 0);
}

polynomial demands_subtract(struct demands *d, polynomial a, polynomial b)
{
    return polynomial_apply(d->pool, FN_SUB, a, b, 0);
}

polynomial demands_multiply(struct demands *d, polynomial a, polynomial b)
{
    return polynomial_apply(d->pool, FN_MUL, a, b, 0);
}

bool demands_is_number(const struct polynomial_pool *p, polynomial a, int64_t *ret_n)
{
    struct pool_range range = p->polynomials.items[a];
    const struct polynomial_term *t = &p->terms.items[range.first];
    uint32_t factors[MOST_FACTORS];
    *ret_n = range.count ? t->numerator : 0;
    return range.count == 0 ||
           (range.count == 1 && t->denominator == 1 && monomial_factors(&p->monomials, t->monomial, factors) == 0);
}

// All indeterminates are at least 0.
bool demands_is_never_negative(const struct polynomial_pool *p, polynomial a)
{
    struct pool_range range = p->polynomials.items[a];
    for (uint32_t i = 0; i < range.count; i++)
        if (p->terms.items[range.first + i].numerator < 0)
            return false;
    return true;
}

// Indeterminates: what sizes are more than 1, what entries of attributes are more than the least one, and quotients.
#define INDETERMINATES_OF_ATTRIBUTES (MAX_RULE_VARIABLES * MAX_RANK)
#define INDETERMINATES_OF_STEPS (INDETERMINATES_OF_ATTRIBUTES + MAX_RULE_VARIABLES * MAX_ENTRIES)

polynomial demands_size(struct demands *d, uint32_t v, int axis)
{
    if (d->sizes[v][axis] == POLYNOMIAL_ZERO)
        d->sizes[v][axis] = demands_add(d, polynomial_variable(d->pool, v * MAX_RANK + (uint32_t)axis), POLYNOMIAL_ONE);
    return d->sizes[v][axis];
}

polynomial demands_entry(struct demands *d, uint32_t variable, uint32_t i, int64_t least)
{
    polynomial own = polynomial_variable(d->pool, INDETERMINATES_OF_ATTRIBUTES + variable * MAX_ENTRIES + i);
    return demands_add(d, own, demands_number(d, least));
}

static polynomial product_of(struct demands *d, monomial m)
{
    uint32_t factors[MOST_FACTORS], n = monomial_factors(&d->pool->monomials, m, factors);
    polynomial product = POLYNOMIAL_ONE;
    for (uint32_t i = 0; i < n; i++)
        product = demands_multiply(d, product, d->pool->of_atoms.items[factors[i]]);
    return product;
}

// What is left of the room when whole strides that its terms have are taken away: all coefficients are from 0 and below
// the stride. False: some are fractions.
static bool take_whole_strides(struct demands *d, polynomial room, int64_t stride, polynomial *ret_rest)
{
    struct pool_range range = d->pool->polynomials.items[room];
    *ret_rest = POLYNOMIAL_ZERO;
    for (uint32_t i = 0; i < range.count; i++) {
        struct polynomial_term t = d->pool->terms.items[range.first + i];   // the pool grows below
        int64_t rest = (t.numerator % stride + stride) % stride;
        if (t.denominator != 1)
            return false;
        *ret_rest = demands_add(d, *ret_rest, polynomial_scale(d->pool, product_of(d, t.monomial), rest, 1));
    }
    return true;
}

static polynomial quotient_of(struct demands *d, polynomial room, polynomial stride)
{
    struct steps *s = d->steps;
    uint32_t i = 0;
    while (i < s->count && (s->room[i] != room || s->stride[i] != stride))
        i++;
    if (i == MAX_STEPS) {
        d->is_beyond = true;
        return POLYNOMIAL_ZERO;
    }
    s->room[i] = room;
    s->stride[i] = stride;
    s->count += i == s->count;
    return polynomial_variable(d->pool, INDETERMINATES_OF_STEPS + i);
}

// How many whole strides the room has. Strides that are numbers are taken out of it as often as its terms have them; of
// what is left, equal rooms and strides have equal quotients, and nothing else is said.
polynomial demands_steps(struct demands *d, polynomial room, polynomial stride)
{
    polynomial rest;
    int64_t n, small;
    if (stride == POLYNOMIAL_ONE)
        return room;
    if (!demands_is_number(d->pool, stride, &n) || n < 1 || !take_whole_strides(d, room, n, &rest))
        return quotient_of(d, room, stride);
    polynomial whole = polynomial_scale(d->pool, demands_subtract(d, room, rest), 1, n);
    return demands_is_number(d->pool, rest, &small) ? whole : demands_add(d, whole, quotient_of(d, rest, stride));
}

// q + a is at least 0, with q whole strides in a room, where the room and a strides are: a has whole values only.
static polynomial without_quotient(struct demands *d, polynomial a)
{
    polynomial rest;
    int64_t stride;
    for (uint32_t i = 0; i < d->steps->count; i++) {
        polynomial quotient = polynomial_variable(d->pool, INDETERMINATES_OF_STEPS + i);
        polynomial others = demands_subtract(d, a, quotient);
        bool is_one_less = d->pool->polynomials.items[others].count < d->pool->polynomials.items[a].count;
        if (is_one_less && demands_is_number(d->pool, d->steps->stride[i], &stride) &&
            take_whole_strides(d, others, 1, &rest))
            return demands_add(d, d->steps->room[i], demands_multiply(d, others, d->steps->stride[i]));
    }
    return a;
}

void demands_ask(struct demands *d, enum demand_kind kind, polynomial a, polynomial b)
{
    int64_t n;
    if (kind == AT_LEAST_ZERO && !demands_is_never_negative(d->pool, a))
        a = without_quotient(d, a);
    if (kind == MEETS_IMAGE && !demands_is_never_negative(d->pool, b))
        b = without_quotient(d, b);
    bool is_met = (kind == AT_LEAST_ZERO && demands_is_never_negative(d->pool, a)) || (kind == IS_EQUAL && a == b) ||
                  (kind == IS_EVEN && demands_is_number(d->pool, a, &n) && n % 2 == 0) ||
                  (kind == MEETS_IMAGE && (a == POLYNOMIAL_ZERO || demands_is_never_negative(d->pool, b)));
    for (uint32_t i = 0; i < d->count && !is_met; i++)
        is_met = d->items[i].kind == kind && d->items[i].a == a && d->items[i].b == b;
    if (is_met)
        return;
    if (d->count == MAX_DEMANDS)
        d->is_beyond = true;
    else
        d->items[d->count++] = (struct demand){kind, a, b};
}

static bool is_size_of_variable(struct demands *d, polynomial a)
{
    for (uint32_t v = 0; v < d->eq->pattern->n_variables; v++)
        for (int axis = 0; axis < MAX_RANK; axis++)
            if (demands_size(d, v, axis) == a)
                return true;
    return false;
}

// Two sizes are equal: the one of a variable gives way to another one's, or to a number.
static bool replace_size(struct demands *d, polynomial a, polynomial b)
{
    int64_t n;
    if (demands_is_number(d->pool, a, &n) || !is_size_of_variable(d, a) ||
        !(demands_is_number(d->pool, b, &n) || is_size_of_variable(d, b)))
        return false;
    for (uint32_t v = 0; v < d->eq->pattern->n_variables; v++)
        for (int axis = 0; axis < MAX_RANK; axis++)
            d->sizes[v][axis] = d->sizes[v][axis] == a ? b : d->sizes[v][axis];
    return true;
}

void demands_ask_equal(struct demands *d, polynomial a, polynomial b)
{
    if (a == b)
        return;
    if (replace_size(d, a, b) || replace_size(d, b, a))
        d->has_changed = true;
    demands_ask(d, IS_EQUAL, a < b ? a : b, a < b ? b : a);
}

// --- attributes ------------------------------------------------------------------------------------------------------

static void beyond(struct demands *d, struct entries *ret)
{
    d->is_beyond = true;
    ret->count = 0;
}

static void set_single(struct entries *ret, polynomial a)
{
    ret->count = 1;
    ret->items[0] = a;
}

static const struct window_list window_lists[] = {
    {ROLE_STRIDE, 1, 1}, {ROLE_WINDOW_PADS, 2, 0}, {ROLE_DILATION, 1, 1}, {ROLE_KERNEL, 1, 1}};
#define N_WINDOW_LISTS (sizeof window_lists / sizeof *window_lists)

// The list that the variable is, alone, of one of the nodes that are required; NULL: of none.
const struct window_list *demands_find_list(const struct pattern *p, node_set nodes, uint32_t variable,
                                            bool *ret_is_whole)
{
    const struct window_list *found = NULL;
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (size_t k = 0; (nodes >> n & 1) && k < N_WINDOW_LISTS; k++) {
            const struct attribute_pattern *list = pattern_node_attribute(&p->nodes.items[n], window_lists[k].role);
            for (uint32_t j = 0; j < list->count; j++)
                if (list->terms[j]->kind == TERM_VARIABLE && list->terms[j]->value == variable &&
                    (!found || found->least < window_lists[k].least)) {
                    found = &window_lists[k];
                    *ret_is_whole = list->count == 1;
                }
        }
    return found;
}

static void entries_of_variable(struct demands *d, uint32_t variable, struct entries *ret)
{
    bool is_whole = false;
    if (d->axis_variables >> variable & 1) {
        set_single(ret, demands_number(d, d->axes[variable]));
        return;
    }
    const struct window_list *list = demands_find_list(d->eq->pattern, ~(node_set)0, variable, &is_whole);
    if (!list) {
        beyond(d, ret);
        return;
    }
    ret->count = is_whole ? list->per_axis * (uint32_t)(d->rank - FIRST_SPATIAL) : 1;
    for (uint32_t i = 0; i < ret->count; i++)
        ret->items[i] = demands_entry(d, variable, i, list->least);
}

static void combine(struct demands *d, const struct attribute_term *t, struct entries *ret)
{
    struct entries x, y;
    int64_t divisor;
    demands_evaluate(d, t->operands[0], &x);
    demands_evaluate(d, t->operands[1], &y);
    ret->count = x.count == 1 ? y.count : x.count;
    if (x.count != y.count && x.count != 1 && y.count != 1) {
        d->is_impossible = true;
        ret->count = 0;
    }
    for (uint32_t i = 0; i < ret->count; i++) {
        polynomial a = x.items[x.count == 1 ? 0 : i], b = y.items[y.count == 1 ? 0 : i];
        if (t->kind != TERM_DIV)
            ret->items[i] = t->kind == TERM_ADD   ? demands_add(d, a, b)
                            : t->kind == TERM_SUB ? demands_subtract(d, a, b)
                                                  : demands_multiply(d, a, b);
        else if (demands_is_number(d->pool, b, &divisor) && divisor == 2) {
            demands_ask(d, IS_EVEN, a, POLYNOMIAL_ZERO);
            ret->items[i] = polynomial_scale(d->pool, a, 1, 2);
        } else {
            beyond(d, ret);
            return;
        }
    }
}

static void append(struct demands *d, struct entries *list, const struct entries *more)
{
    if (list->count + more->count > MAX_ENTRIES) {
        beyond(d, list);
        return;
    }
    memcpy(list->items + list->count, more->items, more->count * sizeof *more->items);
    list->count += more->count;
}

static void select_entries(struct demands *d, const struct attribute_term *t, struct entries *ret)
{
    struct entries count, list;
    int64_t n;
    ret->count = 0;
    demands_evaluate(d, t->operands[0], &count);
    demands_evaluate(d, t->operands[1], &list);
    if (count.count != 1 || !demands_is_number(d->pool, count.items[0], &n) || n < 0 || n > MAX_ENTRIES) {
        beyond(d, ret);
        return;
    }
    if (t->kind == TERM_REPEAT)
        for (int64_t i = 0; i < n; i++)
            append(d, ret, &list);
    else if (n > list.count)
        d->is_impossible = true;
    else
        for (uint32_t i = t->kind == TERM_DROP ? (uint32_t)n : 0; i < (t->kind == TERM_DROP ? list.count : n); i++)
            ret->items[ret->count++] = list.items[i];
}

// Is the variable an input of one side? All that operators of windows read and make has one rank.
bool demands_reads(const struct equation *eq, int64_t variable)
{
    node_set nodes =
        equation_nodes_of_term(eq->pattern, eq->left[0]) | equation_nodes_of_term(eq->pattern, eq->right[0]);
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        for (uint32_t i = 0; (nodes >> n & 1) && i < eq->pattern->nodes.items[n].n_inputs; i++) {
            const struct term *t = &eq->pattern->terms.items[eq->pattern->nodes.items[n].inputs[i]];
            if (t->is_variable && t->index == variable)
                return true;
        }
    return false;
}

static void evaluate_size(struct demands *d, const struct attribute_term *t, struct entries *ret)
{
    struct entries axis;
    int64_t n;
    bool has_rank = demands_reads(d->eq, t->value);
    if (t->kind == TERM_DIMS && !has_rank) {
        beyond(d, ret);
        return;
    }
    if (t->kind == TERM_DIMS) {
        ret->count = (uint32_t)d->rank;
        for (int a = 0; a < d->rank; a++)
            ret->items[a] = demands_size(d, (uint32_t)t->value, a);
        return;
    }
    demands_evaluate(d, t->operands[0], &axis);
    if (axis.count != 1 || !demands_is_number(d->pool, axis.items[0], &n))
        beyond(d, ret);
    else if (n < 0 || n >= (has_rank ? d->rank : MAX_RANK))
        d->is_impossible = true;
    else
        set_single(ret, demands_size(d, (uint32_t)t->value, (int)n));
}

void demands_evaluate(struct demands *d, const struct attribute_term *t, struct entries *ret)
{
    struct entries part;
    ret->count = 0;
    switch (t->kind) {
    case TERM_INTEGER:
        set_single(ret, demands_number(d, t->value));
        break;
    case TERM_VARIABLE:
        entries_of_variable(d, (uint32_t)t->value, ret);
        break;
    case TERM_DIM:
    case TERM_DIMS:
        evaluate_size(d, t, ret);
        break;
    case TERM_ADD:
    case TERM_SUB:
    case TERM_MUL:
    case TERM_DIV:
        combine(d, t, ret);
        break;
    case TERM_TAKE:
    case TERM_DROP:
    case TERM_REPEAT:
        select_entries(d, t, ret);
        break;
    case TERM_LIST:
        for (uint32_t i = 0; i < t->count; i++) {
            demands_evaluate(d, t->operands[i], &part);
            append(d, ret, &part);
        }
        break;
    default:
        beyond(d, ret);
        break;
    }
}

// The entries of an attribute, `standard` each where it is left out.
void demands_evaluate_attribute(struct demands *d, uint32_t node, enum attribute_role role, uint32_t length,
                                int64_t standard, struct entries *ret)
{
    const struct attribute_pattern *given = pattern_node_attribute(&d->eq->pattern->nodes.items[node], role);
    ret->count = 0;
    for (uint32_t i = 0; i < given->count; i++) {
        struct entries part;
        demands_evaluate(d, given->terms[i], &part);
        append(d, ret, &part);
    }
    if (ret->count == 0)
        for (; ret->count < length; ret->count++)
            ret->items[ret->count] = demands_number(d, standard);
    if (ret->count != length) {
        d->is_impossible = true;
        memset(ret->items, 0, sizeof ret->items);
    }
}
