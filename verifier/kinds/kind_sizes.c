// What is known of operators by their roles and traits: equations that all instances of a kind solve. A kind whose
// equations have no solution has no instance; what is not known is left out (T15).
#include "verifier/kinds/kind_sizes.h"

#include "core/memory/arena.h"
#include "operators/traits.h"
#include "verifier/bounds/unhandled.h"
#include <string.h>

// --- lists of sizes --------------------------------------------------------------------------------------------------

enum { MOST_ENTRIES = 2 * MAX_RANK };
struct size_list {
    bool is_known;
    uint32_t count;
    struct size_sum items[MOST_ENTRIES];
};
// Where an axis was joined.
enum cut_kind { CUT_NOWHERE, CUT_ANYWHERE, CUT_AT, CUT_UNKNOWN };
struct cut {
    enum cut_kind kind;
    struct size_sum at;
};
// Terms of ranks and of attributes that have values.
static bool has_value(const struct kind *k, const struct attribute_term *t)
{
    return !attribute_term_mentions_sizes(t) && (attribute_variables_of_term(t) & ~k->with_end) == 0;
}

static bool evaluate(struct kind *k, const struct attribute_term *t, struct attribute_value *ret)
{
    struct term_bindings b = {k->type_of, k->attributes};
    return has_value(k, t) && attribute_term_evaluate(t, &b, k->arena, ret);
}

static bool evaluate_integer(struct kind *k, const struct attribute_term *t, int64_t *ret)
{
    struct attribute_value value;
    bool is_integer = evaluate(k, t, &value) && value.count == 1;
    if (is_integer)
        *ret = value.ints[0];
    return is_integer;
}

static void add_to_list(struct size_list *list, struct size_sum size)
{
    list->is_known = list->is_known && list->count < MOST_ENTRIES;
    if (list->is_known)
        list->items[list->count++] = size;
}

static void add_values(struct kind *k, struct size_list *list, const struct attribute_term *t)
{
    struct attribute_value value = {0};
    bool is_evaluated = evaluate(k, t, &value);
    k->is_impossible = k->is_impossible || (has_value(k, t) && !is_evaluated);
    list->is_known = list->is_known && is_evaluated;
    for (uint32_t i = 0; list->is_known && i < value.count; i++)
        add_to_list(list, size_number(value.ints[i]));
}

static void add_dim(struct kind *k, struct size_list *list, const struct attribute_term *t)
{
    int64_t axis;
    const struct type *type = k->type_of[t->value];
    if (!type || !evaluate_integer(k, t->operands[0], &axis))
        add_to_list(list, size_unknown(&k->equations));
    else if (axis < 0 || axis >= type->rank)
        k->is_impossible = true;
    else
        add_to_list(list, k->sizes[t->value][axis]);
}

static void add_term(struct kind *k, struct size_list *list, const struct attribute_term *t);

static void add_sum(struct kind *k, struct size_list *list, const struct attribute_term *t)
{
    struct size_list a = {.is_known = true}, b = {.is_known = true};
    add_term(k, &a, t->operands[0]);
    add_term(k, &b, t->operands[1]);
    if (a.is_known && b.is_known && a.count == 1 && b.count == 1)
        add_to_list(list, size_plus(&a.items[0], &b.items[0], t->kind == TERM_ADD ? 1 : -1));
    else
        list->is_known = false;
}

static void add_term(struct kind *k, struct size_list *list, const struct attribute_term *t)
{
    if (has_value(k, t))
        add_values(k, list, t);
    else if (t->kind == TERM_DIM)
        add_dim(k, list, t);
    else if (t->kind == TERM_DIMS && k->type_of[t->value])
        for (int axis = 0; axis < k->type_of[t->value]->rank; axis++)
            add_to_list(list, k->sizes[t->value][axis]);
    else if (t->kind == TERM_ADD || t->kind == TERM_SUB)
        add_sum(k, list, t);
    else if (t->kind == TERM_LIST)
        for (uint32_t i = 0; i < t->count; i++)
            add_term(k, list, t->operands[i]);
    else
        list->is_known = false;
}

