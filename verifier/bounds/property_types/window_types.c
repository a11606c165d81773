// What each operator of windows asks of its inputs, and whether one side's demands follow from the other's (bounds.md,
// 3).
#include "verifier/bounds/property_types/window_types.h"

#include "core/memory/arena.h"
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/bounds/property_types/shape_constraints.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/instances/enumerate.h"
#include "verifier/instances/ranks.h"
#include <string.h>

#define LARGEST_IMAGE_RANK 6

// --- nodes -----------------------------------------------------------------------------------------------------------

static polynomial size_of_term(struct demands *d, term_id term, int axis)
{
    const struct term *t = &d->eq->pattern->terms.items[term];
    return t->is_variable ? demands_size(d, t->index, axis) : d->of_nodes[t->index][axis];
}

static void demand_window(struct demands *d, uint32_t node, bool is_pooling)
{
    const struct pattern_node *n = &d->eq->pattern->nodes.items[node];
    uint32_t axes = (uint32_t)(d->rank - FIRST_SPATIAL);
    struct entries stride, pad, dilation, kernel = {0};
    demands_evaluate_attribute(d, node, ROLE_STRIDE, axes, 1, &stride);
    demands_evaluate_attribute(d, node, ROLE_WINDOW_PADS, 2 * axes, 0, &pad);
    demands_evaluate_attribute(d, node, ROLE_DILATION, axes, 1, &dilation);
    if (is_pooling)
        demands_evaluate_attribute(d, node, ROLE_KERNEL, axes, 0, &kernel);
    for (uint32_t a = 0; a < axes && !d->is_impossible && !d->is_beyond; a++) {
        int axis = FIRST_SPATIAL + (int)a;
        polynomial size = size_of_term(d, n->inputs[0], axis), begin = pad.items[a], end = pad.items[axes + a];
        polynomial further =
            demands_subtract(d, is_pooling ? kernel.items[a] : size_of_term(d, n->inputs[1], axis), POLYNOMIAL_ONE);
        polynomial reach = demands_multiply(d, further, dilation.items[a]);
        polynomial room = demands_subtract(d, demands_add(d, size, demands_add(d, begin, end)),
                                           demands_add(d, reach, POLYNOMIAL_ONE));
        demands_ask(d, AT_LEAST_ZERO, demands_subtract(d, stride.items[a], POLYNOMIAL_ONE), 0);
        demands_ask(d, AT_LEAST_ZERO, demands_subtract(d, dilation.items[a], POLYNOMIAL_ONE), 0);
        demands_ask(d, AT_LEAST_ZERO, begin, 0);
        demands_ask(d, AT_LEAST_ZERO, end, 0);
        demands_ask(d, AT_LEAST_ZERO, further, 0);
        demands_ask(d, AT_LEAST_ZERO, room, 0);
        if (is_pooling) {
            demands_ask(d, AT_LEAST_ZERO, demands_subtract(d, reach, begin), 0);
            demands_ask(d, AT_LEAST_ZERO, demands_subtract(d, reach, end), 0);
            demands_ask(d, MEETS_IMAGE, further, demands_subtract(d, size, dilation.items[a]));
        }
        d->of_nodes[node][axis] = demands_add(d, demands_steps(d, room, stride.items[a]), POLYNOMIAL_ONE);
    }
}

static void demand_enlargement(struct demands *d, uint32_t node)
{
    uint32_t axes = (uint32_t)(d->rank - FIRST_SPATIAL);
    struct entries kernel;
    demands_evaluate_attribute(d, node, ROLE_KERNEL, axes, 0, &kernel);
    for (uint32_t a = 0; a < axes && !d->is_impossible && !d->is_beyond; a++) {
        int axis = FIRST_SPATIAL + (int)a;
        polynomial more =
            demands_subtract(d, kernel.items[a], size_of_term(d, d->eq->pattern->nodes.items[node].inputs[0], axis));
        demands_ask(d, AT_LEAST_ZERO, more, 0);
        demands_ask(d, IS_EVEN, more, 0);
        d->of_nodes[node][axis] = kernel.items[a];
    }
}

// One that tells entries apart, as iconv does, has a middle.
static void demand_constant(struct demands *d, uint32_t node)
{
    bool has_middle = !operator_has(d->eq->pattern->nodes.items[node].op, TRAIT_UNIFORM);
    struct entries shape;
    demands_evaluate_attribute(d, node, ROLE_SHAPE, (uint32_t)d->rank, 0, &shape);
    for (int axis = FIRST_SPATIAL; axis < d->rank && !d->is_impossible && !d->is_beyond; axis++) {
        d->of_nodes[node][axis] = shape.items[axis];
        demands_ask(d, AT_LEAST_ZERO, demands_subtract(d, shape.items[axis], POLYNOMIAL_ONE), 0);
        if (has_middle)
            demands_ask(d, IS_EVEN, demands_subtract(d, shape.items[axis], POLYNOMIAL_ONE), 0);
    }
}

// May the axis remember a concatenation? Windows forget it, and what works entry by entry knows what all inputs do.
static bool may_be_cut(const struct demands *d, term_id term, int axis)
{
    const struct term *t = &d->eq->pattern->terms.items[term];
    if (t->is_variable)
        return !(d->eq->plain >> t->index & 1);
    const struct pattern_node *n = &d->eq->pattern->nodes.items[t->index];
    bool may_be = !operator_has_windows(n->op) || axis < FIRST_SPATIAL;
    for (uint32_t i = 0; operator_works_entry_by_entry(n->op) && i < n->n_inputs; i++)
        may_be = may_be && may_be_cut(d, n->inputs[i], axis);
    return may_be;
}

