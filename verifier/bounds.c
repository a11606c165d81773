#include "verifier/bounds.h"

#include <assert.h>
#include <string.h>

#define MAX_ITEMS 1024   // variable axes, then the index variables of all definitions
#define MAX_WINDOWS 128
#define MAX_LINKS 1024
#define MAX_POSITIONS 8192
#define TESTED_SIZE 4
#define LARGEST_WINDOW_SIZE 7

enum class_flags {
    HAS_SEGMENTS = 1,      // read at an offset, or along a part
    HAS_WINDOW = 2,        // read at a place that depends on two indices, or outside of the tensor
    HAS_GROUPS = 4,        // a division of one index
    HAS_RESHAPE = 8,       // a division of a combination of indices
    HAS_ORDER = 16,        // compared by order, or used as a number
    HAS_FIXED_SIZE = 64,   // named by a number, or compared in another way than for equality
    HAS_PRODUCT = 32,      // multiplied over
};

struct window_use {
    uint32_t side, node;
    int axis;
    int64_t stride, dilation, offset, size, outside, extent_of_sum;
    uint32_t read_item;
};

// Position p of item `to` is position p + offset of item `from`.
struct link {
    uint16_t from, to;
    int64_t offset;
};

struct analysis {
    struct instance *in;
    const struct definition *definitions[MAX_RULE_NODES];
    uint32_t first_item[MAX_RULE_NODES];
    uint32_t n_items;
    uint16_t parent[MAX_ITEMS];
    uint8_t flags[MAX_ITEMS];
    bool is_operand[MAX_ITEMS];   // read along a part of what it goes to, or the other way round
    int64_t size[MAX_ITEMS];
    int n_links;
    struct link links[MAX_LINKS];
    uint8_t cuts[2][MAX_ITEMS];   // reads along a part, by side
    uint8_t free_sums[MAX_ITEMS], size_numbers[MAX_ITEMS];
    uint32_t sides[2];   // nodes of the left and the right sides
    int n_windows;
    struct window_use windows[MAX_WINDOWS];
    bool has_too_many;
};

static uint32_t find_root(struct analysis *an, uint32_t item)
{
    while (an->parent[item] != item)
        item = an->parent[item] = an->parent[an->parent[item]];
    return item;
}

// Position p of y is position p + offset of x.
static void unite_at(struct analysis *an, uint32_t x, uint32_t y, int64_t offset)
{
    if (an->n_links < MAX_LINKS)
        an->links[an->n_links++] = (struct link){(uint16_t)x, (uint16_t)y, offset};
    else
        an->has_too_many = true;
    x = find_root(an, x);
    y = find_root(an, y);
    an->parent[x > y ? x : y] = (uint16_t)(x > y ? y : x);
}

static void unite(struct analysis *an, uint32_t x, uint32_t y)
{
    unite_at(an, x, y, 0);
}

static uint32_t item_of_term_axis(const struct analysis *an, term_id term, int axis)
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
        return item_of_term_axis(an, an->in->equation->pattern->nodes.items[node].inputs[tensor], axis);
    return an->first_item[node] + d->stages[tensor - d->n_inputs].first_variable + (uint32_t)axis;
}

// --- index expressions -----------------------------------------------------------------------------------------------

struct affine_index {
    int n;
    uint32_t variable[8];
    int64_t coefficient[8], base;
    uint32_t divided[8];   // variables under a division or modulus
    int n_divided;
    bool divides_combination;
};

static void collect_divided(const struct definition *d, expr e, struct affine_index *ret)
{
    const struct expr_node *n = &d->nodes.items[e];
    if (n->kind == EXPR_VARIABLE && ret->n_divided < 8)
        ret->divided[ret->n_divided++] = (uint32_t)n->value;
    else if (n->kind == EXPR_INDEX_ADD) {
        collect_divided(d, n->a, ret);
        collect_divided(d, n->b, ret);
    } else if (n->kind == EXPR_INDEX_MUL || n->kind == EXPR_INDEX_DIV || n->kind == EXPR_INDEX_MOD)
        collect_divided(d, n->a, ret);
}

