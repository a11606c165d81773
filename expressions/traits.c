// Traits by walks over the bodies of all stages. Each trait says no where the walk meets what it does not know.
#include "expressions/traits.h"

#include "expressions/definedness.h"
#include "expressions/definition.h"
#include "expressions/f64_functions.h"

typedef bool asks_of_node(const struct definition *d, expr e);

// --- walks -----------------------------------------------------------------------------------------------------------

// Is it so of one of the scalar nodes of the expression?
static bool is_met(const struct definition *d, expr e, asks_of_node *asks)
{
    struct operands below = scalar_operands(d, e);
    return asks(d, e) || ANY(uint32_t, i, below.n, is_met(d, below.items[i], asks));
}

static bool is_met_in_stages(const struct definition *d, asks_of_node *asks)
{
    return ANY(int, s, d->n_stages, d->stages[s].has_body &&is_met(d, d->stages[s].body, asks));
}

static bool is_read(const struct definition *d, expr e)
{
    return d->nodes.items[e].kind == EXPR_READ;
}

static bool reads(const struct definition *d, expr e)
{
    return is_met(d, e, is_read);
}

// --- numbers ---------------------------------------------------------------------------------------------------------

// The value of the expression when all entries are zero. False: that is not one number, or not known.
static bool value_at_zero(const struct definition *d, expr e, double *ret)
{
    const struct expr_node *n = &d->nodes.items[e];
    struct operands below = scalar_operands(d, e);
    double of[3] = {0};
    if (ANY(uint32_t, i, below.n, !value_at_zero(d, below.items[i], &of[i])))
        return false;
    *ret = n->kind == EXPR_REAL ? n->real : n->kind == EXPR_APPLY ? f64_apply(n->fn, of[0], of[1], of[2]) : of[0];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
    case EXPR_APPLY:
        return true;
    case EXPR_READ:
        return n->b != OUTSIDE_LOWEST && (n->value < d->n_inputs || !d->stages[n->value - d->n_inputs].has_body ||
                                          value_at_zero(d, d->stages[n->value - d->n_inputs].body, ret));
    case EXPR_REDUCE:
        return *ret == 0;
    case EXPR_SELECT:
        return of[0] == of[1];
    default:
        return false;
    }
}

static bool keeps_zero(const struct definition *d)
{
    double value;
    return d->n_inputs > 0 &&
           ALL(int, i, d->n_outputs, value_at_zero(d, d->stages[d->outputs[i]].body, &value) && value == 0);
}

static bool is_negative(const struct definition *d, expr e)
{
    double value;
    return !reads(d, e) && value_at_zero(d, e, &value) && value < 0;
}

// --- functions -------------------------------------------------------------------------------------------------------

static bool is_of_ring(const struct definition *d, const struct expr_node *n)
{
    switch (n->fn) {
    case FN_ADD:
    case FN_SUB:
    case FN_MUL:
    case FN_NEG:
        return true;
    case FN_DIV:
        return !reads(d, n->b);
    default:
        return false;
    }
}

// Is there anything but sums and products of entries? A function of numbers alone is a number.
static bool is_beyond_ring(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_REAL:
    case EXPR_SELECT:
        return false;
    case EXPR_READ:
        return n->b == OUTSIDE_LOWEST;
    case EXPR_APPLY:
        return reads(d, e) && !is_of_ring(d, n);
    case EXPR_REDUCE:
        return n->fn != FN_ADD;
    default:
        return true;
    }
}

// Functions without thresholds, of which nothing is known but that equal arguments give equal values, or that they
// increase, or turn sums into products. Odd and even ones tell the sign of what they are of.
static bool is_beyond_smooth(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    bool is_smooth = n->kind == EXPR_APPLY && (n->fn == FN_SIGMOID || n->fn == FN_EXP);
    return !is_smooth && is_beyond_ring(d, e);
}

static bool is_sum_of_entries(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    return n->kind == EXPR_APPLY && (n->fn == FN_ADD || n->fn == FN_SUB) && reads(d, e);
}

static bool is_difference_of_entries(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    if (n->kind != EXPR_APPLY || !reads(d, e))
        return false;
    bool is_scaled = n->fn == FN_MUL || n->fn == FN_DIV;
    return n->fn == FN_NEG || (n->fn == FN_SUB && reads(d, n->b)) ||
           (is_scaled && (is_negative(d, n->a) || is_negative(d, n->b)));
}

static bool goes_along_axis(const struct definition *d, expr e)
{
    return d->nodes.items[e].kind == EXPR_REDUCE && reads(d, e);
}

// --- places ----------------------------------------------------------------------------------------------------------

