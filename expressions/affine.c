// Affine forms by one walk over sums and multiples, ranges by interval arithmetic.
#include "expressions/affine.h"

static bool add_term(struct affine_form *f, expr atom, int64_t factor)
{
    if (f->n == MAX_AFFINE_TERMS)
        return false;
    f->terms[f->n++] = (struct scaled_atom){atom, factor};
    return true;
}

static bool add_multiple(const struct definition *d, expr e, int64_t factor, struct affine_form *f)
{
    const struct expr_node *n = &d->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        f->base = wrapping_sum(f->base, wrapping_product(factor, n->value));
        return true;
    case EXPR_INDEX_ADD:
        return add_multiple(d, n->a, factor, f) && add_multiple(d, n->b, factor, f);
    case EXPR_INDEX_MUL:
        return add_multiple(d, n->a, wrapping_product(factor, n->value), f);
    default:
        return add_term(f, e, factor);
    }
}

bool affine_form_of(const struct definition *d, expr index, struct affine_form *ret_form)
{
    ret_form->base = 0;
    ret_form->n = 0;
    return add_multiple(d, index, 1, ret_form);
}

bool affine_form_is_of_variables(const struct definition *d, const struct affine_form *f)
{
    return ALL(int, i, f->n, d->nodes.items[f->terms[i].atom].kind == EXPR_VARIABLE);
}

// --- ranges ----------------------------------------------------------------------------------------------------------

int64_t index_saturated(int64_t value)
{
    return value > INDEX_UNBOUNDED ? INDEX_UNBOUNDED : value < -INDEX_UNBOUNDED ? -INDEX_UNBOUNDED : value;
}

int64_t index_saturated_product(int64_t a, int64_t b)
{
    int64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        return (a < 0) == (b < 0) ? INDEX_UNBOUNDED : -INDEX_UNBOUNDED;
    return index_saturated(product);
}

struct index_range index_range(const struct definition *d, expr index)
{
    const struct expr_node *n = &d->nodes.items[index];
    struct index_range a, b;
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        return (struct index_range){index_saturated(n->value), index_saturated(n->value)};
    case EXPR_VARIABLE:
        return (struct index_range){0, d->extents.items[n->value] - 1};
    case EXPR_INDEX_ADD:
        a = index_range(d, n->a);
        b = index_range(d, n->b);
        return (struct index_range){index_saturated(a.low + b.low), index_saturated(a.high + b.high)};
    case EXPR_INDEX_MUL:
        a = index_range(d, n->a);
        b = (struct index_range){index_saturated_product(a.low, n->value), index_saturated_product(a.high, n->value)};
        return n->value >= 0 ? b : (struct index_range){b.high, b.low};
    case EXPR_INDEX_DIV:
        a = index_range(d, n->a);
        return (struct index_range){floor_quotient(a.low, n->value), floor_quotient(a.high, n->value)};
    case EXPR_INDEX_MOD:
        return (struct index_range){0, n->value - 1};
    default:
        return (struct index_range){-INDEX_UNBOUNDED, INDEX_UNBOUNDED};
    }
}

bool index_stays_inside(const struct definition *d, expr index, int64_t size)
{
    struct index_range range = index_range(d, index);
    return range.low >= 0 && range.high < size;
}