static void add_affine(const struct definition *d, expr e, int64_t factor, struct affine_index *ret)
{
    const struct expr_node *n = &d->nodes.items[e];
    int before;
    switch ((enum expr_kind)n->kind) {
    case EXPR_INTEGER:
        ret->base += factor * n->value;
        break;
    case EXPR_VARIABLE:
        if (ret->n < 8) {
            ret->variable[ret->n] = (uint32_t)n->value;
            ret->coefficient[ret->n++] = factor;
        }
        break;
    case EXPR_INDEX_ADD:
        add_affine(d, n->a, factor, ret);
        add_affine(d, n->b, factor, ret);
        break;
    case EXPR_INDEX_MUL:
        add_affine(d, n->a, factor * n->value, ret);
        break;
    default:
        before = ret->n_divided;
        collect_divided(d, e, ret);
        ret->divides_combination = ret->divides_combination || ret->n_divided - before != 1;
        break;
    }
}

static void flag(struct analysis *an, uint32_t item, uint8_t flags)
{
    an->flags[item] |= flags;
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
            read_item,
        };
    }
}

static void note_part(struct analysis *an, uint32_t node, uint32_t read_item, uint32_t variable_item)
{
    flag(an, read_item, HAS_SEGMENTS);
    an->is_operand[read_item] = true;
    for (int side = 0; side < 2; side++)
        if ((an->sides[side] >> node & 1) && an->cuts[side][variable_item] < 255)
            an->cuts[side][variable_item]++;
}

// Is one of the variables summed over? A stage's own indices are the first variables after it was made.
static bool has_sum(const struct definition *d, const struct affine_index *f)
{
    for (int i = 0; i < f->n; i++) {
        bool is_of_stage = false;
        for (int s = 0; s < d->n_stages; s++)
            is_of_stage =
                is_of_stage || (f->variable[i] >= d->stages[s].first_variable &&
                                f->variable[i] < d->stages[s].first_variable + (uint32_t)d->stages[s].type.rank);
        if (!is_of_stage)
            return true;
    }
    return false;
}