static struct size_list list_of_role(struct kind *k, uint32_t node, enum attribute_role role)
{
    const struct attribute_pattern *a = pattern_node_attribute(&k->eq->pattern->nodes.items[node], role);
    struct size_list list = {.is_known = true};
    for (uint32_t i = 0; i < a->count; i++)
        add_term(k, &list, a->terms[i]);
    return list;
}

// --- terms -----------------------------------------------------------------------------------------------------------

// False: how many axes it has is not known.
static bool sizes_of_term(struct kind *k, term_id term, int *ret_rank, struct size_sum *ret_dim)
{
    const struct term *t = &k->eq->pattern->terms.items[term];
    if (t->is_variable) {
        *ret_rank = k->type_of[t->index] ? k->types[t->index].rank : 0;
        memcpy(ret_dim, k->sizes[t->index], sizeof k->sizes[t->index]);
        return k->type_of[t->index] != NULL;
    }
    const struct sizes_of_node *n = &k->nodes[t->index];
    *ret_rank = n->rank;
    memcpy(ret_dim, n->dim, sizeof n->dim);
    if (n->is_known && operator_splits(k->eq->pattern->nodes.items[t->index].op)) {
        k->is_impossible = k->is_impossible || (n->n_parts && t->output >= n->n_parts);
        ret_dim[n->axis] = n->n_parts && t->output < n->n_parts && t->output < MAX_RULE_OUTPUTS
                               ? n->part[t->output]
                               : size_unknown(&k->equations);
    }
    return n->is_known;
}

static struct cut cut_of_term(struct kind *k, term_id term, int axis);

// What both know.
static struct cut meet(struct kind *k, struct cut a, struct cut b)
{
    if (a.kind == CUT_NOWHERE || b.kind == CUT_NOWHERE)
        return (struct cut){.kind = CUT_NOWHERE};
    if (a.kind == CUT_UNKNOWN || b.kind == CUT_UNKNOWN)
        return (struct cut){.kind = CUT_UNKNOWN};
    if (a.kind == CUT_AT && b.kind == CUT_AT)
        size_equate(&k->equations, &a.at, &b.at);
    return a.kind == CUT_AT ? a : b;
}

static struct cut cut_of_inputs(struct kind *k, const struct pattern_node *node, int axis)
{
    struct cut cut = {.kind = CUT_ANYWHERE};
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        struct size_sum dim[MAX_RANK];
        int rank;
        bool is_known = sizes_of_term(k, node->inputs[i], &rank, dim);
        struct cut other = is_known && axis < rank ? cut_of_term(k, node->inputs[i], axis)
                                                   : (struct cut){is_known ? CUT_ANYWHERE : CUT_UNKNOWN, dim[0]};
        cut = meet(k, cut, other);
    }
    return cut;
}

static struct cut cut_of_join(struct kind *k, uint32_t node, int axis)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct size_sum dim[MAX_RANK];
    int rank;
    if (axis != k->nodes[node].axis)
        return cut_of_inputs(k, n, axis);
    if (n->n_inputs < 2 || !sizes_of_term(k, n->inputs[0], &rank, dim) || axis >= rank)
        return (struct cut){.kind = CUT_UNKNOWN};
    return (struct cut){CUT_AT, dim[axis]};
}

static struct cut cut_of_product(struct kind *k, const struct pattern_node *n, int rank, int axis)
{
    struct size_sum dim[MAX_RANK];
    int rank_of_right;
    if (!sizes_of_term(k, n->inputs[1], &rank_of_right, dim))
        return (struct cut){.kind = CUT_UNKNOWN};
    if (axis == rank - 1)
        return cut_of_term(k, n->inputs[1], rank_of_right - 1);
    if (axis == rank - 2 || rank_of_right != rank)
        return cut_of_term(k, n->inputs[0], axis);
    return cut_of_inputs(k, n, axis);
}

