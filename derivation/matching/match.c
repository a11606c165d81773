// For each table, each order of operands, and each choice of windows: iterators are assigned (assign), the result and
// sums brought into the operator's form (shape_result, merge_sums), operands named (name_operand), and what has come
// out is compared with the operator's definition (is_application).
#include "derivation/matching/match.h"

#include "core/memory/arena.h"
#include "derivation/matching/windows.h"
#include "derivation/rules/name_operand.h"
#include "derivation/rules/substitute_axes.h"
#include "derivation/rules/substitute_sums.h"
#include "derivation/scopes/substitution.h"
#include "expressions/affine.h"
#include <string.h>

enum { MOST_OF_ITERATOR = 8 };
// The scope's iterators that are one of the table's, the slowest first.
struct assigned {
    int n;
    uint32_t variables[MOST_OF_ITERATOR];
    int64_t extent;
    expr value;   // of the scope's variables, once the result and sums have the operator's form
};
struct matching {
    struct derivation *dv;
    struct pool *p;
    const struct iterator_table *table;
    struct scope s;
    int reads[OPERANDS];   // the scope's, for each operand
    struct assigned iterators[MOST_TABLE_ITERATORS];
    int n_windows;
    struct window_pair windows[MAX_RANK];   // in the order of the first operand's window axes
    bool pads;                              // windows leave the operand, where they can
    int64_t pad_begin[MAX_RANK];
    struct axis_substitution by;
    int distance;
};

// --- assignment ------------------------------------------------------------------------------------------------------

static uint8_t signature_of(const struct matching *m, uint32_t variable, uint8_t signature)
{
    for (int i = 0; i < OPERANDS; i++)
        if (expr_mentions(m->p, m->s.reads[m->reads[i]], variable))
            signature |= (uint8_t)(IN_FIRST << i);
    return signature;
}

// The place of the variable in the operand that decides on the order of iterators: weights stay as they are.
static int place_in_operand(const struct matching *m, uint32_t variable, uint8_t signature)
{
    expr read = m->s.reads[m->reads[signature & IN_SECOND ? 1 : 0]];
    int rank = definition_tensor(&m->p->d, read_tensor_of(m->p, read))->rank;
    return FIRST_OF(int, axis, rank, expr_mentions(m->p, read_indices(m->p, read)[axis], variable));
}

static bool insert_variable(const struct matching *m, struct assigned *to, uint32_t variable, uint8_t signature)
{
    int place = place_in_operand(m, variable, signature), at = to->n;
    if (to->n == MOST_OF_ITERATOR)
        return false;
    for (; at > 0 && place_in_operand(m, to->variables[at - 1], signature) > place; at--)
        to->variables[at] = to->variables[at - 1];
    to->variables[at] = variable;
    to->n++;
    to->extent *= variable_extent(m->p, variable);
    return true;
}

static bool is_in_window(const struct matching *m, uint32_t variable)
{
    return ANY(int, i, m->n_windows, m->windows[i].of_result == variable || m->windows[i].of_sum == variable);
}

// Assigns the last of the table's iterators of this signature that is of no window.
static bool assign_variable(struct matching *m, uint32_t variable, uint8_t of_result)
{
    uint8_t signature = signature_of(m, variable, of_result);
    if (is_in_window(m, variable))
        return true;
    for (int i = m->table->n_iterators; i-- > 0;)
        if (m->table->signatures[i] == signature && !iterator_is_of_window(m->table, i))
            return insert_variable(m, &m->iterators[i], variable, signature);
    return false;
}

static void assign_windows(struct matching *m)
{
    const struct iterator_table *t = m->table;
    for (int axis = 0, w = 0; axis < t->operand_rank[0]; axis++) {
        const int *of = t->operands[0][axis].iterators;
        if (!t->operands[0][axis].is_window || w == m->n_windows)
            continue;
        const struct window_pair *pair = &m->windows[w++];
        insert_variable(m, &m->iterators[of[0]], pair->of_result, 0);
        if (pair->of_sum != NO_VARIABLE)
            insert_variable(m, &m->iterators[of[1]], pair->of_sum, 0);
    }
}