static void note_index(struct analysis *an, uint32_t node, const struct expr_node *read, int axis)
{
    const struct definition *d = an->definitions[node];
    struct affine_index f = {0};
    uint32_t item = item_of_tensor_axis(an, node, (int)read->value, axis);
    int64_t size = stage_type((struct definition *)d, (int)read->value)->dim[axis];
    add_affine(d, d->indices.items[read->a + (expr)axis], 1, &f);
    for (int i = 0; i < f.n_divided; i++) {
        unite(an, item, an->first_item[node] + f.divided[i]);
        flag(an, item, f.divides_combination || f.n != 1 ? HAS_RESHAPE : HAS_GROUPS);
    }
    for (int i = 0; i < f.n && f.n_divided; i++)
        unite(an, item, an->first_item[node] + f.variable[i]);
    if (f.n_divided)
        return;
    if (f.n == 0) {
        if (size != 1)
            flag(an, item, HAS_ORDER);
        return;
    }
    uint32_t variable_item = an->first_item[node] + f.variable[0];
    if (f.n == 1 && f.coefficient[0] == 1 && f.base == 0 && d->extents.items[f.variable[0]] == size) {
        unite(an, item, variable_item);
        return;
    }
    if (f.n == 1 && f.coefficient[0] == 1 && read->b == OUTSIDE_NEVER) {
        note_part(an, node, item, variable_item);
        unite_at(an, item, variable_item, f.base);
        return;
    }
    bool is_window = f.n == 1 || has_sum(d, &f);
    for (int i = 0; i < f.n; i++)
        flag(an, an->first_item[node] + f.variable[i], is_window ? HAS_WINDOW : HAS_RESHAPE);
    flag(an, item, is_window ? HAS_WINDOW : HAS_RESHAPE);
    if (is_window)
        add_window(an, node, axis, &f, item, size, read->b);
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

static void note_select(struct analysis *an, uint32_t node, const struct expr_node *select)
{
    const struct definition *d = an->definitions[node];
    struct affine_index f = {0};
    add_affine(d, select->a, 1, &f);
    uint32_t first = f.n ? an->first_item[node] + f.variable[0] : 0;
    if (f.n_divided) {
        for (int i = 0; i < f.n_divided; i++)
            flag(an, an->first_item[node] + f.divided[i], HAS_RESHAPE);
    } else if (f.n == 2 && f.coefficient[0] == -f.coefficient[1] && f.base == 0 && is_equality_test(d, select)) {
        unite(an, first, an->first_item[node] + f.variable[1]);
    } else if (f.n == 1 && f.coefficient[0] == 1 && !is_equality_test(d, select)) {
        flag(an, first, HAS_SEGMENTS);
    } else {
        for (int i = 0; i < f.n; i++)
            flag(an, an->first_item[node] + f.variable[i], f.n > 1 ? HAS_ORDER | HAS_WINDOW : HAS_WINDOW);
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
            flag(an, an->first_item[node] + (uint32_t)n->value, HAS_PRODUCT);
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
            flag(an, an->first_item[node] + (uint32_t)i, HAS_ORDER);
        break;
    default:
        break;
    }
}

// --- sums ------------------------------------------------------------------------------------------------------------

// Does every monomial of the expression have a factor whose place tells the index? A sum over an index that none tells
// counts, so that the size itself becomes a coefficient.
static bool tells_index(const struct analysis *an, uint32_t node, expr e, uint32_t variable);

static bool tensor_tells_axis(const struct analysis *an, uint32_t node, int tensor, int axis)
{
    const struct definition *d = an->definitions[node];
    if (tensor >= d->n_inputs) {
        const struct stage *s = &d->stages[tensor - d->n_inputs];
        return tells_index(an, node, s->body, s->first_variable + (uint32_t)axis);
    }
    const struct pattern *p = an->in->equation->pattern;
    const struct term *t = &p->terms.items[p->nodes.items[node].inputs[tensor]];
    if (t->is_variable)
        return true;
    const struct definition *of = an->definitions[t->index];
    return tensor_tells_axis(an, t->index, of->n_inputs + of->outputs[t->output], axis);
}

static bool read_tells_index(const struct analysis *an, uint32_t node, const struct expr_node *read, uint32_t variable)
{
    const struct definition *d = an->definitions[node];
    for (int axis = 0; axis < read->count; axis++) {
        struct affine_index f = {0};
        add_affine(d, d->indices.items[read->a + (expr)axis], 1, &f);
        for (int i = 0; i < f.n; i++)
            if (f.variable[i] == variable && tensor_tells_axis(an, node, (int)read->value, axis))
                return true;
    }
    return false;
}

static bool tells_index(const struct analysis *an, uint32_t node, expr e, uint32_t variable)
{
    const struct expr_node *n = &an->definitions[node]->nodes.items[e];
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        return read_tells_index(an, node, n, variable);
    case EXPR_REAL:
        return n->real == 0;
    case EXPR_REDUCE:
        return tells_index(an, node, n->a, variable);
    case EXPR_SELECT:
        return tells_index(an, node, n->b, variable) && tells_index(an, node, n->c, variable);
    case EXPR_APPLY:
        if (function_arity((enum scalar_function)n->fn) == 1)
            return tells_index(an, node, n->a, variable);
        if (n->fn == FN_MUL || n->fn == FN_DIV)
            return tells_index(an, node, n->a, variable) || tells_index(an, node, n->b, variable);
        return tells_index(an, node, n->a, variable) && tells_index(an, node, n->b, variable);
    default:
        return false;
    }
}