static struct cut cut_of_permuted(struct kind *k, uint32_t node, int axis)
{
    struct size_list perm = list_of_role(k, node, ROLE_PERMUTATION);
    bool is_known = perm.is_known && (uint32_t)axis < perm.count;
    return is_known ? cut_of_term(k, k->eq->pattern->nodes.items[node].inputs[0], (int)perm.items[axis].number)
                    : (struct cut){.kind = CUT_UNKNOWN};
}

// Windows forget where their images were joined; filters are those of the kernel where there is one group.
static struct cut cut_of_windows(struct kind *k, uint32_t node, int axis)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct size_list groups = list_of_role(k, node, ROLE_GROUPS);
    if (axis >= 2)
        return (struct cut){.kind = CUT_NOWHERE};
    if (axis == 0 || n->n_inputs == 1)
        return cut_of_term(k, n->inputs[0], axis);
    bool is_one_group = groups.is_known && groups.count == 1 && groups.items[0].number == 1;
    return is_one_group ? cut_of_term(k, n->inputs[1], 0) : (struct cut){.kind = CUT_UNKNOWN};
}

// Where merged groups stand side by side channels are read at places of their own.
static bool merges_channels(struct kind *k, uint32_t node, int axis)
{
    struct size_list count = list_of_role(k, node, ROLE_MERGED_GROUPS);
    return axis == 1 && count.is_known && count.count == 1 && count.items[0].number > 1;
}

static struct cut cut_of_term(struct kind *k, term_id term, int axis)
{
    const struct term *t = &k->eq->pattern->terms.items[term];
    if (t->is_variable)
        return (struct cut){.kind = CUT_NOWHERE};
    const struct pattern_node *n = &k->eq->pattern->nodes.items[t->index];
    if (!k->nodes[t->index].is_known)
        return (struct cut){.kind = CUT_UNKNOWN};
    if (operator_joins(n->op))
        return cut_of_join(k, t->index, axis);
    if (operator_works_entry_by_entry(n->op))
        return cut_of_inputs(k, n, axis);
    if (operator_permutes(n->op))
        return cut_of_permuted(k, t->index, axis);
    if (operator_multiplies_matrices(n->op))
        return cut_of_product(k, n, k->nodes[t->index].rank, axis);
    if (operator_splits(n->op) && axis != k->nodes[t->index].axis)
        return cut_of_term(k, n->inputs[0], axis);
    if (operator_has_windows(n->op))
        return cut_of_windows(k, t->index, axis);
    if (operator_merges_groups(n->op) && axis == 0)
        return cut_of_term(k, n->inputs[0], 0);
    if (operator_merges_groups(n->op) && merges_channels(k, t->index, axis))
        return (struct cut){.kind = CUT_NOWHERE};
    return (struct cut){.kind = CUT_UNKNOWN};
}

// --- nodes -----------------------------------------------------------------------------------------------------------

// All inputs but those of rank 0, where these scale, have one shape but for an axis; the result has that of the first.
static void type_alike(struct kind *k, uint32_t node, int but)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct sizes_of_node *of = &k->nodes[node];
    of->is_known = sizes_of_term(k, n->inputs[0], &of->rank, of->dim);
    for (uint32_t i = 1; i < n->n_inputs && of->is_known; i++) {
        struct size_sum dim[MAX_RANK];
        int rank;
        if (!sizes_of_term(k, n->inputs[i], &rank, dim))
            continue;
        bool scales = operator_scales(n->op);
        k->is_impossible = k->is_impossible || rank != (scales ? 0 : of->rank);
        for (int axis = 0; axis < of->rank && axis < rank && !scales; axis++)
            if (axis != but)
                size_equate(&k->equations, &of->dim[axis], &dim[axis]);
            else
                of->dim[axis] = size_plus(&of->dim[axis], &dim[axis], 1);
    }
}

// -1: not known.
static int axis_of_node(struct kind *k, uint32_t node)
{
    const struct attribute_pattern *a = pattern_node_attribute(&k->eq->pattern->nodes.items[node], ROLE_AXIS);
    int64_t axis;
    bool is_known = a->count == 1 && evaluate_integer(k, a->terms[0], &axis);
    k->is_impossible = k->is_impossible || (is_known && (axis < 0 || axis >= MAX_RANK));
    return is_known && !k->is_impossible ? (int)axis : -1;
}

