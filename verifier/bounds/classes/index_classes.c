// Walks over the definitions of an instance, and unites axes and variables that are read by one another (T1; bounds.md,
// 2.1 to 2.3).
#include "verifier/bounds/classes/index_classes.h"

#include "core/memory/hash.h"
#include "core/memory/union_find.h"
#include "core/numbers/integers.h"
#include "expressions/affine.h"
#include "operators/traits.h"
#include "operators/window.h"
#include "verifier/bounds/text/conditions.h"
#include <string.h>

uint32_t classes_find(const struct analysis *an, uint32_t item)
{
    return union_find_root(an->parents, item);
}

// Position p of y is position p + offset of x.
static void classes_unite_at(struct analysis *an, uint32_t x, uint32_t y, int64_t offset)
{
    if (an->n_links < MAX_LINKS)
        an->links[an->n_links++] = (struct link){.from = (uint16_t)x, .to = (uint16_t)y, .offset = offset};
    else
        an->has_too_many = true;
    union_find_join(an->parents, x, y);
}

void classes_unite(struct analysis *an, uint32_t x, uint32_t y)
{
    classes_unite_at(an, x, y, 0);
}

void classes_unite_whole(struct analysis *an, uint32_t x, uint32_t y)
{
    classes_unite(an, x, y);
    if (!an->has_too_many)
        an->links[an->n_links - 1].is_whole = an->size[x] == an->size[y];
}

uint32_t classes_item_of_axis(const struct analysis *an, term_id term, int axis)
{
    const struct term *t = &an->in->equation->pattern->terms.items[term];
    if (t->is_variable)
        return t->index * MAX_RANK + (uint32_t)axis;
    const struct definition *d = an->definitions[t->index];
    return an->first_item[t->index] + d->stages[d->outputs[t->output]].first_variable + (uint32_t)axis;
}

static uint32_t item_of_tensor_axis(const struct analysis *an, uint32_t node, int tensor, int axis)
{
    const struct definition *d = an->definitions[node];
    if (tensor < d->n_inputs)
        return classes_item_of_axis(an, an->in->equation->pattern->nodes.items[node].inputs[tensor], axis);
    return an->first_item[node] + d->stages[tensor - d->n_inputs].first_variable + (uint32_t)axis;
}

void classes_flag(struct analysis *an, uint32_t item, uint16_t flags)
{
    an->flags[item] |= flags;
}

void classes_number_items(struct analysis *an)
{
    const struct pattern *p = an->in->equation->pattern;
    an->n_items = MAX_RULE_VARIABLES * MAX_RANK;
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        if (!an->in->calls[n])
            continue;
        an->definitions[n] = typing_definition(an->in->typing, an->in->calls[n]);
        an->first_item[n] = an->n_items;
        an->n_items += (uint32_t)an->definitions[n]->extents.count;
    }
    if (an->n_items > MAX_ITEMS) {
        an->has_too_many = true;
        return;
    }
    union_find_init(an->parents, an->n_items);
    for (uint32_t v = 0; v < p->n_variables; v++)
        for (int axis = 0; an->in->types[v] && axis < an->in->types[v]->rank; axis++)
            an->size[v * MAX_RANK + (uint32_t)axis] = an->in->types[v]->dim[axis];
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; an->definitions[n] && i < an->definitions[n]->extents.count; i++)
            an->size[an->first_item[n] + i] = an->definitions[n]->extents.items[i];
}

// --- index expressions -----------------------------------------------------------------------------------------------

static void collect_divided(const struct definition *d, expr e, struct affine_index *ret)
{
    const struct expr_node *n = &d->nodes.items[e];
    if (n->kind == EXPR_VARIABLE) {
        if (ret->n_divided == (int)(sizeof ret->divided / sizeof *ret->divided))
            ret->is_too_long = true;
        else
            ret->divided[ret->n_divided++] = (uint32_t)n->value;
    } else if (n->kind == EXPR_INDEX_ADD) {
        collect_divided(d, n->a, ret);
        collect_divided(d, n->b, ret);
    } else if (n->kind == EXPR_INDEX_MUL || n->kind == EXPR_INDEX_DIV || n->kind == EXPR_INDEX_MOD)
        collect_divided(d, n->a, ret);
}