// Adds to `sums`, for each class, the sums that a monomial of the expression is made by.
static void count_sums(struct analysis *an, uint32_t node, expr e, uint8_t *sums);

static void count_sums_of_tensor(struct analysis *an, uint32_t node, int tensor, uint8_t *sums)
{
    const struct definition *d = an->definitions[node];
    if (tensor >= d->n_inputs) {
        count_sums(an, node, d->stages[tensor - d->n_inputs].body, sums);
        return;
    }
    const struct pattern *p = an->in->equation->pattern;
    const struct term *t = &p->terms.items[p->nodes.items[node].inputs[tensor]];
    if (!t->is_variable) {
        const struct definition *of = an->definitions[t->index];
        count_sums_of_tensor(an, t->index, of->n_inputs + of->outputs[t->output], sums);
    }
}

static void count_greater_sums(struct analysis *an, uint32_t node, expr a, expr b, uint8_t *sums)
{
    uint8_t of_a[MAX_ITEMS] = {0}, of_b[MAX_ITEMS] = {0};
    count_sums(an, node, a, of_a);
    count_sums(an, node, b, of_b);
    for (uint32_t i = 0; i < an->n_items; i++)
        sums[i] = (uint8_t)(sums[i] + (of_a[i] > of_b[i] ? of_a[i] : of_b[i]));
}

static bool has_number_of_size(const struct definition *d)
{
    for (size_t i = 0; i < d->nodes.count; i++) {
        double value = d->nodes.items[i].real;
        if (d->nodes.items[i].kind == EXPR_REAL && value != 0 && value != 1 && value != -1 && value != 0.5)
            return true;
    }
    return false;
}

static void count_sums(struct analysis *an, uint32_t node, expr e, uint8_t *sums)
{
    const struct definition *d = an->definitions[node];
    const struct expr_node *n = &d->nodes.items[e];
    int arity;
    uint32_t class;
    switch ((enum expr_kind)n->kind) {
    case EXPR_READ:
        count_sums_of_tensor(an, node, (int)n->value, sums);
        break;
    case EXPR_APPLY:
        arity = function_arity((enum scalar_function)n->fn);
        if (n->fn == FN_ADD || n->fn == FN_SUB) {
            count_greater_sums(an, node, n->a, n->b, sums);
            break;
        }
        count_sums(an, node, n->a, sums);
        if (arity > 1)
            count_sums(an, node, n->b, sums);
        if (arity > 2)
            count_sums(an, node, n->c, sums);
        break;
    case EXPR_REDUCE:
        class = find_root(an, an->first_item[node] + (uint32_t)n->value);
        sums[class]++;
        if (!tells_index(an, node, n->a, (uint32_t)n->value))
            an->free_sums[class]++;
        if (has_number_of_size(d))
            an->size_numbers[class]++;
        count_sums(an, node, n->a, sums);
        break;
    case EXPR_SELECT:
        count_greater_sums(an, node, n->b, n->c, sums);
        break;
    default:
        break;
    }
}

static void count_sums_of_term(struct analysis *an, term_id term, uint8_t *sums)
{
    const struct term *t = &an->in->equation->pattern->terms.items[term];
    if (t->is_variable)
        return;
    const struct definition *d = an->definitions[t->index];
    count_sums_of_tensor(an, t->index, d->n_inputs + d->outputs[t->output], sums);
}

// --- bounds of classes -----------------------------------------------------------------------------------------------