// Concatenation and splitting change the size of one axis, what works entry by entry that of none.
static void demand_alike(struct demands *d, uint32_t node, int along)
{
    const struct pattern_node *n = &d->eq->pattern->nodes.items[node];
    uint32_t n_alike = operator_scales(n->op) ? 1 : n->n_inputs;
    for (int axis = FIRST_SPATIAL; axis < d->rank; axis++) {
        polynomial size = size_of_term(d, n->inputs[0], axis);
        d->is_beyond = d->is_beyond || (axis == along && operator_splits(n->op));
        for (uint32_t i = 1; i < n_alike; i++)
            if (axis == along)
                size = demands_add(d, size, size_of_term(d, n->inputs[i], axis));
            else
                demands_ask_equal(d, size, size_of_term(d, n->inputs[i], axis));
        d->of_nodes[node][axis] = size;
    }
}

static int64_t axis_of_node(struct demands *d, uint32_t node)
{
    struct entries axis;
    int64_t along = 0;
    demands_evaluate_attribute(d, node, ROLE_AXIS, 1, 0, &axis);
    d->is_beyond = d->is_beyond || !demands_is_number(d->pool, axis.items[0], &along);
    return along;
}

static void demand_along_axis(struct demands *d, uint32_t node)
{
    int64_t along = axis_of_node(d, node);
    d->is_impossible = d->is_impossible || along >= d->rank;
    demand_alike(d, node, (int)along);
}

// A split without sizes, where no concatenation is remembered?
static bool splits_what_is_whole(struct demands *d, uint32_t node)
{
    const struct pattern_node *n = &d->eq->pattern->nodes.items[node];
    if (!operator_splits(n->op) || n->attributes[operator_find_role(n->op, ROLE_PART_SIZES)].count)
        return false;
    int64_t along = axis_of_node(d, node);
    return along >= FIRST_SPATIAL && along < d->rank && !may_be_cut(d, n->inputs[0], (int)along);
}

#define NO_AXIS (-1)
static void demand_node(struct demands *d, uint32_t node)
{
    const struct operator* op = d->eq->pattern->nodes.items[node].op;
    if (operator_has_windows(op))
        demand_window(d, node, operator_pools(op));
    else if (operator_enlarges(op))
        demand_enlargement(d, node);
    else if (operator_has(op, TRAIT_IS_KERNEL))
        demand_constant(d, node);
    else if (operator_joins(op) || operator_splits(op))
        demand_along_axis(d, node);
    else {
        d->is_beyond = d->is_beyond || !(operator_works_entry_by_entry(op) || operator_merges_groups(op));
        demand_alike(d, node, NO_AXIS);
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
    demands_evaluate(d, c->a, &a);
    demands_evaluate(d, c->b, &b);
    for (uint32_t i = 0; i < a.count && i < b.count; i++)
        demands_ask_equal(d, a.items[i], b.items[i]);
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
        if (names_rank && demands_reads(eq, c->a->value) && c->b->value != rank)
            return false;
    }
    return true;
}

// Until no size is found to be another one.
static void collect(struct demands *d, node_set nodes)
{
    for (uint32_t n = 0; n < d->eq->pattern->nodes.count; n++)
        d->is_impossible = d->is_impossible || ((nodes >> n & 1) && splits_what_is_whole(d, n));
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

// It is half of the sum of two that are known, which may be one, and something that is not negative.
static bool is_at_least_zero(struct demands *known, polynomial a)
{
    polynomial twice = demands_add(known, a, a);
    for (uint32_t i = 0; i < known->count; i++)
        for (uint32_t j = 0; j <= i && known->items[i].kind == AT_LEAST_ZERO; j++) {
            polynomial sum = demands_add(known, known->items[i].a, known->items[j].a);
            if (known->items[j].kind == AT_LEAST_ZERO &&
                demands_is_never_negative(known->pool, demands_subtract(known, twice, sum)))
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
                polynomial grown = demands_multiply(known, known->items[i].a, demands_entry(known, v, e, 1));
                if (known->items[i].kind == AT_LEAST_ZERO &&
                    demands_is_never_negative(known->pool,
                                              demands_subtract(known, a, polynomial_scale(known->pool, grown, 1, 2))))
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

static bool is_known_to_be_equal(const struct demands *known, polynomial a, polynomial b)
{
    struct demand equal = {IS_EQUAL, a < b ? a : b, a < b ? b : a};
    bool is_known = a == b;
    for (uint32_t i = 0; i < known->count && !is_known; i++)
        is_known = memcmp(&known->items[i], &equal, sizeof equal) == 0;
    return is_known;
}

static bool have_equal_sizes(const struct demands *known, struct demands *d)
{
    for (uint32_t i = 0; i < d->eq->n_pairs; i++)
        for (int axis = FIRST_SPATIAL; axis < d->rank; axis++)
            if (!is_known_to_be_equal(known, size_of_term(d, d->eq->left[i], axis),
                                      size_of_term(d, d->eq->right[i], axis)))
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
    return !other.has_changed && have_equal_sizes(&known, &other);
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
                                    p->nodes.items[n].op->attributes[i].role == ROLE_AXIS);
            }
    return is_any;
}

// An attribute that is a list of one kind on both sides, so that it has the least value of that kind.
static bool is_alike_on_both_sides(const struct equation *eq, uint32_t variable)
{
    bool is_whole[2] = {false, false};
    const struct window_list *lists[2];
    for (int side = 0; side < 2; side++)
        lists[side] = demands_find_list(eq->pattern, enumerate_required_nodes(eq, side ? WANTED_RIGHT : WANTED_LEFT),
                                        variable, &is_whole[side]);
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