// An input that is read at the variable, from `least` on; n_inputs: none.
static int64_t input_along(const struct definition *d, expr e, int64_t variable, int64_t least)
{
    const struct expr_node *n = &d->nodes.items[e];
    int64_t found = d->n_inputs;
    if (n->kind == EXPR_READ) {
        for (uint32_t i = 0; i < n->count && n->value >= least && n->value < d->n_inputs; i++)
            if (definition_mentions(d, d->indices.items[n->a + i], variable))
                found = n->value;
        return found;
    }
    struct operands below = scalar_operands(d, e);
    return SMALLEST(int64_t, found, uint32_t, i, below.n, input_along(d, below.items[i], variable, least));
}

static bool is_sum_along_two(const struct definition *d, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    if (n->kind != EXPR_REDUCE || n->fn != FN_ADD)
        return false;
    int64_t one = input_along(d, n->a, n->value, 0);
    return one < d->n_inputs && input_along(d, n->a, n->value, one + 1) < d->n_inputs;
}

static bool reads_own_place(const struct definition *d, const struct stage *s, const struct expr_node *read)
{
    bool is_own = read->count == (uint32_t)s->type.rank && read->b == OUTSIDE_NEVER;
    for (uint32_t i = 0; i < read->count && is_own; i++) {
        const struct expr_node *index = &d->nodes.items[d->indices.items[read->a + i]];
        is_own = index->kind == EXPR_VARIABLE && index->value == s->first_variable + i;
    }
    return is_own || read->count == 0;
}

static bool reads_own_places(const struct definition *d, const struct stage *s, expr e)
{
    const struct expr_node *n = &d->nodes.items[e];
    struct operands below = scalar_operands(d, e);
    bool are_own = n->kind == EXPR_READ ? reads_own_place(d, s, n) : n->kind == EXPR_REAL || n->kind == EXPR_APPLY;
    return are_own && ALL(uint32_t, i, below.n, reads_own_places(d, s, below.items[i]));
}

static bool works_entry_by_entry(const struct definition *d)
{
    return d->n_inputs > 0 &&
           ALL(int, s, d->n_stages, d->stages[s].has_body &&reads_own_places(d, &d->stages[s], d->stages[s].body));
}

static bool asks_whether_number(const struct definition *d, expr e)
{
    return d->nodes.items[e].kind == EXPR_APPLY && d->nodes.items[e].fn == FN_IS_NAN;
}

static bool is_place(const struct definition *d, expr e)
{
    enum expr_kind kind = d->nodes.items[e].kind;
    return kind == EXPR_READ || kind == EXPR_SELECT || kind == EXPR_SCALAR_OF || kind == EXPR_REDUCE;
}

// --- types -----------------------------------------------------------------------------------------------------------

static bool converts(const struct definition *d)
{
    const struct expr_node *nodes = d->nodes.items;
    return FIND(d->stages, d->n_stages, s,
                nodes[s->body].kind == EXPR_READ && definition_tensor(d, nodes[s->body].value)->dtype != s->type.dtype);
}

static bool outputs_have_rank(const struct definition *d, int rank)
{
    return ALL(int, i, d->n_outputs, definition_output(d, i)->rank == rank);
}

unsigned definition_traits(const struct definition *d)
{
    bool keeps_first = d->n_inputs > 0 && outputs_have_rank(d, d->inputs[0].rank);
    bool is_known = !d->is_data_dependent;
    unsigned traits = 0;
    traits |= is_known && !is_met_in_stages(d, is_beyond_ring) ? TRAIT_POLYNOMIAL : 0;
    traits |= is_known && !is_met_in_stages(d, is_beyond_smooth) ? TRAIT_SMOOTH : 0;
    traits |= is_known && keeps_zero(d) ? TRAIT_KEEPS_ZERO : 0;
    traits |= works_entry_by_entry(d) ? TRAIT_ENTRY_BY_ENTRY : 0;
    traits |= is_met_in_stages(d, is_sum_along_two) ? TRAIT_CONTRACTS : 0;
    traits |= d->n_inputs == 0 && !is_met_in_stages(d, is_place) ? TRAIT_UNIFORM : 0;
    traits |= keeps_first && ALL(int, i, d->n_inputs, d->inputs[i].rank == d->inputs[0].rank) ? TRAIT_KEEPS_RANK : 0;
    traits |= keeps_first ? TRAIT_KEEPS_FIRST_RANK : 0;
    traits |= is_met_in_stages(d, is_sum_of_entries) ? TRAIT_ADDS : 0;
    traits |= is_met_in_stages(d, is_difference_of_entries) ? TRAIT_SUBTRACTS : 0;
    traits |= is_met_in_stages(d, goes_along_axis) ? TRAIT_SUMS : 0;
    traits |= converts(d) ? TRAIT_CONVERTS : 0;
    traits |= is_met_in_stages(d, asks_whether_number) ? TRAIT_ASKS_NUMBER : 0;
    traits |= definition_divides(d) ? TRAIT_DIVIDES : 0;
    traits |= definition_is_partial(d, 0) ? TRAIT_PARTIAL : 0;
    return traits;
}