// Labels that one counterexample can need, by class: axes of the output, and sums, those in the arguments of functions
// outside of the ring included.
static void count_labels(struct analysis *an, uint8_t *labels)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        uint8_t left[MAX_ITEMS] = {0}, right[MAX_ITEMS] = {0}, axes[MAX_ITEMS] = {0};
        memset(an->free_sums, 0, sizeof an->free_sums);
        memset(an->size_numbers, 0, sizeof an->size_numbers);
        count_sums_of_term(an, eq->left[i], left);
        count_sums_of_term(an, eq->right[i], right);
        int rank = typing_type(an->in->typing, instance_term_type(an->in, eq->left[i]))->rank;
        for (int axis = 0; axis < rank; axis++)
            axes[find_root(an, item_of_term_axis(an, eq->left[i], axis))]++;
        for (uint32_t c = 0; c < an->n_items; c++) {
            uint32_t sums = left[c] > right[c] ? left[c] : right[c];
            uint32_t n = axes[c] + sums + an->free_sums[c] + an->size_numbers[c];
            if (n > labels[c])
                labels[c] = n > 100 ? 100 : (uint8_t)n;
        }
    }
}

static bool is_same_window(const struct window_use *x, const struct window_use *y)
{
    return x->stride == y->stride && x->dilation == y->dilation && x->offset == y->offset && x->size == y->size &&
           x->outside == y->outside && x->extent_of_sum == y->extent_of_sum;
}

// Does something that the node reads have a window of its own?
static bool has_window_below(const struct analysis *an, uint32_t node)
{
    const struct pattern *p = an->in->equation->pattern;
    uint32_t below = 0;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++)
        below |= equation_nodes_of_term(p, p->nodes.items[node].inputs[i]);
    for (int i = 0; i < an->n_windows; i++)
        if (below >> an->windows[i].node & 1)
            return true;
    return false;
}

static bool has_one_window_alike(const struct analysis *an)
{
    uint32_t sides_with_windows = 0;
    for (int i = 0; i < an->n_windows; i++) {
        sides_with_windows |= 1u << an->windows[i].side;
        if (has_window_below(an, an->windows[i].node))
            return false;
        for (int j = 0; j < i; j++)
            if (an->windows[i].axis == an->windows[j].axis && !is_same_window(&an->windows[i], &an->windows[j]))
                return false;
    }
    return sides_with_windows == 3;
}

static int64_t window_size_to_test(const struct analysis *an)
{
    int64_t largest = 3;
    for (int i = 0; i < an->n_windows; i++) {
        const struct window_use *w = &an->windows[i];
        int64_t reach = (w->extent_of_sum - 1) * w->dilation + 1;
        int64_t size = reach + 2 * (w->stride > 0 ? w->stride : -w->stride);
        largest = size > largest ? size : largest;
    }
    return largest;
}

static int number_of_segments(struct analysis *an, uint32_t class)
{
    int most = 1;
    for (int side = 0; side < 2; side++) {
        int segments = 1;
        for (uint32_t i = 0; i < an->n_items; i++)
            if (an->cuts[side][i] > 1 && find_root(an, i) == class)
                segments += an->cuts[side][i] - 1;
        most = segments > most ? segments : most;
    }
    return most;
}

// --- sizes in attributes and conditions ------------------------------------------------------------------------------

static int64_t constant_axis(const struct attribute_term *t)
{
    return t->kind == TERM_DIM && t->operands[0]->kind == TERM_INTEGER ? t->operands[0]->value : -1;
}

static bool mentions_sizes(const struct attribute_term *t)
{
    bool mentions = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    for (uint32_t i = 0; i < t->count && !mentions; i++)
        mentions = mentions_sizes(t->operands[i]);
    return mentions;
}

// A size that an operator takes from an attribute belongs to the indices of that extent.
static void unite_with_extents(struct analysis *an, uint32_t node, uint32_t item)
{
    const struct definition *d = an->definitions[node];
    for (size_t i = 0; i < d->extents.count; i++)
        if (d->extents.items[i] == an->size[item])
            unite(an, item, an->first_item[node] + (uint32_t)i);
}