static void add_atom(const struct definition *d, const struct scaled_atom *term, struct affine_index *ret)
{
    const struct expr_node *n = &d->nodes.items[term->atom];
    int before = ret->n_divided;
    if (n->kind != EXPR_VARIABLE) {
        collect_divided(d, term->atom, ret);
        ret->divides_combination = ret->divides_combination || ret->n_divided - before != 1;
    } else if (ret->n == (int)(sizeof ret->variable / sizeof *ret->variable))
        ret->is_too_long = true;
    else {
        ret->variable[ret->n] = (uint32_t)n->value;
        ret->coefficient[ret->n++] = term->factor;
    }
}

void classes_find_affine(const struct definition *d, expr e, struct affine_index *ret)
{
    struct affine_form form;
    bool is_whole = affine_form_of(d, e, &form);
    *ret = (struct affine_index){.base = form.base, .is_too_long = !is_whole};
    for (int i = 0; i < form.n; i++)
        add_atom(d, &form.terms[i], ret);
}

static void add_window(struct analysis *an, uint32_t node, int axis, const struct affine_index *f, uint32_t read_item,
                       int64_t size, int64_t outside)
{
    for (uint32_t side = 0; side < 2; side++) {
        if (!(an->sides[side] >> node & 1))
            continue;
        if (an->n_windows == MAX_WINDOWS) {
            an->has_too_many = true;
            return;
        }
        an->windows[an->n_windows++] = (struct window_use){
            side,
            node,
            axis,
            f->coefficient[0],
            f->n > 1 ? f->coefficient[1] : 0,
            f->base,
            size,
            outside,
            f->n > 1 ? an->definitions[node]->extents.items[f->variable[1]] : 1,
            an->first_item[node] + f->variable[0],
            read_item,
            f->n > 1 ? an->first_item[node] + f->variable[1] : NO_ITEM,
        };
    }
}

// Cut is what stands behind others, or what a split cuts at sizes of its own.
static void note_part(struct analysis *an, uint32_t node, uint32_t read_item, uint32_t variable_item)
{
    uint32_t cut = classes_name_parts(an, node) ? read_item : variable_item;
    classes_flag(an, read_item, HAS_SEGMENTS);
    an->is_operand[read_item] = true;
    for (int side = 0; side < 2; side++)
        if ((an->sides[side] >> node & 1) && an->cuts[side][cut] < 255)
            an->cuts[side][cut]++;
}

// A stage's own indices are the first variables after it was made; the others are summed over.
static bool is_summed(const struct definition *d, uint32_t variable)
{
    for (int s = 0; s < d->n_stages; s++)
        if (variable >= d->stages[s].first_variable &&
            variable < d->stages[s].first_variable + (uint32_t)d->stages[s].type.rank)
            return false;
    return true;
}

static bool has_sum(const struct definition *d, const struct affine_index *f)
{
    for (int i = 0; i < f->n; i++)
        if (is_summed(d, f->variable[i]))
            return true;
    return false;
}

// A sum over one place adds nothing to the index: every position is read by its own index.
static bool is_plain_but_for_a_sum_of_one(const struct definition *d, const struct affine_index *f, int64_t size)
{
    return f->n == 2 && f->base == 0 && f->coefficient[0] == 1 && d->extents.items[f->variable[1]] == 1 &&
           is_summed(d, f->variable[1]) && d->extents.items[f->variable[0]] == size;
}

// A kernel that has one entry in this instance and may have more in others makes a window, which others may stand
// behind.
static bool is_kernel_of_any_size(const struct analysis *an, uint32_t node, int axis)
{
    return operator_convolves(an->in->calls[node]->op) && axis >= 2 && !classes_have_kernel_of_one(an, node, axis);
}