static bool assign(struct matching *m)
{
    for (int i = 0; i < m->table->n_iterators; i++)
        m->iterators[i] = (struct assigned){.extent = 1, .value = pool_integer(m->p, 0)};
    assign_windows(m);
    for (int axis = 0; axis < m->s.type.rank; axis++)
        if (m->s.type.dim[axis] > 1 && !assign_variable(m, m->s.first_axis + (uint32_t)axis, IN_RESULT))
            return false;
    for (int i = 0; i < m->s.n_sums; i++)
        if (!assign_variable(m, m->s.sums[i], 0))
            return false;
    for (int i = 0; i < m->table->n_iterators; i++)
        m->distance += m->iterators[i].n == 1 ? 0 : m->iterators[i].n ? m->iterators[i].n - 1 : 1;
    return m->table->shared < 0 || m->iterators[m->table->shared].n > 0;
}

// --- the result ------------------------------------------------------------------------------------------------------

static expr digit(struct pool *p, expr index, int64_t weight, int64_t extent)
{
    return extent == 1 ? pool_integer(p, 0) : pool_index_mod(p, pool_index_div(p, index, weight), extent);
}

// The axis of the result is made of the scope's axes as a number is of digits.
static void shape_axis(struct matching *m, int axis, uint32_t new_axis)
{
    const struct table_axis *of = &m->table->result[axis];
    expr index = pool_integer(m->p, 0), variable = pool_variable(m->p, new_axis);
    int64_t weight = 1;
    for (int k = of->n; k-- > 0;) {
        struct assigned *it = &m->iterators[of->iterators[k]];
        it->value = digit(m->p, variable, weight, it->extent);
        for (int i = it->n; i-- > 0;) {
            uint32_t old = it->variables[i];
            int64_t extent = variable_extent(m->p, old);
            index = pool_index_add(m->p, index, pool_index_mul(m->p, pool_variable(m->p, old), weight));
            m->by.old_by_new[old - m->s.first_axis] = digit(m->p, variable, weight, extent);
            weight *= extent;
        }
    }
    m->by.new_by_old[axis] = index;
}

static bool shape_result(struct matching *m)
{
    int64_t dim[MAX_RANK];
    for (int axis = 0; axis < m->table->rank; axis++) {
        dim[axis] = 1;
        for (int k = 0; k < m->table->result[axis].n; k++)
            dim[axis] *= m->iterators[m->table->result[axis].iterators[k]].extent;
    }
    m->by = (struct axis_substitution){.type = type_make(m->s.type.dtype, m->table->rank, dim)};
    for (int axis = 0; axis < m->s.type.rank; axis++)
        m->by.old_by_new[axis] = pool_integer(m->p, 0);
    uint32_t first = pool_axes(m->p, &m->by.type);
    for (int axis = 0; axis < m->table->rank; axis++)
        shape_axis(m, axis, first + (uint32_t)axis);
    return rule_substitute_axes(m->p, &m->s, &m->by);
}

static bool merge_sum(struct matching *m, struct assigned *it)
{
    struct sum_substitution by = {.n_old = it->n, .n_new = 1};
    uint32_t merged = it->n == 1 ? it->variables[0] : scope_new_sum(m->p, &m->s, it->extent);
    int64_t weight = 1;
    it->value = pool_variable(m->p, merged);
    by.new[0] = merged;
    by.new_by_old[0] = pool_integer(m->p, 0);
    for (int i = it->n; i-- > 0; weight *= variable_extent(m->p, it->variables[i])) {
        by.old[i] = it->variables[i];
        by.old_by_new[i] = digit(m->p, it->value, weight, variable_extent(m->p, by.old[i]));
        expr part = pool_index_mul(m->p, pool_variable(m->p, by.old[i]), weight);
        by.new_by_old[0] = pool_index_add(m->p, by.new_by_old[0], part);
    }
    return it->n == 1 || rule_substitute_sums(m->p, &m->s, &by);
}

