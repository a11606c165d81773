// Axes in a dividend are parted by its divisor, and axes of what is read by what the guards say (a row that ends is
// none of a flat index). Iterators that are in an index with others, or in a quotient, are *taken*: a value at a time,
// of sums to be added, of axes to be concatenated. What is read for each value is a slice, of axes in another order.
//
//     z[f,i,j] = sum(r < 3) sum(s < 3) t[9 * f + 3 * r + s, i + r - 1, j + s - 1 or 0]     r, s are taken: nine slices
#include "optimizer/derive/standard_form.h"

#include "core/memory/arena.h"
#include "derivation/rules/quotient.h"
#include "expressions/affine.h"
#include "operators/operator.h"
#include "substitutions/pattern.h"

enum { MOST_PIECES = 128, MOST_TAKEN = 8 };

struct operand_axis {
    int64_t size;
    expr index;
    int n;   // iterators that are not taken, the slowest first: one with steps, or several as digits
    uint32_t variables[MAX_RANK];
    int64_t steps[MAX_RANK];
    int64_t low, high;   // what all slices read, ends included
};
struct piece {
    bool is_zero;
    int64_t start[MAX_RANK];
};
struct lowering {
    struct pool *p;
    struct pattern *pattern;
    struct arena *arena;
    struct scope s;
    int n_axes;
    struct operand_axis axes[MAX_RANK];
    int n_taken, n_taken_axes;   // those of the result first
    uint32_t taken[MOST_TAKEN];
    int n_pieces;
    struct piece pieces[MOST_PIECES];
    term_id operand;
};

// --- the result's axes -----------------------------------------------------------------------------------------------

static int axis_of(const struct lowering *l, expr e)
{
    const struct expr_node *n = &l->p->d.nodes.items[e];
    int64_t axis = n->value - l->s.first_axis;
    return n->kind == EXPR_VARIABLE && axis >= 0 && axis < l->s.type.rank ? (int)axis : -1;
}

static bool can_part(const struct lowering *l, const struct scaled_atom *term, int64_t divisor)
{
    int axis = axis_of(l, term->atom);
    return axis >= 0 && term->factor % divisor != 0 && l->s.type.dim[axis] > divisor &&
           l->s.type.dim[axis] % divisor == 0;
}

static bool find_dividend(const struct lowering *l, expr e, struct quotient *ret)
{
    const struct expr_node n = l->p->d.nodes.items[e];
    struct operands below = expr_operands(&l->p->d, e);
    struct affine_form f;
    if ((n.kind == EXPR_INDEX_DIV || n.kind == EXPR_INDEX_MOD) && affine_form_of(&l->p->d, n.a, &f))
        for (int i = 0; i < f.n; i++)
            if (can_part(l, &f.terms[i], n.value)) {
                *ret = (struct quotient){axis_of(l, f.terms[i].atom), f.terms[i].atom, n.value};
                return true;
            }
    return ANY(uint32_t, i, below.n, find_dividend(l, below.items[i], ret));
}

static bool find_quotient(const struct lowering *l, struct quotient *ret)
{
    return ANY(int, i, l->s.n_guards, find_dividend(l, l->s.guards[i], ret)) || find_dividend(l, l->s.reads[0], ret);
}

static bool part_axes(struct lowering *l)
{
    struct quotient q;
    struct axis_substitution by;
    while (find_quotient(l, &q))
        if (!quotients_substitution(l->p, &l->s, &q, 1, &by) || !rule_substitute_axes(l->p, &l->s, &by))
            return false;
    return true;
}

// --- axes of what is read --------------------------------------------------------------------------------------------

static int find_guard(const struct lowering *l, expr guard)
{
    return PLACE_OF(int, i, l->s.n_guards, l->s.guards[i] == guard);
}

static expr to_end(struct lowering *l, expr index, int64_t size)
{
    return pool_index_add(l->p, pool_index_mul(l->p, index, -1), pool_integer(l->p, size - 1));
}

static bool is_inside(struct lowering *l, expr index, int64_t size)
{
    struct index_range range = index_range(&l->p->d, index);
    return (range.low >= 0 || find_guard(l, index) >= 0) &&
           (range.high < size || find_guard(l, to_end(l, index, size)) >= 0);
}