static void note_sizes_in_term(struct analysis *an, uint32_t node, const struct attribute_term *t)
{
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    const struct type *type = is_size ? an->in->types[t->value] : NULL;
    for (int axis = 0; type && axis < type->rank; axis++)
        if (t->kind == TERM_DIMS || constant_axis(t) < 0 || constant_axis(t) == axis)
            unite_with_extents(an, node, (uint32_t)t->value * MAX_RANK + (uint32_t)axis);
    for (uint32_t i = 0; i < t->count; i++)
        note_sizes_in_term(an, node, t->operands[i]);
}

// Groups and sizes of splits have no indices of their own.
static void note_sizes_in_attributes(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    int shape = operator_find_attribute(n->op, "shape");
    for (uint32_t j = 0; shape >= 0 && j < n->attributes[shape].count; j++)
        note_sizes_in_term(an, node, n->attributes[shape].terms[j]);
}

static bool is_equality_of_dims(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && constant_axis(c->a) >= 0 && constant_axis(c->b) >= 0;
}

static bool compares_sizes(const struct condition *c)
{
    return c->kind != CONDITION_WEIGHT && c->kind != CONDITION_DTYPE && (mentions_sizes(c->a) || mentions_sizes(c->b));
}

static void note_equal_dims(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (is_equality_of_dims(c))
            unite(an, (uint32_t)c->a->value * MAX_RANK + (uint32_t)constant_axis(c->a),
                  (uint32_t)c->b->value * MAX_RANK + (uint32_t)constant_axis(c->b));
    }
}

static bool names_sizes(const struct pattern_node *node, int attribute)
{
    static const char *const of_windows[] = {"stride", "pad", "dilation", "perm", "axes"};
    if (node->op->attributes[attribute].kind != ATTRIBUTE_INTS)
        return false;
    for (size_t k = 0; k < sizeof of_windows / sizeof *of_windows; k++)
        if (strcmp(node->op->attributes[attribute].name, of_windows[k]) == 0)
            return false;
    for (uint32_t j = 0; j < node->attributes[attribute].count; j++)
        if (node->attributes[attribute].terms[j]->kind == TERM_INTEGER)
            return true;
    return false;
}

static void flag_sizes_in_term(struct analysis *an, const struct attribute_term *t)
{
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    const struct type *type = is_size ? an->in->types[t->value] : NULL;
    for (int axis = 0; type && axis < type->rank; axis++)
        if (t->kind == TERM_DIMS || constant_axis(t) < 0 || constant_axis(t) == axis)
            flag(an, (uint32_t)t->value * MAX_RANK + (uint32_t)axis, HAS_FIXED_SIZE);
    for (uint32_t i = 0; i < t->count; i++)
        flag_sizes_in_term(an, t->operands[i]);
}

// Sizes that an attribute names by numbers, or that a condition compares in another way than for equality, cannot be
// reduced freely: those met are kept.
static void note_fixed_sizes(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (compares_sizes(&eq->conditions[i]) && !is_equality_of_dims(&eq->conditions[i])) {
            flag_sizes_in_term(an, eq->conditions[i].a);
            flag_sizes_in_term(an, eq->conditions[i].b);
        }
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        for (int i = 0; an->definitions[n] && i < operator_n_attributes(eq->pattern->nodes.items[n].op); i++)
            for (size_t v = 0; names_sizes(&eq->pattern->nodes.items[n], i) && v < an->definitions[n]->extents.count;
                 v++)
                flag(an, an->first_item[n] + (uint32_t)v, HAS_FIXED_SIZE);
}

struct class_bound {
    int64_t size;
    enum bound_reason reason;
    const char *doubt;
};