// A convolution of so many groups that each has one channel and one filter here may have more of both at other sizes,
// unless sizes say how many groups there are.
static bool reads_channels_of_groups(const struct analysis *an, uint32_t node, const struct expr_node *read, int axis)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    int group = operator_find_role(n->op, ROLE_GROUPS);
    return operator_convolves(n->op) && read->value == 0 && axis == 1 &&
           !attribute_term_mentions_sizes(n->attributes[group].terms[0]) &&
           an->in->calls[node]->attributes[group].ints[0] > 1;
}

// Every channel is one pair of a group and a place in it: g * n + r with r < n. (A window in steps may look like that.)
static bool is_pair_of_digits(const struct analysis *an, uint32_t node, int axis, const struct affine_index *f,
                              int64_t size)
{
    const struct definition *d = an->definitions[node];
    const struct typed_call *call = an->in->calls[node];
    int group = operator_find_role(call->op, ROLE_GROUPS);
    if (group < 0 || axis != 1 || f->n != 2 || f->base != 0 || f->coefficient[1] != 1 || f->coefficient[0] < 2)
        return false;
    int64_t groups = call->attributes[group].ints[0];
    return groups > 1 && d->extents.items[f->variable[1]] == f->coefficient[0] &&
           d->extents.items[f->variable[0]] == groups && groups * f->coefficient[0] == size;
}

// c - f * n, of a kernel that is merged with one filter in each group: with more f is divided.
static bool is_block_of_merge(const struct analysis *an, uint32_t node, int axis, const struct affine_index *f)
{
    return operator_merges_groups(an->in->calls[node]->op) && axis == 1 && f->n == 2;
}

static uint32_t item_of_variable(const struct analysis *an, uint32_t node, const struct affine_index *f, int i)
{
    return an->first_item[node] + f->variable[i];
}

static void unite_groups(struct analysis *an, uint32_t x, uint32_t y)
{
    classes_unite(an, x, y);
    an->links[an->n_links - 1].is_of_group = true;
}

// The index is a number of a group and a place in it.
static void unite_group_and_place(struct analysis *an, uint32_t item, uint32_t group, uint32_t place)
{
    unite_groups(an, item, group);
    classes_unite(an, item, place);
    classes_flag(an, item, HAS_GROUPS);
}

static void note_quotients(struct analysis *an, uint32_t node, uint32_t item, const struct affine_index *f)
{
    for (int i = 0; i < f->n_divided; i++) {
        unite_groups(an, item, an->first_item[node] + f->divided[i]);
        classes_flag(an, item, f->divides_combination || f->n != 1 ? HAS_RESHAPE : HAS_GROUPS);
    }
    for (int i = 0; i < f->n; i++)
        classes_unite(an, item, item_of_variable(an, node, f, i));
}

static void note_moved(struct analysis *an, uint32_t node, uint32_t item, const struct affine_index *f)
{
    uint32_t variable = item_of_variable(an, node, f, 0);
    note_part(an, node, item, variable);
    classes_unite_at(an, item, variable, f->base);
    an->links[an->n_links - 1].is_part = true;
}

static void note_block_of_merge(struct analysis *an, uint32_t node, uint32_t item, const struct affine_index *f)
{
    for (int i = 0; i < 2; i++) {
        uint32_t variable = item_of_variable(an, node, f, i);
        if (f->coefficient[i] == 1)
            classes_unite(an, item, variable);
        else
            unite_groups(an, item, variable);
    }
    classes_flag(an, item, HAS_GROUPS);
}

static void note_window_or_reshape(struct analysis *an, uint32_t node, const struct expr_node *read, int axis,
                                   uint32_t item, const struct affine_index *f)
{
    const struct definition *d = an->definitions[node];
    bool is_window = f->n == 1 || has_sum(d, f);
    for (int i = 0; i < f->n; i++)
        classes_flag(an, item_of_variable(an, node, f, i),
                     !is_window                     ? HAS_RESHAPE
                     : is_summed(d, f->variable[i]) ? HAS_KERNEL
                                                    : HAS_WINDOW);
    classes_flag(an, item, is_window ? HAS_WINDOW : HAS_RESHAPE);
    if (is_window)
        add_window(an, node, axis, f, item, definition_tensor(d, read->value)->dim[axis], read->b);
}

