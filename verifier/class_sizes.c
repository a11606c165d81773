// What attributes and conditions say of sizes, which stand in no index expression.
#include "verifier/classes.h"
#include "verifier/doubts.h"

#include <string.h>

static int64_t constant_axis(const struct attribute_term *t)
{
    return t->kind == TERM_DIM && t->operands[0]->kind == TERM_INTEGER ? t->operands[0]->value : -1;
}

bool attribute_term_names_axis(const struct attribute_term *t, int axis)
{
    return t->kind == TERM_DIMS || constant_axis(t) < 0 || constant_axis(t) == axis;
}

// A size that an operator takes from an attribute belongs to the indices of that extent.
static void unite_with_extents(struct analysis *an, uint32_t node, uint32_t item)
{
    const struct definition *d = an->definitions[node];
    for (size_t i = 0; i < d->extents.count; i++)
        if (d->extents.items[i] == an->size[item])
            classes_unite(an, item, an->first_item[node] + (uint32_t)i);
}

static void note_sizes_in_term(struct analysis *an, uint32_t node, const struct attribute_term *t)
{
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    const struct type *type = is_size ? an->in->types[t->value] : NULL;
    for (int axis = 0; type && axis < type->rank; axis++)
        if (attribute_term_names_axis(t, axis))
            unite_with_extents(an, node, (uint32_t)t->value * MAX_RANK + (uint32_t)axis);
    for (uint32_t i = 0; i < t->count; i++)
        note_sizes_in_term(an, node, t->operands[i]);
}

static void flag_sizes_in_term(struct analysis *an, const struct attribute_term *t, uint16_t flags)
{
    bool is_size = t->kind == TERM_DIM || t->kind == TERM_DIMS;
    const struct type *type = is_size ? an->in->types[t->value] : NULL;
    for (int axis = 0; type && axis < type->rank; axis++)
        if (attribute_term_names_axis(t, axis))
            classes_flag(an, (uint32_t)t->value * MAX_RANK + (uint32_t)axis, flags);
    for (uint32_t i = 0; i < t->count; i++)
        flag_sizes_in_term(an, t->operands[i], flags);
}

// How many entries a plain term of a shape gives; 0: it is none.
static int plain_entries(const struct analysis *an, const struct attribute_term *t)
{
    bool is_one = t->kind == TERM_INTEGER || (t->kind == TERM_DIM && constant_axis(t) >= 0);
    return is_one ? 1 : t->kind == TERM_DIMS ? an->in->types[t->value]->rank : 0;
}

// The sizes of a shape, entry by entry, are those of the result's axes.
static bool unite_shape_with_result(struct analysis *an, uint32_t node, const struct attribute_pattern *shape)
{
    const struct definition *d = an->definitions[node];
    const struct stage *result = &d->stages[d->outputs[0]];
    int entries = 0;
    for (uint32_t j = 0; j < shape->count; j++) {
        if (plain_entries(an, shape->terms[j]) == 0)
            return false;
        entries += plain_entries(an, shape->terms[j]);
    }
    if (entries != result->type.rank)
        return false;
    uint32_t axis_item = an->first_item[node] + result->first_variable;
    for (uint32_t j = 0; j < shape->count; j++) {
        const struct attribute_term *t = shape->terms[j];
        uint32_t first = t->kind == TERM_DIM ? (uint32_t)constant_axis(t) : 0;
        for (int i = 0; i < plain_entries(an, t); i++, axis_item++)
            if (t->kind != TERM_INTEGER)
                classes_unite(an, (uint32_t)t->value * MAX_RANK + first + (uint32_t)i, axis_item);
    }
    return true;
}

// Groups and sizes of splits have no indices of their own.
void classes_note_sizes_of_node(struct analysis *an, uint32_t node)
{
    const struct pattern_node *n = &an->in->equation->pattern->nodes.items[node];
    int shape = operator_find_attribute(n->op, "shape");
    if (shape >= 0 && !unite_shape_with_result(an, node, &n->attributes[shape]))
        for (uint32_t j = 0; j < n->attributes[shape].count; j++)
            note_sizes_in_term(an, node, n->attributes[shape].terms[j]);
    for (int i = 0; i < operator_n_attributes(n->op); i++)
        for (uint32_t j = 0; j < n->attributes[i].count; j++) {
            const struct attribute_term *t = n->attributes[i].terms[j];
            if (i != shape || (t->kind != TERM_DIM && t->kind != TERM_DIMS))
                flag_sizes_in_term(an, t, HAS_COUNT);
        }
}

static bool is_equality_of_dims(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && constant_axis(c->a) >= 0 && constant_axis(c->b) >= 0;
}

// (= (dims ?x) (dims ?y)), of tensors of one rank, or it does not hold.
static bool is_equality_of_all_dims(const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_DIMS && c->b->kind == TERM_DIMS;
}

static bool compares_sizes(const struct condition *c)
{
    return !condition_is_of_variable(c->kind) &&
           (attribute_term_mentions_sizes(c->a) || attribute_term_mentions_sizes(c->b));
}

bool condition_names_sizes(const struct condition *c)
{
    return compares_sizes(c) && !is_equality_of_dims(c) && !is_equality_of_all_dims(c);
}

// Of the variables' axes: (= (dim ?x 0) (dim ?y 0)).
bool condition_equates_sizes(const struct condition *c, uint32_t x, uint32_t y, int axis)
{
    bool is_of_axis = is_equality_of_dims(c) && constant_axis(c->a) == axis && constant_axis(c->b) == axis;
    return (is_of_axis || is_equality_of_all_dims(c)) && ((c->a->value == (int64_t)x && c->b->value == (int64_t)y) ||
                                                          (c->a->value == (int64_t)y && c->b->value == (int64_t)x));
}

static void note_equal_dims(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_conditions; i++) {
        const struct condition *c = &eq->conditions[i];
        if (is_equality_of_dims(c))
            classes_unite(an, (uint32_t)c->a->value * MAX_RANK + (uint32_t)constant_axis(c->a),
                          (uint32_t)c->b->value * MAX_RANK + (uint32_t)constant_axis(c->b));
        const struct type *type = is_equality_of_all_dims(c) ? an->in->types[c->a->value] : NULL;
        for (uint32_t axis = 0; type && axis < (uint32_t)type->rank; axis++)
            classes_unite(an, (uint32_t)c->a->value * MAX_RANK + axis, (uint32_t)c->b->value * MAX_RANK + axis);
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

// Sizes that an attribute names by numbers, or that a condition compares in another way than for equality, cannot be
// reduced freely: those met are kept.
static void note_fixed_sizes(struct analysis *an)
{
    const struct equation *eq = an->in->equation;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        if (condition_names_sizes(&eq->conditions[i])) {
            flag_sizes_in_term(an, eq->conditions[i].a, HAS_FIXED_SIZE);
            flag_sizes_in_term(an, eq->conditions[i].b, HAS_FIXED_SIZE);
        }
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        for (int i = 0; an->definitions[n] && i < operator_n_attributes(eq->pattern->nodes.items[n].op); i++)
            for (size_t v = 0; names_sizes(&eq->pattern->nodes.items[n], i) && v < an->definitions[n]->extents.count;
                 v++)
                classes_flag(an, an->first_item[n] + (uint32_t)v, HAS_FIXED_SIZE);
}

void classes_note_conditions(struct analysis *an)
{
    note_equal_dims(an);
    note_fixed_sizes(an);
}