static bool merge_sums(struct matching *m)
{
    return ALL(int, i, m->table->n_iterators,
               m->table->signatures[i] & IN_RESULT || m->iterators[i].n <= 0 || merge_sum(m, &m->iterators[i]));
}

// --- operands --------------------------------------------------------------------------------------------------------

// An operand with a name while its axes are found: each iterator in variables of these.
struct operand {
    struct matching *m;
    int number;
    struct named_operand as;
    expr entries[MOST_TABLE_ITERATORS];
    bool is_padded[MAX_RANK];   // a window that may leave the operand
};

static int64_t reach(const struct matching *m, const struct table_axis *of, const struct window_pair *w)
{
    int64_t results = m->iterators[of->iterators[0]].extent, sums = m->iterators[of->iterators[1]].extent;
    return (results - 1) * w->stride + (sums - 1) * w->dilation + 1;
}

static const struct window_pair no_window = {NO_VARIABLE, NO_VARIABLE, -1, 1, 1, 1};

static const struct window_pair *window_of_axis(const struct matching *m, int axis)
{
    int w = COUNT(int, i, axis, m->table->operands[0][i].is_window);
    return w < m->n_windows ? &m->windows[w] : &no_window;
}

static int64_t size_of_axis(const struct operand *o, int axis)
{
    const struct table_axis *of = &o->m->table->operands[o->number][axis];
    int64_t size = 1;
    if (of->is_window)
        return reach(o->m, of, window_of_axis(o->m, axis));
    for (int k = 0; k < of->n; k++)
        size *= o->m->iterators[of->iterators[k]].extent;
    return size;
}

static void read_digits(struct operand *o, int axis, expr variable)
{
    const struct table_axis *of = &o->m->table->operands[o->number][axis];
    int64_t weight = 1;
    o->as.read_at[axis] = pool_integer(o->m->p, 0);
    for (int k = of->n; k-- > 0;) {
        const struct assigned *it = &o->m->iterators[of->iterators[k]];
        expr part = pool_index_mul(o->m->p, it->value, weight);
        o->as.read_at[axis] = pool_index_add(o->m->p, o->as.read_at[axis], part);
        o->entries[of->iterators[k]] = digit(o->m->p, variable, weight, it->extent);
        weight *= it->extent;
    }
}

static expr place_in_window(const struct operand *o, const struct table_axis *of, const struct window_pair *w)
{
    struct pool *p = o->m->p;
    expr result = pool_index_mul(p, o->m->iterators[of->iterators[0]].value, w->stride);
    expr sum = pool_index_mul(p, o->m->iterators[of->iterators[1]].value, w->dilation);
    return pool_index_add(p, result, sum);
}

// The window may leave the tensor itself where nothing but the window is read on its axis.
static void leave_pads(struct operand *o, int axis)
{
    struct pool *p = o->m->p;
    const struct window_pair *w = window_of_axis(o->m, axis);
    struct affine_form f;
    expr read = o->m->s.reads[o->m->reads[0]];
    o->m->pad_begin[axis] = 0;
    if (w->axis < 0 || w->scale != 1 || !o->m->pads)
        return;
    expr others = pool_index_mul(p, place_in_window(o, &o->m->table->operands[0][axis], w), -1);
    others = pool_index_add(p, read_indices(p, read)[w->axis], others);
    if (!affine_form_of(&p->d, others, &f) || f.n > 0 || f.base > 0)
        return;
    o->is_padded[axis] = true;
    o->m->pad_begin[axis] = -f.base;
    o->as.type.dim[axis] = definition_tensor(&p->d, read_tensor_of(p, read))->dim[w->axis];
}