static void note_index(struct analysis *an, uint32_t node, const struct expr_node *read, int axis)
{
    const struct definition *d = an->definitions[node];
    struct affine_index f;
    uint32_t item = item_of_tensor_axis(an, node, (int)read->value, axis);
    int64_t size = definition_tensor(d, read->value)->dim[axis];
    classes_find_affine(d, d->indices.items[read->a + (expr)axis], &f);
    an->has_too_many = an->has_too_many || f.is_too_long;
    uint32_t first = f.n > 0 ? item_of_variable(an, node, &f, 0) : 0;
    uint32_t second = f.n > 1 ? item_of_variable(an, node, &f, 1) : 0;
    bool is_one_variable = f.n == 1 && f.coefficient[0] == 1;
    if (f.n_divided)
        note_quotients(an, node, item, &f);
    else if (read->value == 0 && axis >= FIRST_SPATIAL && classes_have_windows_of_sizes(an, node))
        note_window_or_reshape(an, node, read, axis, item, &f);
    else if (f.n == 0)
        classes_flag(an, item, size != 1 ? HAS_ORDER : 0);
    else if (is_one_variable && f.base == 0 && d->extents.items[f.variable[0]] == size)
        classes_unite_whole(an, item, first);
    else if (is_one_variable && read->b == OUTSIDE_NEVER)
        note_moved(an, node, item, &f);
    else if (is_plain_but_for_a_sum_of_one(d, &f, size) && !is_kernel_of_any_size(an, node, axis)) {
        if (reads_channels_of_groups(an, node, read, axis))
            unite_group_and_place(an, item, first, second);
        else
            classes_unite(an, item, first);
    } else if (is_block_of_merge(an, node, axis, &f))
        note_block_of_merge(an, node, item, &f);
    else if (is_pair_of_digits(an, node, axis, &f, size))
        unite_group_and_place(an, item, first, second);
    else
        note_window_or_reshape(an, node, read, axis, item, &f);
}

// --- scalar expressions ----------------------------------------------------------------------------------------------

static bool is_equality_test(const struct definition *d, const struct expr_node *select)
{
    const struct expr_node *inner = &d->nodes.items[select->b];
    if (inner->kind != EXPR_SELECT)
        return false;
    const struct expr_node *negated = &d->nodes.items[inner->a];
    return negated->kind == EXPR_INDEX_MUL && negated->value == -1 && negated->a == select->a;
}

// A place of a window that is compared with an end of the axis, as in the mean of what is no padding.
static void add_test(struct analysis *an, uint32_t node, const struct affine_index *f)
{
    uint64_t form = hash_mix((uint64_t)f->base, (uint64_t)f->n);
    for (int i = 0; i < f->n; i++) {
        int64_t extent = an->definitions[node]->extents.items[f->variable[i]];
        form = hash_mix(hash_mix(form, (uint64_t)f->coefficient[i]), (uint64_t)extent);
    }
    for (uint32_t side = 0; side < 2; side++) {
        bool is_known = !(an->sides[side] >> node & 1);
        for (int i = 0; i < an->n_tests[side] && !is_known; i++)
            is_known = an->tests[side][i].form == form;
        if (is_known)
            continue;
        if (an->n_tests[side] == MAX_WINDOWS)
            an->has_too_many = true;
        else
            an->tests[side][an->n_tests[side]++] =
                (struct end_test){form, f->n == 1 ? an->first_item[node] + f->variable[0] : NO_ITEM};
    }
}

