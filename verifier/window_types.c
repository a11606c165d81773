#include "verifier/window_types.h"

#include "verifier/box.h"
#include "verifier/doubts.h"
#include "verifier/enumerate.h"
#include "verifier/ranks.h"
#include <string.h>

#define FIRST_SPATIAL 2
#define LARGEST_IMAGE_RANK 6
#define MAX_ENTRIES 16   // of a list
#define MAX_DEMANDS 256
#define MAX_STEPS 64     // quotients

// A list of numbers that depend on sizes and attributes; its length does not.
struct entries {
    uint32_t count;
    polynomial items[MAX_ENTRIES];
};

enum demand_kind {
    AT_LEAST_ZERO,   // a
    IS_EVEN,         // a
    IS_EQUAL,        // a and b
    MEETS_IMAGE,     // a kernel of more than one entry, a + 1, is dilated by no more than fits: b is at least 0
};
struct demand {
    enum demand_kind kind;
    polynomial a, b;
};

// What some nodes ask for, at one rank and at one value of each axis that is a variable.
struct demands {
    const struct equation *eq;
    struct polynomial_pool *pool;
    int rank;
    int64_t axes[MAX_RULE_VARIABLES];
    uint32_t axis_variables;
    polynomial sizes[MAX_RULE_VARIABLES][MAX_RANK];   // of variables
    polynomial of_nodes[MAX_RULE_NODES][MAX_RANK];
    uint32_t count;
    struct demand items[MAX_DEMANDS];
    bool is_impossible;   // the nodes are not well-typed at this rank and these axes
    bool is_beyond;       // it is not known what they ask for
    bool has_changed;     // a size was found to be another
    struct steps {
        uint32_t count;
        polynomial room[MAX_STEPS], stride[MAX_STEPS];
    } * steps;
};

// --- polynomials -----------------------------------------------------------------------------------------------------

static polynomial number(struct demands *d, int64_t n)
{
    return polynomial_from_real(d->pool, (double)n);
}

static polynomial plus(struct demands *d, polynomial a, polynomial b)
{
    return polynomial_apply(d->pool, FN_ADD, a, b, 0);
}

static polynomial minus(struct demands *d, polynomial a, polynomial b)
{
    return polynomial_apply(d->pool, FN_SUB, a, b, 0);
}

static polynomial times(struct demands *d, polynomial a, polynomial b)
{
    return polynomial_apply(d->pool, FN_MUL, a, b, 0);
}

static bool is_number(const struct polynomial_pool *p, polynomial a, int64_t *ret_n)
{
    struct pool_range range = p->polynomials.items[a];
    const struct polynomial_term *t = &p->terms.items[range.first];
    uint32_t factors[MOST_FACTORS];
    *ret_n = range.count ? t->numerator : 0;
    return range.count == 0 || (range.count == 1 && t->denominator == 1 &&
                                monomial_factors(&p->monomials, t->monomial, factors) == 0);
}

// All indeterminates are at least 0.
static bool is_never_negative(const struct polynomial_pool *p, polynomial a)
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

static polynomial size_of_variable(struct demands *d, uint32_t v, int axis)
{
    if (d->sizes[v][axis] == POLYNOMIAL_ZERO)
        d->sizes[v][axis] = plus(d, polynomial_variable(d->pool, v * MAX_RANK + (uint32_t)axis), POLYNOMIAL_ONE);
    return d->sizes[v][axis];
}