static bool is_window(const struct operand *o, int axis)
{
    return o->number == 0 && o->m->table->operands[0][axis].is_window;
}

static void find_sizes(struct operand *o)
{
    int rank = o->m->table->operand_rank[o->number];
    int64_t dim[MAX_RANK];
    for (int axis = 0; axis < rank; axis++)
        dim[axis] = size_of_axis(o, axis);
    o->as.type = type_make(o->m->s.type.dtype, rank, dim);
    for (int axis = 0; axis < rank; axis++)
        if (is_window(o, axis))
            leave_pads(o, axis);
}

static void find_indices(struct operand *o)
{
    struct pool *p = o->m->p;
    uint32_t first = pool_axes(p, &o->as.type);
    for (int axis = 0; axis < o->as.type.rank; axis++) {
        const struct window_pair *w = window_of_axis(o->m, axis);
        if (!is_window(o, axis))
            read_digits(o, axis, pool_variable(p, first + (uint32_t)axis));
        else if (o->is_padded[axis])
            o->as.read_at[axis] = read_indices(p, o->m->s.reads[o->m->reads[0]])[w->axis];
        else
            o->as.read_at[axis] = place_in_window(o, &o->m->table->operands[0][axis], w);
    }
}

// The substitutes of the scope's variables in the operand: digits of its axes, 0 for iterators that it has not.
static struct substitution substitution_of_entries(const struct operand *o)
{
    const struct matching *m = o->m;
    struct substitution entries = {0};
    for (int axis = 0; axis < m->table->rank; axis++) {
        expr index = pool_integer(m->p, 0);
        int64_t weight = 1;
        for (int k = m->table->result[axis].n; k-- > 0;) {
            int it = m->table->result[axis].iterators[k];
            index = pool_index_add(m->p, index, pool_index_mul(m->p, o->entries[it], weight));
            weight *= m->iterators[it].extent;
        }
        substitution_add(&entries, m->s.first_axis + (uint32_t)axis, index);
    }
    for (int i = 0; i < m->table->n_iterators; i++)
        if (!(m->table->signatures[i] & IN_RESULT) && m->iterators[i].n)
            substitution_add(&entries, (uint32_t)m->p->d.nodes.items[m->iterators[i].value].value, o->entries[i]);
    return entries;
}

// The operand's axis for a window on this axis of the tensor, or -1.
static int window_on(const struct operand *o, int axis)
{
    return PLACE_OF(int, i, o->as.type.rank, is_window(o, i) && window_of_axis(o->m, i)->axis == axis);
}

static expr entry_of_index(struct operand *o, const struct substitution *entries, int axis)
{
    struct pool *p = o->m->p;
    expr index = read_indices(p, o->m->s.reads[o->m->reads[o->number]])[axis];
    int window = window_on(o, axis);
    if (window < 0)
        return substitution_apply(p, entries, index);
    expr variable = pool_variable(p, pool_axes(p, &o->as.type) + (uint32_t)window);
    if (o->is_padded[window])
        return variable;
    const struct window_pair *w = window_of_axis(o->m, window);
    expr place = place_in_window(o, &o->m->table->operands[0][window], w);
    expr others = pool_index_add(p, index, pool_index_mul(p, place, -w->scale));
    return pool_index_add(p, substitution_apply(p, entries, others), pool_index_mul(p, variable, w->scale));
}

static bool is_guard_of(const struct operand *o, expr guard, expr entry)
{
    struct substitution phi = {0};
    uint32_t first = pool_axes(o->m->p, &o->as.type);
    for (int axis = 0; axis < o->as.type.rank; axis++)
        substitution_add(&phi, first + (uint32_t)axis, o->as.read_at[axis]);
    return substitution_apply(o->m->p, &phi, entry) == guard;
}