static bool is_multiple(const struct lowering *l, expr index, int64_t of)
{
    struct affine_form f;
    return affine_form_of(&l->p->d, index, &f) && f.base % of == 0 && ALL(int, i, f.n, f.terms[i].factor % of == 0);
}

static void drop_guard(struct lowering *l, expr guard)
{
    int i = find_guard(l, guard);
    if (i >= 0)
        l->s.guards[i] = l->s.guards[--l->s.n_guards];
}

// index = size * place + low, where low is inside of the size: both are indices of axes, 0 outside.
static bool part_index(struct lowering *l, int axis, int64_t size, expr low)
{
    struct operand_axis *at = &l->axes[axis];
    expr rest = pool_index_add(l->p, at->index, pool_index_mul(l->p, low, -1));
    if (l->n_axes == MAX_RANK || !is_multiple(l, rest, size) || !is_inside(l, low, size))
        return false;
    for (int i = l->n_axes++; i > axis; i--)
        l->axes[i] = l->axes[i - 1];
    l->axes[axis] = (struct operand_axis){.size = at->size / size, .index = pool_index_div(l->p, rest, size)};
    l->axes[axis + 1] = (struct operand_axis){.size = size, .index = low};
    for (int i = axis; i < axis + 2; i++) {
        drop_guard(l, l->axes[i].index);
        drop_guard(l, to_end(l, l->axes[i].index, l->axes[i].size));
    }
    return true;
}

static bool part_by_guards(struct lowering *l, int axis)
{
    const struct operand_axis at = l->axes[axis];
    struct affine_form f;
    if (!affine_form_of(&l->p->d, at.index, &f))
        return false;
    for (int i = 0; i < f.n; i++) {
        int64_t size = f.terms[i].factor;
        for (int g = 0; size > 1 && size < at.size && at.size % size == 0 && g < l->s.n_guards; g++)
            if (part_index(l, axis, size, l->s.guards[g]) || part_index(l, axis, size, to_end(l, l->s.guards[g], size)))
                return true;
    }
    return false;
}

static void find_operand_axes(struct lowering *l)
{
    const struct type *type = definition_tensor(&l->p->d, read_tensor_of(l->p, l->s.reads[0]));
    for (l->n_axes = 0; l->n_axes < type->rank; l->n_axes++) {
        expr index = read_indices(l->p, l->s.reads[0])[l->n_axes];
        l->axes[l->n_axes] = (struct operand_axis){.size = type->dim[l->n_axes], .index = index};
    }
    for (int axis = 0; axis < l->n_axes; axis++)
        while (part_by_guards(l, axis))
            ;
}

// --- what is taken ---------------------------------------------------------------------------------------------------

static expr at_values(struct lowering *l, expr e, const int64_t *values)
{
    struct substitution by = {0};
    for (int i = 0; i < l->n_taken; i++)
        substitution_add(&by, l->taken[i], pool_integer(l->p, values ? values[i] : 0));
    return substitution_apply(l->p, &by, e);
}

static void look_for_smallest(const struct lowering *l, expr e, uint32_t variable, uint32_t *smallest)
{
    if (expr_mentions(l->p, e, variable) &&
        (*smallest == UINT32_MAX || variable_extent(l->p, variable) < variable_extent(l->p, *smallest)))
        *smallest = variable;
}

// The iterator of the fewest values in what is left of the expression.
static bool take_of(struct lowering *l, expr e)
{
    uint32_t smallest = UINT32_MAX;
    for (int i = 0; i < l->s.type.rank; i++)
        look_for_smallest(l, e, l->s.first_axis + (uint32_t)i, &smallest);
    for (int i = 0; i < l->s.n_sums; i++)
        look_for_smallest(l, e, l->s.sums[i], &smallest);
    if (smallest == UINT32_MAX || l->n_taken == MOST_TAKEN)
        return false;
    l->taken[l->n_taken++] = smallest;
    return true;
}

static bool is_in_others(struct lowering *l, int axis, expr variable)
{
    return ANY(int, i, axis,
               ANY(int, k, l->axes[i].n, l->axes[i].variables[k] == (uint32_t)l->p->d.nodes.items[variable].value));
}

