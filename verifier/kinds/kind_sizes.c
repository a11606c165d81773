// What operators' definitions, and the roles of lists of sizes, say of a kind: equations that all its instances solve.
// A kind whose equations have no solution has no instance; what is not known is left out (T15).
#include "verifier/kinds/kind_sizes.h"

#include "core/memory/arena.h"
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/bounds/text/conditions.h"
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

static struct cut cut_of_join(struct kind *k, uint32_t node, int axis)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct size_sum dim[MAX_RANK];
    int rank;
    if (n->n_inputs < 2 || !sizes_of_term(k, n->inputs[0], &rank, dim) || axis >= rank)
        return (struct cut){.kind = CUT_UNKNOWN};
    return (struct cut){CUT_AT, dim[axis]};
}

static struct cut cut_by_definition(struct kind *k, uint32_t node, int axis)
{
    const struct axis_forms *f = &k->learned->forms.items[k->nodes[node].forms];
    struct cut cut = {.kind = CUT_ANYWHERE};
    if (f->cut[axis] == CUT_FORM_NONE || f->cut[axis] == CUT_FORM_UNKNOWN)
        return (struct cut){.kind = f->cut[axis] == CUT_FORM_NONE ? CUT_NOWHERE : CUT_UNKNOWN};
    for (uint64_t left = f->cut_inputs[axis]; left; left &= left - 1) {
        int input = __builtin_ctzll(left) / MAX_RANK, place = __builtin_ctzll(left) % MAX_RANK;
        cut = meet(k, cut, cut_of_term(k, k->eq->pattern->nodes.items[node].inputs[input], place));
    }
    return cut;
}

static struct cut cut_of_term(struct kind *k, term_id term, int axis)
{
    const struct term *t = &k->eq->pattern->terms.items[term];
    if (t->is_variable)
        return (struct cut){.kind = k->eq->is_strong && !(k->eq->plain >> t->index & 1) ? CUT_UNKNOWN : CUT_NOWHERE};
    const struct pattern_node *n = &k->eq->pattern->nodes.items[t->index];
    const struct sizes_of_node *of = &k->nodes[t->index];
    if (of->is_known && operator_joins(n->op) && axis == of->axis)
        return cut_of_join(k, t->index, axis);
    if (of->is_known && operator_splits(n->op) && axis != of->axis)
        return cut_of_term(k, n->inputs[0], axis);
    return of->is_known && of->has_forms ? cut_by_definition(k, t->index, axis) : (struct cut){.kind = CUT_UNKNOWN};
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static bool is_number(const struct size_sum *s)
{
    bool is = true;
    for (int i = 0; i < MOST_SIZES && is; i++)
        is = s->times[i] == 0;
    return is;
}

// Its value where that depends on no sizes, or else how many entries it has.
static struct attribute_value known_of_attribute(struct kind *k, const struct attribute_pattern *a)
{
    struct size_list list = {.is_known = true};
    bool is_written = a->count > 0, are_numbers = true;
    for (uint32_t i = 0; i < a->count; i++) {
        add_term(k, &list, a->terms[i]);
        is_written = is_written && attribute_term_is_one_entry(a->terms[i]);
    }
    if (!list.is_known)
        return (struct attribute_value){is_written ? a->count : UINT32_MAX, NULL};
    int64_t *ints = arena_array(k->arena, int64_t, list.count + 1);
    for (uint32_t i = 0; i < list.count; i++) {
        are_numbers = are_numbers && is_number(&list.items[i]);
        ints[i] = list.items[i].number;
    }
    return (struct attribute_value){list.count, are_numbers ? ints : NULL};
}

static bool says_axes(const struct attribute *a)
{
    return a->role == ROLE_AXIS || a->role == ROLE_AXES || a->role == ROLE_PERMUTATION || a->role == ROLE_KEEPDIMS ||
           a->kind == ATTRIBUTE_CHOICE;
}

// False: too little is known of inputs and attributes.
static bool application_of_node(struct kind *k, uint32_t node, struct application *ret_application)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    *ret_application = (struct application){.op = n->op, .n_inputs = (int)n->n_inputs};
    bool is_known = n->n_inputs <= MOST_FORM_INPUTS;
    for (uint32_t i = 0; i < n->n_inputs && is_known; i++) {
        struct size_sum dim[MAX_RANK];
        is_known = sizes_of_term(k, n->inputs[i], &ret_application->ranks[i], dim);
    }
    for (int i = 0; i < operator_n_attributes(n->op) && is_known; i++) {
        ret_application->attributes[i] = known_of_attribute(k, &n->attributes[i]);
        is_known = ret_application->attributes[i].ints || !says_axes(&n->op->attributes[i]);
    }
    return is_known;
}

static const struct axis_forms *forms_of_node(struct kind *k, uint32_t node)
{
    struct application a;
    if (!application_of_node(k, node, &a))
        return NULL;
    k->nodes[node].forms = learned_forms_of(k->learned, &a, k->arena);
    return &k->learned->forms.items[k->nodes[node].forms];
}