static bool name_operand(struct matching *m, int number)
{
    struct operand o = {.m = m, .number = number};
    struct pool *p = m->p;
    expr read = m->s.reads[m->reads[number]];
    int rank = definition_tensor(&p->d, read_tensor_of(p, read))->rank;
    for (int i = 0; i < m->table->n_iterators; i++)
        o.entries[i] = pool_integer(p, 0);
    find_sizes(&o);
    find_indices(&o);
    struct substitution entries = substitution_of_entries(&o);
    for (int axis = 0; axis < rank; axis++)
        o.as.entry_of[axis] = entry_of_index(&o, &entries, axis);
    for (int i = 0; i < m->s.n_guards; i++) {
        o.as.entry_guards[i] = substitution_apply(p, &entries, m->s.guards[i]);
        o.as.guards |= is_guard_of(&o, m->s.guards[i], o.as.entry_guards[i]) ? 1u << i : 0;
    }
    return type_has_allowed_size(&o.as.type) && rule_name_operand(p, &m->s, m->reads[number], &o.as);
}

// --- the operator ----------------------------------------------------------------------------------------------------

static void set_role(struct matching *m, struct attribute_value *attributes, enum attribute_role role,
                     const int64_t *ints, int n)
{
    int attribute = operator_find_role(m->table->op, role);
    if (attribute >= 0)
        attributes[attribute] = (struct attribute_value){(uint32_t)n, arena_copy_array(m->dv->arena, ints, n)};
}

static void set_window_roles(struct matching *m, const struct type *image, struct attribute_value *attributes)
{
    int64_t stride[MAX_RANK], dilation[MAX_RANK], pads[2 * MAX_RANK];
    int n = 0, n_windows = 0;
    for (int axis = 0; axis < m->table->operand_rank[0]; axis++)
        n_windows += m->table->operands[0][axis].is_window;
    for (int axis = 0; axis < m->table->operand_rank[0]; axis++) {
        const struct table_axis *of = &m->table->operands[0][axis];
        if (!of->is_window)
            continue;
        const struct window_pair *w = window_of_axis(m, axis);
        int64_t end = reach(m, of, w) - image->dim[axis] - m->pad_begin[axis];
        stride[n] = w->stride;
        dilation[n] = w->dilation;
        pads[n] = m->pad_begin[axis];
        pads[n_windows + n++] = end > 0 ? end : 0;
    }
    set_role(m, attributes, ROLE_STRIDE, stride, n);
    set_role(m, attributes, ROLE_DILATION, dilation, n);
    set_role(m, attributes, ROLE_WINDOW_PADS, pads, 2 * n);
}

// Is the scope, in normal form, what the operator computes of the operands?
static bool is_application(struct matching *m, int result, const int *operands,
                           const struct attribute_value *attributes)
{
    struct definition d FREED_BY(definition_free);
    int outputs[MAX_OUTPUTS];
    struct type inputs[OPERANDS];
    for (int i = 0; i < OPERANDS; i++)
        inputs[i] = *definition_tensor(&m->p->d, operands[i]);
    struct operator_call call = {m->table->op, OPERANDS, inputs, attributes};
    definition_init(&d, m->dv->arena, OPERANDS, inputs);
    bool is_defined = operator_define(&d, &call);
    if (is_defined)
        composition_add(&m->dv->all, &d, operands, outputs);
    return is_defined && derivation_normal(m->dv, outputs[0]) == result;
}

static bool find_application(struct matching *m, int result, struct application *ret_application)
{
    struct attribute_value *attributes = arena_array(m->dv->arena, struct attribute_value, MAX_ATTRIBUTES);
    int64_t groups = m->table->shared < 0 ? 1 : m->iterators[m->table->shared].extent;
    *ret_application = (struct application){.result = result, .op = m->table->op, .attributes = attributes};
    for (int i = 0; i < OPERANDS; i++)
        ret_application->operands[i] = read_tensor_of(m->p, m->s.reads[m->reads[i]]);
    operator_standard_attributes(m->table->op, m->dv->arena, attributes);
    set_role(m, attributes, ROLE_GROUPS, &groups, 1);
    set_window_roles(m, definition_tensor(&m->p->d, ret_application->operands[0]), attributes);
    return is_application(m, result, ret_application->operands, attributes);
}