static void type_join(struct kind *k, uint32_t node)
{
    int axis = axis_of_node(k, node);
    k->nodes[node].axis = axis;
    if (axis < 0)
        return;
    type_alike(k, node, axis);
    k->is_impossible = k->is_impossible || (k->nodes[node].is_known && axis >= k->nodes[node].rank);
}

static void cut_at_sizes(struct kind *k, struct sizes_of_node *of, const struct size_list *sizes)
{
    struct size_sum sum = size_number(0);
    of->n_parts = sizes->count;
    for (uint32_t i = 0; i < sizes->count; i++) {
        sum = size_plus(&sum, &sizes->items[i], 1);
        if (i < MAX_RULE_OUTPUTS)
            of->part[i] = sizes->items[i];
    }
    size_equate(&k->equations, &of->dim[of->axis], &sum);
}

static void cut_where_joined(struct kind *k, struct sizes_of_node *of, term_id input)
{
    struct cut cut = cut_of_term(k, input, of->axis);
    k->is_impossible = k->is_impossible || cut.kind == CUT_NOWHERE || cut.kind == CUT_ANYWHERE;
    of->n_parts = 2;
    of->part[0] = cut.kind == CUT_AT ? cut.at : size_unknown(&k->equations);
    of->part[1] = size_unknown(&k->equations);
    struct size_sum sum = size_plus(&of->part[0], &of->part[1], 1);
    size_equate(&k->equations, &of->dim[of->axis], &sum);
}

static void type_split(struct kind *k, uint32_t node)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct sizes_of_node *of = &k->nodes[node];
    of->axis = axis_of_node(k, node);
    of->is_known = of->axis >= 0 && sizes_of_term(k, n->inputs[0], &of->rank, of->dim);
    if (!of->is_known)
        return;
    k->is_impossible = k->is_impossible || of->axis >= of->rank;
    if (k->is_impossible)
        return;
    struct size_list sizes = list_of_role(k, node, ROLE_PART_SIZES);
    if (pattern_node_attribute(n, ROLE_PART_SIZES)->count == 0)
        cut_where_joined(k, of, n->inputs[0]);
    else if (sizes.is_known)
        cut_at_sizes(k, of, &sizes);
}

static void type_permuted(struct kind *k, uint32_t node)
{
    struct size_list perm = list_of_role(k, node, ROLE_PERMUTATION);
    struct size_sum dim[MAX_RANK];
    struct sizes_of_node *of = &k->nodes[node];
    of->is_known = sizes_of_term(k, k->eq->pattern->nodes.items[node].inputs[0], &of->rank, dim) && perm.is_known;
    k->is_impossible = k->is_impossible || (of->is_known && perm.count != (uint32_t)of->rank);
    for (int axis = 0; of->is_known && axis < of->rank && !k->is_impossible; axis++)
        of->dim[axis] = dim[perm.items[axis].number];
}

static void type_product(struct kind *k, uint32_t node)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct sizes_of_node *of = &k->nodes[node];
    struct size_sum right[MAX_RANK];
    int rank;
    of->is_known = sizes_of_term(k, n->inputs[0], &of->rank, of->dim);
    if (!sizes_of_term(k, n->inputs[1], &rank, right) || !of->is_known) {
        of->is_known = false;
        return;
    }
    k->is_impossible = k->is_impossible || of->rank < 2 || (rank != of->rank && rank != 2);
    if (k->is_impossible)
        return;
    size_equate(&k->equations, &of->dim[of->rank - 1], &right[rank - 2]);
    for (int axis = 0; rank == of->rank && axis < rank - 2; axis++)
        size_equate(&k->equations, &of->dim[axis], &right[axis]);
    of->dim[of->rank - 1] = right[rank - 1];
}