static struct class_bound bound_of_axis(struct analysis *an, uint32_t item, const uint8_t *labels, uint8_t flags,
                                        bool is_common, int64_t own_size)
{
    uint32_t class = find_root(an, item);
    int64_t q = labels[class] > 1 ? labels[class] : 1;
    int64_t window = window_size_to_test(an);
    if (flags & HAS_PRODUCT)
        return (struct class_bound){TESTED_SIZE, BOUND_TESTED, "a product over an axis"};
    if (flags & HAS_RESHAPE)
        return (struct class_bound){TESTED_SIZE, BOUND_TESTED, "indices are combined and divided"};
    if (flags & HAS_ORDER)
        return (struct class_bound){TESTED_SIZE, BOUND_TESTED, "indices are compared by order"};
    if ((flags & HAS_WINDOW) && is_common)
        return (struct class_bound){q > own_size ? q : own_size, BOUND_COMMON_WINDOW, NULL};
    if ((flags & HAS_WINDOW) && window > LARGEST_WINDOW_SIZE)
        return (struct class_bound){LARGEST_WINDOW_SIZE, BOUND_TESTED, "windows reach far"};
    if (flags & HAS_WINDOW)
        return (struct class_bound){window, BOUND_WINDOW, NULL};
    if (flags & HAS_GROUPS)
        return (struct class_bound){q > 2 ? 2 * q : 4, BOUND_GROUPS, NULL};
    if (!(flags & HAS_SEGMENTS))
        return (struct class_bound){q, BOUND_LABELS, NULL};
    int segments = number_of_segments(an, class);
    int64_t of_segment = q + (segments > 2 ? segments - 1 : 1);
    return (struct class_bound){an->is_operand[item] ? of_segment : of_segment * segments, BOUND_SEGMENTS, NULL};
}

// --- one instance ----------------------------------------------------------------------------------------------------

static void number_items(struct analysis *an)
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
    for (uint32_t i = 0; i < an->n_items; i++)
        an->parent[i] = (uint16_t)i;
    for (uint32_t v = 0; v < p->n_variables; v++)
        for (int axis = 0; an->in->types[v] && axis < an->in->types[v]->rank; axis++)
            an->size[v * MAX_RANK + (uint32_t)axis] = an->in->types[v]->dim[axis];
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (size_t i = 0; an->definitions[n] && i < an->definitions[n]->extents.count; i++)
            an->size[an->first_item[n] + i] = an->definitions[n]->extents.items[i];
}

static void note_nodes(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        an->sides[0] |= equation_nodes_of_term(eq->pattern, eq->left[i]);
        an->sides[1] |= equation_nodes_of_term(eq->pattern, eq->right[i]);
    }
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if ((an->sides[0] | an->sides[1]) >> n & 1) {
            note_sizes_in_attributes(an, n);
            for (int s = 0; s < an->definitions[n]->n_stages; s++)
                note_expression(an, n, an->definitions[n]->stages[s].body);
        }
}

static void unite_outputs(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        int rank = typing_type(an->in->typing, instance_term_type(an->in, eq->left[i]))->rank;
        for (int axis = 0; axis < rank; axis++)
            unite(an, item_of_term_axis(an, eq->left[i], axis), item_of_term_axis(an, eq->right[i], axis));
    }
}