// How many whole strides the room has: equal rooms and strides have equal ones, and nothing else is said.
static polynomial steps_in_room(struct demands *d, polynomial room, polynomial stride)
{
    struct steps *s = d->steps;
    uint32_t i = 0;
    if (stride == POLYNOMIAL_ONE)
        return room;
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

static void demand(struct demands *d, enum demand_kind kind, polynomial a, polynomial b)
{
    int64_t n;
    bool is_met = (kind == AT_LEAST_ZERO && is_never_negative(d->pool, a)) || (kind == IS_EQUAL && a == b) ||
                  (kind == IS_EVEN && is_number(d->pool, a, &n) && n % 2 == 0) ||
                  (kind == MEETS_IMAGE && (a == POLYNOMIAL_ZERO || is_never_negative(d->pool, b)));
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
            if (size_of_variable(d, v, axis) == a)
                return true;
    return false;
}

// Two sizes are equal: the one of a variable gives way to another one's, or to a number.
static bool replace_size(struct demands *d, polynomial a, polynomial b)
{
    int64_t n;
    if (is_number(d->pool, a, &n) || !is_size_of_variable(d, a) ||
        !(is_number(d->pool, b, &n) || is_size_of_variable(d, b)))
        return false;
    for (uint32_t v = 0; v < d->eq->pattern->n_variables; v++)
        for (int axis = 0; axis < MAX_RANK; axis++)
            d->sizes[v][axis] = d->sizes[v][axis] == a ? b : d->sizes[v][axis];
    return true;
}

static void demand_equal(struct demands *d, polynomial a, polynomial b)
{
    if (a == b)
        return;
    if (replace_size(d, a, b) || replace_size(d, b, a))
        d->has_changed = true;
    demand(d, IS_EQUAL, a < b ? a : b, a < b ? b : a);
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

// How many entries attributes of windows have for each spatial axis, and the least value of these.
static const struct window_list {
    const char *name;
    uint32_t per_axis;
    int64_t least;
} window_lists[] = {{"stride", 1, 1}, {"pad", 2, 0}, {"dilation", 1, 1}, {"kernel", 1, 1}};
#define N_WINDOW_LISTS (sizeof window_lists / sizeof *window_lists)

// The list that the variable is, alone, of one of the nodes that are required; NULL: of none.
static const struct window_list *find_list(const struct pattern *p, node_set nodes, uint32_t variable, bool *ret_is_whole)
{
    const struct window_list *found = NULL;
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (size_t k = 0; (nodes >> n & 1) && k < N_WINDOW_LISTS; k++) {
            int attribute = operator_find_attribute(p->nodes.items[n].op, window_lists[k].name);
            const struct attribute_pattern *list = attribute < 0 ? NULL : &p->nodes.items[n].attributes[attribute];
            for (uint32_t j = 0; list && j < list->count; j++)
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
        set_single(ret, number(d, d->axes[variable]));
        return;
    }
    const struct window_list *list = find_list(d->eq->pattern, ~(node_set)0, variable, &is_whole);
    if (!list) {
        beyond(d, ret);
        return;
    }
    ret->count = is_whole ? list->per_axis * (uint32_t)(d->rank - FIRST_SPATIAL) : 1;
    for (uint32_t i = 0; i < ret->count; i++) {
        polynomial own = polynomial_variable(d->pool, INDETERMINATES_OF_ATTRIBUTES + variable * MAX_ENTRIES + i);
        ret->items[i] = plus(d, own, number(d, list->least));
    }
}

static void evaluate(struct demands *d, const struct attribute_term *t, struct entries *ret);

static void combine(struct demands *d, const struct attribute_term *t, struct entries *ret)
{
    struct entries x, y;
    int64_t divisor;
    evaluate(d, t->operands[0], &x);
    evaluate(d, t->operands[1], &y);
    ret->count = x.count == 1 ? y.count : x.count;
    if (x.count != y.count && x.count != 1 && y.count != 1) {
        d->is_impossible = true;
        ret->count = 0;
    }
    for (uint32_t i = 0; i < ret->count; i++) {
        polynomial a = x.items[x.count == 1 ? 0 : i], b = y.items[y.count == 1 ? 0 : i];
        if (t->kind != TERM_DIV)
            ret->items[i] = t->kind == TERM_ADD ? plus(d, a, b) : t->kind == TERM_SUB ? minus(d, a, b) : times(d, a, b);
        else if (is_number(d->pool, b, &divisor) && divisor == 2) {
            demand(d, IS_EVEN, a, POLYNOMIAL_ZERO);
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
    evaluate(d, t->operands[0], &count);
    evaluate(d, t->operands[1], &list);
    if (count.count != 1 || !is_number(d->pool, count.items[0], &n) || n < 0 || n > MAX_ENTRIES) {
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
static bool is_read(const struct equation *eq, int64_t variable)
{
    node_set nodes = equation_nodes_of_term(eq->pattern, eq->left[0]) | equation_nodes_of_term(eq->pattern, eq->right[0]);
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
    bool has_rank = is_read(d->eq, t->value);
    if (t->kind == TERM_DIMS && !has_rank) {
        beyond(d, ret);
        return;
    }
    if (t->kind == TERM_DIMS) {
        ret->count = (uint32_t)d->rank;
        for (int a = 0; a < d->rank; a++)
            ret->items[a] = size_of_variable(d, (uint32_t)t->value, a);
        return;
    }
    evaluate(d, t->operands[0], &axis);
    if (axis.count != 1 || !is_number(d->pool, axis.items[0], &n))
        beyond(d, ret);
    else if (n < 0 || n >= (has_rank ? d->rank : MAX_RANK))
        d->is_impossible = true;
    else
        set_single(ret, size_of_variable(d, (uint32_t)t->value, (int)n));
}

static void evaluate(struct demands *d, const struct attribute_term *t, struct entries *ret)
{
    struct entries part;
    ret->count = 0;
    switch (t->kind) {
    case TERM_INTEGER:
        set_single(ret, number(d, t->value));
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
            evaluate(d, t->operands[i], &part);
            append(d, ret, &part);
        }
        break;
    default:
        beyond(d, ret);
        break;
    }
}

// The entries of an attribute, `standard` each where it is left out.
static void evaluate_attribute(struct demands *d, uint32_t node, const char *name, uint32_t length, int64_t standard,
                               struct entries *ret)
{
    const struct pattern_node *n = &d->eq->pattern->nodes.items[node];
    int attribute = operator_find_attribute(n->op, name);
    ret->count = 0;
    for (uint32_t i = 0; attribute >= 0 && i < n->attributes[attribute].count; i++) {
        struct entries part;
        evaluate(d, n->attributes[attribute].terms[i], &part);
        append(d, ret, &part);
    }
    if (ret->count == 0)
        for (; ret->count < length; ret->count++)
            ret->items[ret->count] = number(d, standard);
    if (ret->count != length) {
        d->is_impossible = true;
        memset(ret->items, 0, sizeof ret->items);
    }
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static polynomial size_of_term(struct demands *d, term_id term, int axis)
{
    const struct term *t = &d->eq->pattern->terms.items[term];
    return t->is_variable ? size_of_variable(d, t->index, axis) : d->of_nodes[t->index][axis];
}

static void demand_window(struct demands *d, uint32_t node, bool is_pooling)
{
    const struct pattern_node *n = &d->eq->pattern->nodes.items[node];
    uint32_t axes = (uint32_t)(d->rank - FIRST_SPATIAL);
    struct entries stride, pad, dilation, kernel = {0};
    evaluate_attribute(d, node, "stride", axes, 1, &stride);
    evaluate_attribute(d, node, "pad", 2 * axes, 0, &pad);
    evaluate_attribute(d, node, "dilation", axes, 1, &dilation);
    if (is_pooling)
        evaluate_attribute(d, node, "kernel", axes, 0, &kernel);
    for (uint32_t a = 0; a < axes && !d->is_impossible && !d->is_beyond; a++) {
        int axis = FIRST_SPATIAL + (int)a;
        polynomial size = size_of_term(d, n->inputs[0], axis), begin = pad.items[a], end = pad.items[axes + a];
        polynomial further = minus(d, is_pooling ? kernel.items[a] : size_of_term(d, n->inputs[1], axis), POLYNOMIAL_ONE);
        polynomial reach = times(d, further, dilation.items[a]);
        polynomial room = minus(d, plus(d, size, plus(d, begin, end)), plus(d, reach, POLYNOMIAL_ONE));
        demand(d, AT_LEAST_ZERO, minus(d, stride.items[a], POLYNOMIAL_ONE), 0);
        demand(d, AT_LEAST_ZERO, minus(d, dilation.items[a], POLYNOMIAL_ONE), 0);
        demand(d, AT_LEAST_ZERO, begin, 0);
        demand(d, AT_LEAST_ZERO, end, 0);
        demand(d, AT_LEAST_ZERO, further, 0);
        demand(d, AT_LEAST_ZERO, room, 0);
        if (is_pooling) {
            demand(d, AT_LEAST_ZERO, minus(d, reach, begin), 0);
            demand(d, AT_LEAST_ZERO, minus(d, reach, end), 0);
            demand(d, MEETS_IMAGE, further, minus(d, size, dilation.items[a]));
        }
        d->of_nodes[node][axis] = plus(d, steps_in_room(d, room, stride.items[a]), POLYNOMIAL_ONE);
    }
}

static void demand_enlargement(struct demands *d, uint32_t node)
{
    uint32_t axes = (uint32_t)(d->rank - FIRST_SPATIAL);
    struct entries kernel;
    evaluate_attribute(d, node, "kernel", axes, 0, &kernel);
    for (uint32_t a = 0; a < axes && !d->is_impossible && !d->is_beyond; a++) {
        int axis = FIRST_SPATIAL + (int)a;
        polynomial more = minus(d, kernel.items[a], size_of_term(d, d->eq->pattern->nodes.items[node].inputs[0], axis));
        demand(d, AT_LEAST_ZERO, more, 0);
        demand(d, IS_EVEN, more, 0);
        d->of_nodes[node][axis] = kernel.items[a];
    }
}

// iconv has a middle.
static void demand_constant(struct demands *d, uint32_t node)
{
    bool has_middle = d->eq->pattern->nodes.items[node].op->id == OP_ICONV;
    struct entries shape;
    evaluate_attribute(d, node, "shape", (uint32_t)d->rank, 0, &shape);
    for (int axis = FIRST_SPATIAL; axis < d->rank && !d->is_impossible && !d->is_beyond; axis++) {
        d->of_nodes[node][axis] = shape.items[axis];
        demand(d, AT_LEAST_ZERO, minus(d, shape.items[axis], POLYNOMIAL_ONE), 0);
        if (has_middle)
            demand(d, IS_EVEN, minus(d, shape.items[axis], POLYNOMIAL_ONE), 0);
    }
}

// May the axis remember a concatenation? Windows forget it.
static bool may_be_cut(const struct demands *d, term_id term, int axis)
{
    const struct term *t = &d->eq->pattern->terms.items[term];
    if (t->is_variable)
        return !(d->eq->plain >> t->index & 1);
    const struct pattern_node *n = &d->eq->pattern->nodes.items[t->index];
    bool is_of_windows = n->op->id == OP_CONV || n->op->id == OP_POOLAVG || n->op->id == OP_POOLMAX;
    return !is_of_windows || axis < FIRST_SPATIAL;
}

// Concatenation and splitting change the size of one axis, what works entry by entry that of none.
static void demand_alike(struct demands *d, uint32_t node, int along)
{
    const struct pattern_node *n = &d->eq->pattern->nodes.items[node];
    uint32_t n_alike = n->op->id == OP_SMUL ? 1 : n->n_inputs;
    for (int axis = FIRST_SPATIAL; axis < d->rank; axis++) {
        polynomial size = size_of_term(d, n->inputs[0], axis);
        if (axis == along && n->op->id == OP_SPLIT) {
            d->is_impossible = d->is_impossible || !may_be_cut(d, n->inputs[0], axis);
            d->is_beyond = d->is_beyond || !d->is_impossible;
        }
        for (uint32_t i = 1; i < n_alike; i++)
            if (axis == along)
                size = plus(d, size, size_of_term(d, n->inputs[i], axis));
            else
                demand_equal(d, size, size_of_term(d, n->inputs[i], axis));
        d->of_nodes[node][axis] = size;
    }
}

static void demand_node(struct demands *d, uint32_t node)
{
    const struct pattern_node *n = &d->eq->pattern->nodes.items[node];
    struct entries axis = {0};
    int64_t along = -1;
    switch (n->op->id) {
    case OP_CONV:
    case OP_POOLAVG:
    case OP_POOLMAX:
        demand_window(d, node, n->op->id != OP_CONV);
        return;
    case OP_ENLARGE:
        demand_enlargement(d, node);
        return;
    case OP_ICONV:
    case OP_CPOOL:
        demand_constant(d, node);
        return;
    case OP_CONCAT:
    case OP_SPLIT:
        evaluate_attribute(d, node, "axis", 1, 0, &axis);
        d->is_beyond = d->is_beyond || !is_number(d->pool, axis.items[0], &along);
        d->is_impossible = d->is_impossible || along >= d->rank;
        demand_alike(d, node, (int)along);
        return;
    default:
        d->is_beyond = d->is_beyond || !(operator_works_entry_by_entry(n->op) || n->op->id == OP_MERGE);
        demand_alike(d, node, -1);
        return;
    }
}

// --- sides -----------------------------------------------------------------------------------------------------------

// Of conditions those that make two sizes, or a size and a number, equal; others of sizes are not used.
static void note_condition(struct demands *d, const struct condition *c)
{
    struct entries a, b;
    if (condition_is_of_variable(c->kind) || c->kind != CONDITION_EQUAL || c->a->kind != TERM_DIM)
        return;
    if (c->b->kind != TERM_DIM && c->b->kind != TERM_INTEGER)
        return;
    evaluate(d, c->a, &a);
    evaluate(d, c->b, &b);
    for (uint32_t i = 0; i < a.count && i < b.count; i++)
        demand_equal(d, a.items[i], b.items[i]);
}

// Conditions on axes alone hold or do not.
static bool holds_at_axes(const struct demands *d)
{
    struct attribute_value values[MAX_RULE_VARIABLES];
    struct arena scratch;
    bool holds = true;
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        values[v] = (struct attribute_value){1, &d->axes[v]};
    struct term_bindings b = {NULL, values};
    arena_init(&scratch);
    for (uint32_t i = 0; i < d->eq->n_conditions && holds; i++) {
        const struct condition *c = &d->eq->conditions[i];
        if (condition_is_of_variable(c->kind) || equation_variables_of_term(c->a) || equation_variables_of_term(c->b))
            continue;
        uint32_t variables = attribute_variables_of_term(c->a) | attribute_variables_of_term(c->b);
        if ((variables & ~d->axis_variables) == 0)
            holds = condition_holds(c, &b, NULL, &scratch);
    }
    arena_free(&scratch);
    return holds;
}

// (= (rank ?k) 4), of what is read
static bool holds_at_rank(const struct equation *eq, int rank)
{
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        bool names_rank = c->kind == CONDITION_EQUAL && c->a->kind == TERM_RANK && c->b->kind == TERM_INTEGER;
        if (names_rank && is_read(eq, c->a->value) && c->b->value != rank)
            return false;
    }
    return true;
}

// Until no size is found to be another one.
static void collect(struct demands *d, node_set nodes)
{
    do {
        d->count = 0;
        d->has_changed = false;
        for (uint32_t i = 0; i < d->eq->n_conditions; i++)
            note_condition(d, &d->eq->conditions[i]);
        for (uint32_t n = 0; n < d->eq->pattern->nodes.count && !d->is_impossible && !d->is_beyond; n++)
            if (nodes >> n & 1)
                demand_node(d, n);
    } while (d->has_changed && !d->is_impossible && !d->is_beyond);
}

// It is what is known, or a product of what is known and of what is, and something that is not negative.
static bool is_at_least_zero(struct demands *known, polynomial a)
{
    for (uint32_t i = 0; i < known->count; i++) {
        if (known->items[i].kind != AT_LEAST_ZERO)
            continue;
        if (is_never_negative(known->pool, minus(known, a, known->items[i].a)))
            return true;
    }
    return false;
}

// A pad that grows by half of what a kernel does, times the dilation.
static bool is_growing_pad(struct demands *known, polynomial a)
{
    for (uint32_t v = 0; v < known->eq->pattern->n_attribute_variables; v++)
        for (uint32_t e = 0; e < LARGEST_IMAGE_RANK; e++)
            for (uint32_t i = 0; i < known->count; i++) {
                polynomial own =
                    polynomial_variable(known->pool, INDETERMINATES_OF_ATTRIBUTES + v * MAX_ENTRIES + e);
                polynomial grown = times(known, known->items[i].a, plus(known, own, POLYNOMIAL_ONE));
                if (known->items[i].kind == AT_LEAST_ZERO &&
                    is_never_negative(known->pool, minus(known, a, polynomial_scale(known->pool, grown, 1, 2))))
                    return true;
            }
    return false;
}

static bool follows(struct demands *known, const struct demand *what)
{
    for (uint32_t i = 0; i < known->count; i++)
        if (memcmp(&known->items[i], what, sizeof *what) == 0)
            return true;
    if (what->kind == MEETS_IMAGE)
        return is_at_least_zero(known, what->b);
    return what->kind == AT_LEAST_ZERO && (is_at_least_zero(known, what->a) || is_growing_pad(known, what->a));
}

static bool have_equal_sizes(struct demands *d)
{
    for (uint32_t i = 0; i < d->eq->n_pairs; i++)
        for (int axis = FIRST_SPATIAL; axis < d->rank; axis++)
            if (size_of_term(d, d->eq->left[i], axis) != size_of_term(d, d->eq->right[i], axis))
                return false;
    return true;
}

// Where the one side and the guards are well-typed the other side is, and both have equal sizes.
static bool goes_along(const struct demands *at, bool from_left)
{
    node_set known_nodes = enumerate_required_nodes(at->eq, from_left ? WANTED_LEFT : WANTED_RIGHT);
    node_set other_nodes = enumerate_required_nodes(at->eq, from_left ? WANTED_RIGHT : WANTED_LEFT);
    struct demands known = *at;
    collect(&known, known_nodes);
    if (known.is_impossible || known.is_beyond)
        return known.is_impossible;
    struct demands other = known;
    other.count = 0;
    for (uint32_t n = 0; n < at->eq->pattern->nodes.count && !other.is_impossible && !other.is_beyond; n++)
        if (other_nodes >> n & 1)
            demand_node(&other, n);
    if (other.is_impossible || other.is_beyond)
        return false;
    for (uint32_t i = 0; i < other.count; i++)
        if (!follows(&known, &other.items[i]))
            return false;
    return !other.has_changed && have_equal_sizes(&other);
}

// --- equations -------------------------------------------------------------------------------------------------------

static bool is_axis(const struct pattern *p, uint32_t variable)
{
    bool is_any = false;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            for (uint32_t j = 0; j < p->nodes.items[n].attributes[i].count; j++) {
                const struct attribute_term *t = p->nodes.items[n].attributes[i].terms[j];
                is_any = is_any || (t->kind == TERM_VARIABLE && t->value == variable &&
                                    strcmp(p->nodes.items[n].op->attributes[i].name, "axis") == 0);
            }
    return is_any;
}

// An attribute that is a list of one kind on both sides, so that it has the least value of that kind.
static bool is_alike_on_both_sides(const struct equation *eq, uint32_t variable)
{
    bool is_whole[2] = {false, false};
    const struct window_list *lists[2];
    for (int side = 0; side < 2; side++)
        lists[side] = find_list(eq->pattern, enumerate_required_nodes(eq, side ? WANTED_RIGHT : WANTED_LEFT), variable,
                                &is_whole[side]);
    return lists[0] && lists[1] && lists[0]->least == lists[1]->least && is_whole[0] == is_whole[1] &&
           lists[0]->per_axis == lists[1]->per_axis;
}

static bool goes_along_at_axes(struct demands *at, uint32_t variable)
{
    while (variable < MAX_RULE_VARIABLES && !(at->axis_variables >> variable & 1))
        variable++;
    if (variable == MAX_RULE_VARIABLES)
        return !holds_at_axes(at) || (goes_along(at, true) && goes_along(at, false));
    for (at->axes[variable] = 0; at->axes[variable] < at->rank; at->axes[variable]++)
        if (!goes_along_at_axes(at, variable + 1))
            return false;
    return true;
}

const char *window_types_find_doubt(const struct equation *eq, struct polynomial_pool *pool)
{
    static const char doubt[] = "types are not argued at all strides, pads, dilations and kernels";
    uint32_t of_windows = pattern_variables_of_windows(eq->pattern);
    struct steps steps = {0};
    struct demands at = {.eq = eq, .pool = pool, .steps = &steps};
    if (!eq->is_strong || (!of_windows && !pattern_has_windows(eq->pattern)))
        return NULL;
    polynomial_pool_clear(pool);
    for (uint32_t v = 0; v < eq->pattern->n_attribute_variables; v++) {
        at.axis_variables |= is_axis(eq->pattern, v) ? 1u << v : 0;
        if ((of_windows >> v & 1) && !is_alike_on_both_sides(eq, v))
            return doubt;
    }
    for (at.rank = FIRST_SPATIAL + 1; at.rank <= LARGEST_IMAGE_RANK; at.rank++)
        if (holds_at_rank(eq, at.rank) && !goes_along_at_axes(&at, 0))
            return doubt;
    return pool->has_overflowed ? doubt : NULL;
}