static void insert_iterator(struct operand_axis *at, uint32_t variable, int64_t step)
{
    int k = at->n++;
    for (; k > 0 && at->steps[k - 1] < step; k--) {
        at->variables[k] = at->variables[k - 1];
        at->steps[k] = at->steps[k - 1];
    }
    at->variables[k] = variable;
    at->steps[k] = step;
}

static bool are_digits(const struct lowering *l, const struct operand_axis *at)
{
    for (int k = 0; k + 1 < at->n; k++)
        if (at->steps[k] != at->steps[k + 1] * variable_extent(l->p, at->variables[k + 1]))
            return false;
    return at->n < 2 || at->steps[at->n - 1] == 1;
}

// Its iterators that are left. False: they make no slice.
static bool find_iterators(struct lowering *l, int axis)
{
    struct operand_axis *at = &l->axes[axis];
    struct affine_form f;
    bool is_slice = affine_form_of(&l->p->d, at_values(l, at->index, NULL), &f) && f.n <= MAX_RANK;
    at->n = 0;
    for (int i = 0; is_slice && i < f.n; i++) {
        const struct expr_node *n = &l->p->d.nodes.items[f.terms[i].atom];
        is_slice = n->kind == EXPR_VARIABLE && f.terms[i].factor > 0 && !is_in_others(l, axis, f.terms[i].atom);
        if (is_slice)
            insert_iterator(at, (uint32_t)n->value, f.terms[i].factor);
    }
    return is_slice && are_digits(l, at);
}

static bool is_constant(const struct lowering *l, expr e)
{
    return l->p->d.nodes.items[e].kind == EXPR_INTEGER;
}

// A guard that is not constant, or an index without iterators: variables in it have to be taken one after the other.
static bool find_trouble(struct lowering *l, expr *ret)
{
    for (int i = 0; i < l->s.n_guards; i++)
        if (!is_constant(l, *ret = at_values(l, l->s.guards[i], NULL)))
            return true;
    for (int axis = 0; axis < l->n_axes; axis++)
        if (!find_iterators(l, axis)) {
            *ret = at_values(l, l->axes[axis].index, NULL);
            return true;
        }
    return false;
}

static bool is_taken(const struct lowering *l, uint32_t variable)
{
    return ANY(int, i, l->n_taken, l->taken[i] == variable);
}

static bool is_axis(const struct lowering *l, uint32_t variable)
{
    return variable >= l->s.first_axis && variable < l->s.first_axis + (uint32_t)l->s.type.rank;
}

// Axes in their order, then sums.
static void order_taken(struct lowering *l)
{
    int n = 0;
    uint32_t taken[MOST_TAKEN];
    for (uint32_t v = l->s.first_axis; is_axis(l, v); v++)
        if (is_taken(l, v))
            taken[n++] = v;
    l->n_taken_axes = n;
    for (int i = 0; i < l->n_taken; i++)
        if (!is_axis(l, l->taken[i]))
            taken[n++] = l->taken[i];
    for (int i = 0; i < n; i++)
        l->taken[i] = taken[i];
}

static bool take_iterators(struct lowering *l)
{
    expr trouble;
    int64_t n = 1;
    while (find_trouble(l, &trouble))
        if (!take_of(l, trouble))
            return false;
    for (int i = 0; i < l->n_taken && n <= MOST_PIECES; i++)
        n *= variable_extent(l->p, l->taken[i]);
    for (int i = 0; i < l->s.n_sums; i++)
        if (!is_taken(l, l->s.sums[i]))
            return false;
    l->n_pieces = (int)n;
    order_taken(l);
    return n <= MOST_PIECES;
}

// --- slices ----------------------------------------------------------------------------------------------------------

static int64_t span(const struct lowering *l, const struct operand_axis *at)
{
    return at->n ? (variable_extent(l->p, at->variables[0]) - 1) * at->steps[0] + (at->n > 1 ? at->steps[0] : 1) : 1;
}