static void type_reduction(struct kind *k, uint32_t node)
{
    struct size_list axes = list_of_role(k, node, ROLE_AXES), keeps = list_of_role(k, node, ROLE_KEEPDIMS);
    struct sizes_of_node *of = &k->nodes[node];
    struct size_sum dim[MAX_RANK];
    int rank, n = 0;
    uint32_t reduced = 0;
    of->is_known = sizes_of_term(k, k->eq->pattern->nodes.items[node].inputs[0], &rank, dim) && axes.is_known &&
                   keeps.is_known && keeps.count == 1;
    for (uint32_t i = 0; of->is_known && i < axes.count; i++) {
        k->is_impossible = k->is_impossible || axes.items[i].number < 0 || axes.items[i].number >= rank;
        reduced |= k->is_impossible ? 0 : 1u << axes.items[i].number;
    }
    for (int axis = 0; of->is_known && axis < rank; axis++)
        if (!(reduced >> axis & 1) || keeps.items[0].number)
            of->dim[n++] = reduced >> axis & 1 ? size_number(1) : dim[axis];
    of->rank = n;
}

// A shape that is written, or made of sizes. What is repeated, or read in another order, is not looked at.
static void type_shape(struct kind *k, uint32_t node)
{
    struct size_list shape = list_of_role(k, node, ROLE_SHAPE);
    struct sizes_of_node *of = &k->nodes[node];
    of->is_known = shape.is_known && shape.count <= MAX_RANK;
    of->rank = (int)shape.count;
    for (uint32_t i = 0; of->is_known && i < shape.count; i++)
        of->dim[i] = shape.items[i];
}

static void type_repeated(struct kind *k, uint32_t node)
{
    struct size_sum dim[MAX_RANK];
    int rank;
    type_shape(k, node);
    if (k->nodes[node].is_known && sizes_of_term(k, k->eq->pattern->nodes.items[node].inputs[0], &rank, dim))
        k->is_impossible = k->is_impossible || rank > k->nodes[node].rank;
}

// Lists that are written have an entry for each spatial axis.
static void fit_lists(struct kind *k, uint32_t node, int rank)
{
    static const struct {
        enum attribute_role role;
        uint32_t per_axis;
    } lists[] = {{ROLE_STRIDE, 1}, {ROLE_DILATION, 1}, {ROLE_KERNEL, 1}, {ROLE_WINDOW_PADS, 2}};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const struct attribute_pattern *a = pattern_node_attribute(&k->eq->pattern->nodes.items[node], lists[i].role);
        bool is_written = a->count > 0;
        for (uint32_t j = 0; j < a->count; j++)
            is_written = is_written && attribute_term_is_one_entry(a->terms[j]);
        k->is_impossible = k->is_impossible || (is_written && a->count != lists[i].per_axis * (uint32_t)(rank - 2));
    }
}

// Images and kernels: of one rank, at least 3. What becomes of spatial axes, and of grouped channels, is not looked at.
static void type_window(struct kind *k, uint32_t node)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct sizes_of_node *of = &k->nodes[node];
    of->is_known = sizes_of_term(k, n->inputs[0], &of->rank, of->dim);
    k->is_impossible = k->is_impossible || (of->is_known && of->rank < 3);
    if (of->is_known && !k->is_impossible)
        fit_lists(k, node, of->rank);
    for (int axis = 2; of->is_known && axis < of->rank; axis++)
        of->dim[axis] = size_unknown(&k->equations);
    struct size_sum kernel[MAX_RANK];
    int rank;
    if (n->n_inputs < 2 || !of->is_known || !sizes_of_term(k, n->inputs[1], &rank, kernel))
        return;
    k->is_impossible = k->is_impossible || rank != of->rank;
    struct size_list groups = list_of_role(k, node, ROLE_GROUPS);
    if (groups.is_known && groups.count == 1 && groups.items[0].number == 1 && !k->is_impossible)
        size_equate(&k->equations, &of->dim[1], &kernel[1]);
    of->dim[1] = kernel[0];
}

