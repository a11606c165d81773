// Values of an axis are looked at one by one, the other iterators by ranges.
#include "derivation/rules/tighten.h"

#include "derivation/scopes/substitution.h"
#include "expressions/affine.h"

static bool is_negative(struct pool *p, const struct substitution *at, expr guard)
{
    struct index_range range = index_range(&p->d, substitution_apply(p, at, guard));
    return range.low <= range.high && range.high < 0;
}

static bool is_zero_at(struct pool *p, const struct scope *s, int axis, int64_t place)
{
    struct substitution at = {0};
    substitution_add(&at, s->first_axis + (uint32_t)axis, pool_integer(p, place));
    for (int i = 0; i < s->n_guards; i++)
        if (is_negative(p, &at, s->guards[i]))
            return true;
    return ANY(int, i, s->n_reads, read_is_outside(p, substitution_apply(p, &at, s->reads[i])));
}

bool tightest_bounds(struct pool *p, const struct scope *s, struct bounds *ret_bounds)
{
    bool are_tighter = false;
    for (int axis = 0; axis < s->type.rank; axis++) {
        int64_t low = 0, high = s->type.dim[axis];
        bool is_short = high <= LONGEST_TIGHTENED;
        while (is_short && low < high && is_zero_at(p, s, axis, low))
            low++;
        while (is_short && low < high && is_zero_at(p, s, axis, high - 1))
            high--;
        if (low >= high)
            return false;
        are_tighter = are_tighter || high - low < s->type.dim[axis];
        ret_bounds->low[axis] = low;
        ret_bounds->high[axis] = high;
    }
    return are_tighter;
}

static bool is_zero_outside(struct pool *p, const struct scope *s, const struct bounds *to)
{
    for (int axis = 0; axis < s->type.rank; axis++) {
        int64_t low = to->low[axis], high = to->high[axis], size = s->type.dim[axis];
        if (low < 0 || low >= high || high > size || (high - low < size && size > LONGEST_TIGHTENED))
            return false;
        for (int64_t place = 0; place < size; place++)
            if ((place < low || place >= high) && !is_zero_at(p, s, axis, place))
                return false;
    }
    return true;
}

static int make_scope_within(struct pool *p, const struct scope *s, const struct bounds *to)
{
    struct scope made = *s;
    struct substitution shift = {0};
    for (int axis = 0; axis < s->type.rank; axis++)
        made.type.dim[axis] = to->high[axis] - to->low[axis];
    made.first_axis = pool_axes(p, &made.type);
    for (int axis = 0; axis < s->type.rank; axis++)
        substitution_add(&shift, s->first_axis + (uint32_t)axis,
                         pool_index_add(p, scope_axis(p, &made, axis), pool_integer(p, to->low[axis])));
    scope_substitute(p, &made, &shift);
    return scope_make(p, &made);
}

int rule_tighten(struct pool *p, int tensor, const struct bounds *to)
{
    struct scope s;
    expr index[MAX_RANK];
    if (!scope_take(p, tensor, &s) || !is_zero_outside(p, &s, to))
        return NO_SCOPE;
    int scope = make_scope_within(p, &s, to);
    if (scope == NO_SCOPE)
        return NO_SCOPE;
    for (int axis = 0; axis < s.type.rank; axis++)
        index[axis] = pool_index_add(p, scope_axis(p, &s, axis), pool_integer(p, -to->low[axis]));
    return scope_copy(p, &s.type, scope, index);
}
