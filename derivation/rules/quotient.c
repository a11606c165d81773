// The axis stands in the index with factor 1, so that it is what the index is without the rest.
#include "derivation/rules/quotient.h"

#include "derivation/scopes/substitution.h"
#include "expressions/affine.h"

#define LIMIT_OF_SIZES ((int64_t)1 << 40)

static const struct quotient *quotient_of_axis(const struct quotient *quotients, int n, int axis)
{
    return FIND(quotients, n, x, x->axis == axis);
}

static bool is_alone(const struct pool *p, const struct scope *s, const struct quotient *quotients, int n, int i)
{
    return ALL(int, j, n, j == i || !expr_mentions(p, quotients[i].index, s->first_axis + (uint32_t)quotients[j].axis));
}

static void add_axis(struct axis_substitution *by, int64_t size, expr new_by_old)
{
    by->type.dim[by->type.rank] = size;
    by->new_by_old[by->type.rank++] = new_by_old;
}

static expr quotient_from_low(struct pool *p, const struct quotient *q, struct index_range *ret_range)
{
    expr quotient = pool_index_div(p, q->index, q->divisor);
    *ret_range = index_range(&p->d, quotient);
    return pool_index_add(p, quotient, pool_integer(p, -ret_range->low));
}

// Sizes and indices of the new axes; those of a quotient stand where its axis stood.
static bool add_axes(struct pool *p, const struct scope *s, const struct quotient *quotients, int n,
                     struct axis_substitution *by, int64_t *ret_lows)
{
    for (int axis = 0; axis < s->type.rank; axis++) {
        const struct quotient *q = quotient_of_axis(quotients, n, axis);
        struct index_range range;
        if (by->type.rank + (q && q->divisor > 1) >= MAX_RANK)
            return false;
        if (!q) {
            add_axis(by, s->type.dim[axis], scope_axis(p, s, axis));
            continue;
        }
        expr quotient = quotient_from_low(p, q, &range);
        if (range.low < -LIMIT_OF_SIZES || range.high > LIMIT_OF_SIZES)
            return false;
        ret_lows[axis] = range.low;
        add_axis(by, range.high - range.low + 1, quotient);
        if (q->divisor > 1)
            add_axis(by, q->divisor, pool_index_mod(p, q->index, q->divisor));
    }
    return true;
}

// axis = divisor * (u + low) + w - rest
static expr axis_of_quotient(struct pool *p, const struct scope *s, const struct quotient *q, uint32_t u, int64_t low,
                             const struct substitution *kept)
{
    expr rest = pool_index_add(p, q->index, pool_index_mul(p, scope_axis(p, s, q->axis), -1));
    expr index = pool_index_add(p, pool_variable(p, u), pool_integer(p, low));
    index = pool_index_mul(p, index, q->divisor);
    if (q->divisor > 1)
        index = pool_index_add(p, index, pool_variable(p, u + 1));
    return pool_index_add(p, index, pool_index_mul(p, substitution_apply(p, kept, rest), -1));
}

static void find_old_axes(struct pool *p, const struct scope *s, const struct quotient *quotients, int n,
                          const int64_t *lows, struct axis_substitution *by)
{
    struct substitution kept = {0};
    uint32_t first = pool_axes(p, &by->type), at = first;
    for (int axis = 0; axis < s->type.rank; axis++) {
        const struct quotient *q = quotient_of_axis(quotients, n, axis);
        substitution_add(&kept, s->first_axis + (uint32_t)axis, pool_variable(p, at));
        at += q && q->divisor > 1 ? 2 : 1;
    }
    at = first;
    for (int axis = 0; axis < s->type.rank; axis++) {
        const struct quotient *q = quotient_of_axis(quotients, n, axis);
        by->old_by_new[axis] = q ? axis_of_quotient(p, s, q, at, lows[axis], &kept) : pool_variable(p, at);
        at += q && q->divisor > 1 ? 2 : 1;
    }
}

bool quotients_substitution(struct pool *p, const struct scope *s, const struct quotient *quotients, int n,
                            struct axis_substitution *ret_substitution)
{
    struct axis_substitution by = {.type = {.dtype = s->type.dtype}};
    int64_t lows[MAX_RANK];
    for (int i = 0; i < n; i++)
        if (!is_alone(p, s, quotients, n, i))
            return false;
    if (!add_axes(p, s, quotients, n, &by, lows) || !type_has_allowed_size(&by.type))
        return false;
    by.type = type_make(by.type.dtype, by.type.rank, by.type.dim);
    find_old_axes(p, s, quotients, n, lows, &by);
    *ret_substitution = by;
    return true;
}