// Kernels that are enlarged, or whose groups are merged: of rank 3 at least, and with as many filters.
static void type_kernel(struct kind *k, uint32_t node)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct sizes_of_node *of = &k->nodes[node];
    bool enlarges = operator_enlarges(n->op);
    of->is_known = sizes_of_term(k, n->inputs[0], &of->rank, of->dim);
    k->is_impossible = k->is_impossible || (of->is_known && of->rank < 3);
    if (of->is_known && !k->is_impossible)
        fit_lists(k, node, of->rank);
    for (int axis = 1; of->is_known && axis < of->rank; axis++)
        if (enlarges == (axis >= 2))
            of->dim[axis] = size_unknown(&k->equations);
}

// Of other operators with one rank nothing is known but that.
static void type_other(struct kind *k, uint32_t node)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct sizes_of_node *of = &k->nodes[node];
    bool keeps_first = operator_has(n->op, TRAIT_KEEPS_FIRST_RANK);
    of->is_known = n->n_inputs > 0 && keeps_first && sizes_of_term(k, n->inputs[0], &of->rank, of->dim);
    for (int axis = 0; of->is_known && axis < of->rank; axis++)
        of->dim[axis] = size_unknown(&k->equations);
    int axis = of->is_known ? axis_of_node(k, node) : -1;
    k->is_impossible = k->is_impossible || (axis >= 0 && axis >= of->rank);
}

static void type_node(struct kind *k, uint32_t node)
{
    const struct operator* op = k->eq->pattern->nodes.items[node].op;
    k->nodes[node].is_known = false;
    k->nodes[node].axis = -1;
    k->nodes[node].n_parts = 0;
    if (operator_works_entry_by_entry(op))
        type_alike(k, node, -1);
    else if (operator_joins(op))
        type_join(k, node);
    else if (operator_splits(op))
        type_split(k, node);
    else if (operator_permutes(op))
        type_permuted(k, node);
    else if (operator_multiplies_matrices(op))
        type_product(k, node);
    else if (operator_reduces_axes(op))
        type_reduction(k, node);
    else if (operator_is_constant(op) || operator_is_view(op))
        type_shape(k, node);
    else if (operator_repeats(op))
        type_repeated(k, node);
    else if (operator_has_windows(op))
        type_window(k, node);
    else if (operator_enlarges(op) || operator_merges_groups(op))
        type_kernel(k, node);
    else
        type_other(k, node);
}

// --- conditions ------------------------------------------------------------------------------------------------------

static void assume_condition(struct kind *k, const struct condition *c)
{
    struct term_bindings b = {k->type_of, k->attributes};
    if (condition_is_of_variable(c->kind))
        return;
    if (has_value(k, c->a) && has_value(k, c->b)) {
        k->is_impossible = k->is_impossible || !condition_holds(c, &b, NULL, k->arena);
        return;
    }
    struct size_list x = {.is_known = true}, y = {.is_known = true};
    add_term(k, &x, c->a);
    add_term(k, &y, c->b);
    if (c->kind != CONDITION_EQUAL || !x.is_known || !y.is_known)
        return;
    k->is_impossible = k->is_impossible || x.count != y.count;
    for (uint32_t i = 0; i < x.count && !k->is_impossible; i++)
        size_equate(&k->equations, &x.items[i], &y.items[i]);
}

bool kind_may_have_instances(struct kind *k)
{
    struct arena_mark mark = arena_mark(k->arena);
    k->is_impossible = false;
    k->equations.n = k->equations.n_sizes = 0;
    k->equations.is_too_large = false;
    for (uint32_t v = 0; v < k->eq->pattern->n_variables; v++)
        for (int axis = 0; k->type_of[v] && axis < k->types[v].rank; axis++)
            k->sizes[v][axis] = size_unknown(&k->equations);
    for (uint32_t i = 0; i < k->eq->n_conditions && !k->is_impossible; i++)
        assume_condition(k, &k->eq->conditions[i]);
    for (uint32_t n = 0; n < k->eq->pattern->nodes.count && !k->is_impossible; n++)
        type_node(k, n);
    bool may_have = !k->is_impossible && !size_equations_are_impossible(&k->equations);
    arena_release(k->arena, mark);
    return may_have;
}
