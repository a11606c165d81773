// Each index of the read as an affine form; an iterator that occurs elsewhere in the read makes no window.
#include "derivation/matching/windows.h"

#include "expressions/affine.h"

// Is the variable nowhere in the read but in this one term?
static bool is_only_here(const struct pool *p, expr read, int axis, const struct affine_form *f, int term)
{
    uint32_t variable = (uint32_t)p->d.nodes.items[f->terms[term].atom].value;
    int rank = definition_tensor(&p->d, read_tensor_of(p, read))->rank;
    for (int i = 0; i < rank; i++)
        if (i != axis && expr_mentions(p, read_indices(p, read)[i], variable))
            return false;
    return ALL(int, i, f->n, i == term || !expr_mentions(p, f->terms[i].atom, variable));
}

static bool is_variable_here(const struct pool *p, expr read, int axis, const struct affine_form *f, int term)
{
    return p->d.nodes.items[f->terms[term].atom].kind == EXPR_VARIABLE && f->terms[term].factor > 0 &&
           is_only_here(p, read, axis, f, term);
}

static void add_pair(struct window_pairs *pairs, struct window_pair pair)
{
    if (pairs->n == MOST_WINDOWS)
        return;
    pairs->n_real += pair.of_sum != NO_VARIABLE;
    pairs->items[pairs->n++] = pair;
}

static void add_pairs_of(const struct pool *p, const struct scope *s, const struct affine_form *f, int result, int sum,
                         int axis, expr other, struct window_pairs *pairs)
{
    uint32_t of_result = (uint32_t)p->d.nodes.items[f->terms[result].atom].value;
    uint32_t of_sum = (uint32_t)p->d.nodes.items[f->terms[sum].atom].value;
    int64_t scale = greatest_common_divisor(f->terms[result].factor, f->terms[sum].factor);
    if (scope_has_axis(s, of_result) && !scope_has_axis(s, of_sum) && !expr_mentions(p, other, of_result) &&
        expr_mentions(p, other, of_sum))
        add_pair(pairs, (struct window_pair){of_result, of_sum, axis, scale, f->terms[result].factor / scale,
                                             f->terms[sum].factor / scale});
}

static void add_windows_of_axis(const struct pool *p, const struct scope *s, expr read, expr other, int axis,
                                struct window_pairs *pairs)
{
    struct affine_form f;
    if (!affine_form_of(&p->d, read_indices(p, read)[axis], &f))
        return;
    for (int i = 0; i < f.n; i++)
        for (int k = 0; k < f.n && is_variable_here(p, read, axis, &f, i); k++)
            if (k != i && is_variable_here(p, read, axis, &f, k))
                add_pairs_of(p, s, &f, i, k, axis, other, pairs);
    if (f.n != 1 || !is_variable_here(p, read, axis, &f, 0))
        return;
    uint32_t variable = (uint32_t)p->d.nodes.items[f.terms[0].atom].value;
    if (scope_has_axis(s, variable) && !expr_mentions(p, other, variable))
        add_pair(pairs, (struct window_pair){variable, NO_VARIABLE, axis, f.terms[0].factor, 1, 1});
}

void find_windows(const struct pool *p, const struct scope *s, expr read, expr other, struct window_pairs *ret_pairs)
{
    int rank = definition_tensor(&p->d, read_tensor_of(p, read))->rank;
    ret_pairs->n = ret_pairs->n_real = 0;
    for (int axis = 0; axis < rank; axis++)
        add_windows_of_axis(p, s, read, other, axis, ret_pairs);
}