// The sizes of inputs and output, as the definition says which are alike.
static void type_by_definition(struct kind *k, uint32_t node)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct sizes_of_node *of = &k->nodes[node];
    const struct axis_forms *f = forms_of_node(k, node);
    struct size_sum dim[MOST_FORM_AXES];
    k->is_impossible = k->is_impossible || (f && f->is_impossible);
    of->is_known = of->has_forms = f && f->is_known;
    if (!of->is_known)
        return;
    of->rank = f->rank;
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        int rank;
        sizes_of_term(k, n->inputs[i], &rank, &dim[i * MAX_RANK]);
        for (int axis = (int)i * MAX_RANK; axis < (int)i * MAX_RANK + rank; axis++)
            if (f->like[axis] != axis)
                size_equate(&k->equations, &dim[f->like[axis]], &dim[axis]);
    }
    for (int axis = 0; axis < f->rank; axis++) {
        int place = (int)n->n_inputs * MAX_RANK + axis, like = f->like[place];
        dim[place] = like != place ? dim[like] : f->is_one[axis] ? size_number(1) : size_unknown(&k->equations);
        of->dim[axis] = dim[place];
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

// Behind one another on the axis.
static void type_join(struct kind *k, uint32_t node)
{
    const struct pattern_node *n = &k->eq->pattern->nodes.items[node];
    struct sizes_of_node *of = &k->nodes[node];
    of->axis = axis_of_node(k, node);
    type_by_definition(k, node);
    struct size_sum sum = size_number(0);
    for (uint32_t i = 0; i < n->n_inputs && of->is_known && !k->is_impossible; i++) {
        struct size_sum dim[MAX_RANK];
        int rank;
        sizes_of_term(k, n->inputs[i], &rank, dim);
        sum = size_plus(&sum, &dim[of->axis], 1);
    }
    if (of->is_known && !k->is_impossible)
        of->dim[of->axis] = sum;
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

// One entry becomes two or more, or the axis is what it was.
static void repeat_axis(struct kind *k, const struct size_sum *from, const struct size_sum *to, bool is_repeated)
{
    struct size_sum one = size_number(1);
    size_equate(&k->equations, from, is_repeated ? &one : to);
    if (!is_repeated)
        return;
    struct size_sum more = size_unknown(&k->equations);
    more = size_plus(&one, &more, 1);
    size_equate(&k->equations, to, &more);
}

// The size of what is repeated, counted from the end; NULL: not known.
static const struct size_sum *size_from_end(struct kind *k, uint32_t node, int place)
{
    const struct attribute_pattern *shape = pattern_node_attribute(&k->eq->pattern->nodes.items[node], ROLE_SHAPE);
    if (k->nodes[node].is_known)
        return &k->nodes[node].dim[k->nodes[node].rank - 1 - place];
    if (shape->count != 1 || shape->terms[0]->kind != TERM_VARIABLE)
        return NULL;
    int64_t variable = shape->terms[0]->value;
    for (int i = 0; !k->has_ends[variable] && i < MAX_RANK; i++)
        k->ends[variable][i] = size_unknown(&k->equations);
    k->has_ends[variable] = true;
    return &k->ends[variable][place];
}

static void type_repeated(struct kind *k, uint32_t node)
{
    struct sizes_of_node *of = &k->nodes[node];
    struct size_sum dim[MAX_RANK];
    int rank;
    type_shape(k, node);
    if (!sizes_of_term(k, k->eq->pattern->nodes.items[node].inputs[0], &rank, dim))
        return;
    k->is_impossible = k->is_impossible || (of->is_known && rank > of->rank) || k->repeats[node] >> rank;
    for (int axis = 0; axis < rank && (k->repeating >> node & 1) && !k->is_impossible; axis++) {
        const struct size_sum *to = size_from_end(k, node, rank - 1 - axis);
        if (to)
            repeat_axis(k, &dim[axis], to, k->repeats[node] >> axis & 1);
    }
}

static void type_node(struct kind *k, uint32_t node)
{
    const struct operator* op = k->eq->pattern->nodes.items[node].op;
    k->nodes[node].is_known = k->nodes[node].has_forms = false;
    k->nodes[node].axis = -1;
    k->nodes[node].n_parts = 0;
    if (operator_joins(op))
        type_join(k, node);
    else if (operator_splits(op))
        type_split(k, node);
    else if (operator_is_constant(op) || operator_is_view(op))
        type_shape(k, node);
    else if (operator_repeats(op))
        type_repeated(k, node);
    else
        type_by_definition(k, node);
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
    memset(k->has_ends, 0, sizeof k->has_ends);
    for (uint32_t v = 0; v < k->eq->pattern->n_variables; v++)
        for (int axis = 0; k->type_of[v] && axis < k->types[v].rank; axis++)
            k->sizes[v][axis] = size_unknown(&k->equations);
    for (uint32_t i = 0; i < k->eq->n_conditions && !k->is_impossible; i++)
        assume_condition(k, &k->eq->conditions[i]);
    for (uint32_t n = 0; n < k->eq->pattern->nodes.count && !k->is_impossible; n++)
        if (k->typed >> n & 1)
            type_node(k, n);
    bool may_have = !k->is_impossible && (k->equations.is_too_large || !size_equations_are_impossible(&k->equations));
    arena_release(k->arena, mark);
    return may_have;
}