static bool has_iterators(const struct lowering *l, const struct operand_axis *at, const struct affine_form *f)
{
    bool has = f->n == at->n;
    for (int i = 0; i < f->n && has; i++) {
        const struct expr_node *n = &l->p->d.nodes.items[f->terms[i].atom];
        int k = FIRST_OF(int, v, at->n, n->kind == EXPR_VARIABLE && at->variables[v] == (uint32_t)n->value);
        has = k < at->n && at->steps[k] == f->terms[i].factor;
    }
    return has;
}

static bool find_piece(struct lowering *l, const int64_t *values, struct piece *ret)
{
    struct affine_form f;
    *ret = (struct piece){0};
    for (int i = 0; i < l->s.n_guards; i++) {
        expr guard = at_values(l, l->s.guards[i], values);
        if (!is_constant(l, guard))
            return false;
        ret->is_zero = ret->is_zero || l->p->d.nodes.items[guard].value < 0;
    }
    for (int axis = 0; axis < l->n_axes && !ret->is_zero; axis++) {
        struct operand_axis *at = &l->axes[axis];
        if (!affine_form_of(&l->p->d, at_values(l, at->index, values), &f) || !has_iterators(l, at, &f))
            return false;
        ret->start[axis] = f.base;
        at->low = f.base < at->low ? f.base : at->low;
        at->high = f.base + span(l, at) > at->high ? f.base + span(l, at) : at->high;
    }
    return true;
}

static bool find_pieces(struct lowering *l)
{
    for (int axis = 0; axis < l->n_axes; axis++)
        l->axes[axis].high = l->axes[axis].size;
    for (int k = 0; k < l->n_pieces; k++) {
        int64_t values[MOST_TAKEN];
        int rest = k;
        for (int i = l->n_taken; i-- > 0;) {
            int64_t extent = variable_extent(l->p, l->taken[i]);
            values[i] = rest % extent;
            rest /= (int)extent;
        }
        if (!find_piece(l, values, &l->pieces[k]))
            return false;
    }
    return true;
}

// --- terms -----------------------------------------------------------------------------------------------------------

static term_id add_call(struct lowering *l, enum operator_id op, int n_lists, const int64_t *const *lists,
                        uint32_t count, uint32_t n_inputs, const term_id *inputs)
{
    struct attribute_value attributes[MAX_ATTRIBUTES];
    operator_standard_attributes(operators[op], l->arena, attributes);
    for (int i = 0; i < n_lists; i++)
        attributes[i] = (struct attribute_value){count, lists[i]};
    return pattern_add_call(l->pattern, operators[op], attributes, n_inputs, inputs, l->arena);
}

static term_id add_view(struct lowering *l, int rank, const int64_t *dim, term_id of)
{
    return add_call(l, OP_RESHAPE, 1, &dim, (uint32_t)rank, 1, &of);
}

static term_id add_padded_operand(struct lowering *l, term_id operand)
{
    int64_t dim[MAX_RANK], pads[2 * MAX_RANK];
    const int64_t *lists = pads;
    bool has_pads = false;
    for (int axis = 0; axis < l->n_axes; axis++) {
        dim[axis] = l->axes[axis].size;
        pads[axis] = -l->axes[axis].low;
        pads[l->n_axes + axis] = l->axes[axis].high - l->axes[axis].size;
        has_pads = has_pads || pads[axis] || pads[l->n_axes + axis];
    }
    int rank = definition_tensor(&l->p->d, read_tensor_of(l->p, l->s.reads[0]))->rank;
    term_id term = rank == l->n_axes ? operand : add_view(l, l->n_axes, dim, operand);
    return has_pads ? add_call(l, OP_PAD, 1, &lists, 2 * (uint32_t)l->n_axes, 1, &term) : term;
}

static term_id add_slice(struct lowering *l, const struct piece *piece)
{
    int64_t start[MAX_RANK], size[MAX_RANK], step[MAX_RANK];
    const int64_t *const lists[] = {start, size, step};
    bool is_whole = true;
    for (int axis = 0; axis < l->n_axes; axis++) {
        const struct operand_axis *at = &l->axes[axis];
        start[axis] = piece->start[axis] - at->low;
        step[axis] = at->n == 1 ? at->steps[0] : 1;
        size[axis] = (span(l, at) - 1) / step[axis] + 1;
        is_whole = is_whole && size[axis] == at->high - at->low;
    }
    return is_whole ? l->operand : add_call(l, OP_SLICE, 3, lists, (uint32_t)l->n_axes, 1, &l->operand);
}