static void note_select(struct analysis *an, uint32_t node, const struct expr_node *select)
{
    const struct definition *d = an->definitions[node];
    struct affine_index f;
    classes_find_affine(d, select->a, &f);
    an->has_too_many = an->has_too_many || f.is_too_long;
    uint32_t first = f.n ? an->first_item[node] + f.variable[0] : 0;
    if (f.n_divided) {
        for (int i = 0; i < f.n_divided; i++)
            classes_flag(an, an->first_item[node] + f.divided[i], HAS_RESHAPE);
    } else if (f.n == 2 && f.coefficient[0] == -f.coefficient[1] && f.base == 0 && is_equality_test(d, select)) {
        classes_unite(an, first, an->first_item[node] + f.variable[1]);
    } else if (f.n == 1 && f.coefficient[0] == 1 && !is_equality_test(d, select)) {
        classes_flag(an, first, HAS_SEGMENTS);
    } else {
        add_test(an, node, &f);
        for (int i = 0; i < f.n; i++)
            classes_flag(an, an->first_item[node] + f.variable[i], HAS_WINDOW | (f.n > 1 ? HAS_ORDER : HAS_MIDDLE));
    }
}

static void note_expression(struct analysis *an, uint32_t node, expr e)
{
    const struct definition *d = an->definitions[node];
    const struct expr_node *n = &d->nodes.items[e];
    int arity;
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        for (int axis = 0; axis < n->count; axis++)
            note_index(an, node, n, axis);
        break;
    case EXPR_APPLY:
        arity = function_arity((enum scalar_function)n->fn);
        note_expression(an, node, n->a);
        if (arity > 1)
            note_expression(an, node, n->b);
        if (arity > 2)
            note_expression(an, node, n->c);
        break;
    case EXPR_REDUCE:
        if (n->fn == FN_MUL)
            classes_flag(an, an->first_item[node] + (uint32_t)n->value, HAS_PRODUCT);
        note_expression(an, node, n->a);
        break;
    case EXPR_SELECT:
        note_select(an, node, n);
        if (is_equality_test(d, n)) {
            note_expression(an, node, d->nodes.items[n->b].b);
            note_expression(an, node, d->nodes.items[n->b].c);
        } else
            note_expression(an, node, n->b);
        note_expression(an, node, n->c);
        break;
    case EXPR_SCALAR_OF:
        for (size_t i = 0; i < d->extents.count; i++)
            classes_flag(an, an->first_item[node] + (uint32_t)i, HAS_ORDER);
        break;
    default:
        break;
    }
}

// --- nodes ----------------------------------------------------------------------------------------------------------

static void note_number_of_groups(struct analysis *an, int64_t n)
{
    an->groups |= n > 0 && n <= MAX_TESTED_SIZE ? 1u << n : 0;
    an->has_too_many = an->has_too_many || n > MAX_TESTED_SIZE;
}

static void note_groups(struct analysis *an, uint32_t node)
{
    static const enum attribute_role roles[] = {ROLE_GROUPS, ROLE_MERGED_GROUPS};
    const struct typed_call *call = an->in->calls[node];
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        int attribute = operator_find_role(call->op, roles[i]);
        note_number_of_groups(an, attribute >= 0 ? call->attributes[attribute].ints[0] : 1);
    }
}

// An axis that two groups and three divide has six places, of which each group of two has three.
static void note_common_multiples(struct analysis *an)
{
    for (int64_t n = 2; n <= MAX_TESTED_SIZE; n++)
        for (int64_t m = 2; m < n; m++)
            if ((an->groups >> n & 1) && (an->groups >> m & 1))
                note_number_of_groups(an, n / greatest_common_divisor(n, m) * m);
}

void classes_note_nodes(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        an->sides[0] |= equation_nodes_of_term(eq->pattern, eq->left[i]);
        an->sides[1] |= equation_nodes_of_term(eq->pattern, eq->right[i]);
    }
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if ((an->sides[0] | an->sides[1]) >> n & 1) {
            note_groups(an, n);
            classes_note_sizes_of_node(an, n);
            for (int s = 0; s < an->definitions[n]->n_stages; s++)
                note_expression(an, n, an->definitions[n]->stages[s].body);
        }
    note_common_multiples(an);
    classes_note_shared_variables(an);
}