static bool is_known(const struct match_list *matches, const struct match *match)
{
    return ANY(size_t, i, matches->items.count, matches->items.items[i].equal == match->equal);
}

static bool match_windows(struct matching m, struct match_list *matches)
{
    const struct type old = m.s.type;
    struct application application;
    if (!assign(&m) || !shape_result(&m) || !merge_sums(&m) || !name_operand(&m, 0) || !name_operand(&m, 1) ||
        m.s.n_guards)
        return false;
    int result = scope_make(m.p, &m.s);
    if (result == NO_SCOPE || !find_application(&m, result, &application))
        return false;
    struct match match = {scope_copy(m.p, &old, result, m.by.new_by_old), result, m.distance};
    match.equal = scope_copied_whole(m.p, match.equal);
    if (!is_known(matches, &match))
        vec_push(&matches->items, match);
    derivation_add_application(m.dv, &application);
    return true;
}

// --- choices ---------------------------------------------------------------------------------------------------------

static bool choose(struct matching *m, const struct window_pairs *pairs, unsigned chosen)
{
    m->n_windows = 0;
    for (int i = 0; i < pairs->n; i++) {
        const struct window_pair *pair = &pairs->items[i];
        if (!(chosen >> i & 1))
            continue;
        if (is_in_window(m, pair->of_result) || (pair->of_sum != NO_VARIABLE && is_in_window(m, pair->of_sum)))
            return false;
        m->windows[m->n_windows++] = *pair;
    }
    return true;
}

// Windows of several entries are taken all or none; those of one entry fill up.
static void match_choices(struct matching *m, const struct window_pairs *pairs, int n_windows, int n_real,
                          struct match_list *matches)
{
    for (unsigned chosen = 0; chosen < 1u << pairs->n; chosen++) {
        int n = __builtin_popcount(chosen), real = 0;
        for (int i = 0; i < pairs->n; i++)
            real += (chosen >> i & 1) && pairs->items[i].of_sum != NO_VARIABLE;
        if (n > n_windows || real != n_real || !choose(m, pairs, chosen))
            continue;
        m->pads = true;
        if (!match_windows(*m, matches)) {
            m->pads = false;
            match_windows(*m, matches);
        }
    }
}

static void match_order(struct matching *m, struct match_list *matches)
{
    struct window_pairs pairs = {0};
    int n_windows = 0, n_real;
    for (int axis = 0; axis < m->table->operand_rank[0]; axis++)
        n_windows += m->table->operands[0][axis].is_window;
    if (n_windows)
        find_windows(m->p, &m->s, m->s.reads[m->reads[0]], m->s.reads[m->reads[1]], &pairs);
    n_real = pairs.n_real < n_windows ? pairs.n_real : n_windows;
    match_choices(m, &pairs, n_windows, n_real, matches);
    if (n_real > 0)
        match_choices(m, &pairs, n_windows, 0, matches);
}

void match_scope(struct derivation *dv, int tensor, struct match_list *matches)
{
    struct matching m = {.dv = dv, .p = &dv->all.pool};
    if (!scope_take(m.p, tensor, &m.s) || m.s.n_reads != OPERANDS || m.s.factor != 1 || m.s.divisor != 1)
        return;
    for (size_t i = 0; i < dv->tables->items.count; i++)
        for (int first = 0; first < OPERANDS; first++) {
            m.table = &dv->tables->items.items[i];
            m.reads[0] = first;
            m.reads[1] = 1 - first;
            match_order(&m, matches);
        }
}