// Removing one position of an axis removes all that are read with it: its orbit. When an operand of a concatenation has
// two positions in one orbit, cuts overlap like x|y on z|x, and sizes cannot be reduced one by one.
static bool has_folded_orbit(struct analysis *an)
{
    uint32_t first[MAX_ITEMS], n = 0;
    for (uint32_t i = 0; i < an->n_items; i++) {
        first[i] = n;
        n += (uint32_t)an->size[i];
    }
    if (n > MAX_POSITIONS) {
        an->has_too_many = true;
        return true;
    }
    uint32_t *orbit = arena_array(an->in->scratch, uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        orbit[i] = i;
    for (bool is_changing = true; is_changing;) {
        is_changing = false;
        for (int i = 0; i < an->n_links; i++) {
            const struct link *l = &an->links[i];
            for (int64_t p = 0; p < an->size[l->to]; p++) {
                int64_t q = p + l->offset;
                if (q < 0 || q >= an->size[l->from])
                    continue;
                uint32_t *x = &orbit[first[l->from] + q], *y = &orbit[first[l->to] + p];
                is_changing = is_changing || *x != *y;
                *x = *y = *x < *y ? *x : *y;
            }
        }
    }
    for (uint32_t i = 0; i < an->n_items; i++)
        for (int64_t p = 0; an->is_operand[i] && p < an->size[i]; p++)
            for (int64_t q = 0; q < p; q++)
                if (orbit[first[i] + p] == orbit[first[i] + q])
                    return true;
    return false;
}

static bool has_alike_outputs(const struct instance *in)
{
    const struct equation *eq = in->equation;
    for (uint32_t i = 0; i < eq->n_pairs; i++) {
        type_id x = instance_term_type(in, eq->left[i]), y = instance_term_type(in, eq->right[i]);
        if (x == NO_TYPE || y == NO_TYPE || typing_type(in->typing, x)->rank != typing_type(in->typing, y)->rank)
            return false;
    }
    return true;
}

static void merge_bounds(struct analysis *an, struct bounds *b)
{
    uint8_t labels[MAX_ITEMS] = {0}, flags[MAX_ITEMS] = {0};
    bool is_common = an->n_windows > 0 && has_one_window_alike(an);
    count_labels(an, labels);
    for (uint32_t i = 0; i < an->n_items; i++)
        flags[find_root(an, i)] |= an->flags[i];
    b->has_window = b->has_window || an->n_windows;
    b->has_other_windows = b->has_other_windows || (an->n_windows && !is_common);
    for (uint32_t v = 0; v < an->in->equation->pattern->n_variables; v++) {
        const struct type *type = an->in->types[v];
        if (type && type->rank == 0)
            b->size[v][0][0] = 1;
        for (int axis = 0; type && axis < type->rank; axis++) {
            uint32_t item = v * MAX_RANK + (uint32_t)axis;
            struct class_bound c =
                bound_of_axis(an, item, labels, flags[find_root(an, item)], is_common, type->dim[axis]);
            uint8_t *size = &b->size[v][type->rank][axis];
            bool is_fixed = flags[find_root(an, item)] & HAS_FIXED_SIZE;
            c.size = is_fixed && type->dim[axis] > c.size ? type->dim[axis] : c.size;
            *size = c.size > *size ? (uint8_t)c.size : *size;
            if (c.reason > b->reason[v][type->rank][axis])
                b->reason[v][type->rank][axis] = (uint8_t)c.reason;
            b->doubt = b->doubt ? b->doubt : c.doubt;
        }
    }
}

void bounds_add(struct bounds *b, struct instance *in)
{
    if (!has_alike_outputs(in))
        return;
    struct arena_mark mark = arena_mark(in->scratch);
    struct analysis *an = arena_new(in->scratch, struct analysis);
    an->in = in;
    number_items(an);
    if (!an->has_too_many) {
        note_nodes(an);
        note_equal_dims(an);
        note_fixed_sizes(an);
        unite_outputs(an);
        merge_bounds(an, b);
        if (!b->doubt && has_folded_orbit(an))
            b->doubt = "the cuts of concatenations overlap";
    }
    if (an->has_too_many)
        b->doubt = "the equation is too large to analyse";
    arena_release(in->scratch, mark);
}

const char *bound_reason_text(enum bound_reason reason)
{
    static const char *const texts[] = {
        [BOUND_NONE] = "not met",
        [BOUND_LABELS] = "positions are only compared for equality",
        [BOUND_SEGMENTS] = "positions of each segment are only compared for equality",
        [BOUND_GROUPS] = "positions are pairs of a group and a place, only compared for equality",
        [BOUND_COMMON_WINDOW] = "the same windows on both sides",
        [BOUND_WINDOW] = "reach of the windows plus twice the stride",
        [BOUND_TESTED] = "no bound is known",
    };
    return texts[reason];
}
