// Terms of the quotient are those of the index, with the multiples of the divisor that are nearest to their factors.
#include "derivation/rules/unwrap.h"

#include "derivation/rules/solve_sum.h"
#include "expressions/affine.h"

// The last value at which all indices of the read are inside, or `most`.
static int64_t last_of_read(const struct pool *p, expr read, expr remainder, int64_t most)
{
    const struct type *type = definition_tensor(&p->d, read_tensor_of(p, read));
    for (int axis = 0; axis < type->rank; axis++) {
        expr index = read_indices(p, read)[axis];
        const struct expr_node *n = &p->d.nodes.items[index];
        bool is_quotient = n->kind == EXPR_INDEX_DIV && n->a == remainder;
        int64_t values = index_saturated_product(type->dim[axis], is_quotient ? n->value : 1);
        if ((is_quotient || index == remainder) && values - 1 < most)
            most = values - 1;
    }
    return most;
}

static int64_t last_of(const struct pool *p, const struct scope *s, expr remainder, int64_t most)
{
    expr index;
    int64_t divisor;
    for (int i = 0; i < s->n_reads; i++)
        most = last_of_read(p, s->reads[i], remainder, most);
    for (int i = 0; i < s->n_guards; i++)
        if (guard_of_remainder(p, s->guards[i], &index, &divisor) && index == remainder)
            most -= most % divisor;
    return most;
}

static int64_t nearest_multiple(int64_t factor, int64_t divisor)
{
    return floor_quotient(2 * factor + divisor, 2 * divisor);
}

static bool nearest_quotient(struct pool *p, expr index, int64_t divisor, expr *ret_quotient)
{
    struct affine_form f;
    if (divisor > INDEX_UNBOUNDED / 2 || !affine_form_of(&p->d, index, &f))
        return false;
    *ret_quotient = pool_integer(p, nearest_multiple(f.base, divisor));
    for (int i = 0; i < f.n; i++) {
        int64_t multiple = nearest_multiple(f.terms[i].factor, divisor);
        *ret_quotient = pool_index_add(p, *ret_quotient, pool_index_mul(p, f.terms[i].atom, multiple));
    }
    return true;
}

bool rule_unwrap(struct pool *p, struct scope *s, expr remainder)
{
    const struct expr_node n = p->d.nodes.items[remainder];   // nodes may move
    struct substitution by = {0};
    expr quotient;
    if (n.kind != EXPR_INDEX_MOD || s->n_guards == MOST_GUARDS || !nearest_quotient(p, n.a, n.value, &quotient))
        return false;
    expr rest = pool_index_add(p, n.a, pool_index_mul(p, quotient, -n.value));
    struct index_range range = index_range(&p->d, rest);
    if (range.low > range.high || range.low <= last_of(p, s, remainder, n.value - 1) - n.value || range.high >= n.value)
        return false;
    substitution_add_part(&by, remainder, rest);
    substitution_add_part(&by, pool_index_div(p, n.a, n.value), quotient);
    scope_substitute(p, s, &by);
    s->guards[s->n_guards++] = rest;
    return true;
}