// The place of the variable among those of the result that are not taken.
static int place_of(const struct lowering *l, uint32_t variable)
{
    int place = 0;
    for (uint32_t v = l->s.first_axis; v < variable; v++)
        place += !is_taken(l, v) && variable_extent(l->p, v) > 1;
    return place;
}

// The iterators that slices have, in their order, as axes in that of the result, with axes of one entry between.
static term_id add_axes_in_order(struct lowering *l, term_id of)
{
    int64_t dim[MAX_RANK], perm[MAX_RANK], shape[MAX_RANK];
    const int64_t *lists = perm;
    int n = 0;
    bool is_in_order = true;
    for (int axis = 0; axis < l->n_axes; axis++)
        for (int k = 0; k < l->axes[axis].n; k++) {
            dim[n] = variable_extent(l->p, l->axes[axis].variables[k]);
            int place = place_of(l, l->axes[axis].variables[k]);
            is_in_order = is_in_order && place == n;
            perm[place] = n++;
        }
    for (int axis = 0; axis < l->s.type.rank; axis++)
        shape[axis] = is_taken(l, l->s.first_axis + (uint32_t)axis) ? 1 : l->s.type.dim[axis];
    if (!is_in_order) {
        of = add_view(l, n, dim, of);
        of = add_call(l, OP_TRANSPOSE, 1, &lists, (uint32_t)n, 1, &of);
    }
    return l->n_taken_axes ? add_view(l, l->s.type.rank, shape, of) : of;
}

static bool add_sum(struct lowering *l, int first, int count, term_id *ret)
{
    bool is_there = false;
    for (int k = first; k < first + count; k++) {
        if (l->pieces[k].is_zero)
            continue;
        term_id slice = add_slice(l, &l->pieces[k]);
        *ret = is_there ? add_call(l, OP_EWADD, 0, NULL, 0, 2, (const term_id[]){*ret, slice}) : slice;
        is_there = true;
    }
    if (is_there)
        *ret = add_axes_in_order(l, *ret);
    return is_there;
}

// The pieces first ... first + count - 1, which are those of some values of the first `level` axes that are taken.
static bool add_joined(struct lowering *l, int level, int first, int count, term_id *ret)
{
    if (level == l->n_taken_axes)
        return add_sum(l, first, count, ret);
    int64_t axis = l->taken[level] - l->s.first_axis;
    const int64_t *lists = &axis;
    int extent = (int)l->s.type.dim[axis];
    term_id part;
    for (int k = 0; k < extent; k++) {
        if (!add_joined(l, level + 1, first + k * (count / extent), count / extent, &part))
            return false;
        *ret = k ? add_call(l, OP_CONCAT, 1, &lists, 1, 2, (const term_id[]){*ret, part}) : part;
    }
    return true;
}

// Does the read have each axis of the result that is not taken?
static bool has_all_axes(const struct lowering *l)
{
    int n = 0, n_wanted = 0;
    for (int axis = 0; axis < l->n_axes; axis++)
        n += l->axes[axis].n;
    for (int axis = 0; axis < l->s.type.rank; axis++)
        n_wanted += l->s.type.dim[axis] > 1 && !is_taken(l, l->s.first_axis + (uint32_t)axis);
    return n == n_wanted;
}

bool standard_form_add(struct pool *p, int tensor, term_id operand, struct pattern *pattern, struct arena *a,
                       term_id *ret_term)
{
    struct lowering l = {.p = p, .pattern = pattern, .arena = a};
    if (!scope_take(p, tensor, &l.s) || l.s.n_reads != 1 || l.s.factor != 1 || l.s.divisor != 1)
        return false;
    const struct type type = l.s.type;
    if (!part_axes(&l))
        return false;
    find_operand_axes(&l);
    if (!take_iterators(&l) || !has_all_axes(&l) || !find_pieces(&l))
        return false;
    l.operand = add_padded_operand(&l, operand);
    if (!add_joined(&l, 0, 0, l.n_pieces, ret_term))
        return false;
    *ret_term = add_view(&l, type.rank, type.dim, *ret_term);
    return true;
}
