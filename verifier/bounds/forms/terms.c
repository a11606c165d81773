// The forms of operators, attributes and conditions that theorems speak of (T1 to T3 of docs/theory/soundness.md): a
// table with a row for each attribute that has a form of its own.
#include "verifier/bounds/forms/terms.h"

#include "core/text/text.h"
#include "operators/traits.h"
#include "substitutions/pattern.h"
#include "verifier/bounds/text/conditions.h"
#include "verifier/instances/ranks.h"
#include <math.h>
#include <string.h>

bool form_is_integer(const struct attribute_term *t)
{
    return t->kind == TERM_INTEGER;
}

bool form_is_variable(const struct attribute_term *t)
{
    return t->kind == TERM_VARIABLE;
}

// 3, $i, or (- (rank ?x) 2): an axis.
static bool form_is_axis(const struct attribute_term *t)
{
    bool is_from_the_end = t->kind == TERM_SUB && t->operands[0]->kind == TERM_RANK && form_is_integer(t->operands[1]);
    return form_is_integer(t) || form_is_variable(t) || is_from_the_end;
}

// (dim ?x AXIS).
static bool form_is_size(const struct attribute_term *t)
{
    return t->kind == TERM_DIM && form_is_axis(t->operands[0]);
}

static bool is_number_or_size(const struct attribute_term *t)
{
    return form_is_integer(t) || form_is_size(t);
}

static bool is_sum_of_sizes(const struct attribute_term *t)
{
    return t->kind == TERM_ADD ? is_sum_of_sizes(t->operands[0]) && is_sum_of_sizes(t->operands[1]) : form_is_size(t);
}

bool form_is_list_of(const struct attribute_pattern *a, bool (*is_such)(const struct attribute_term *t))
{
    for (uint32_t i = 0; i < a->count; i++)
        if (!is_such(a->terms[i]))
            return false;
    return true;
}

bool form_is_one_variable(const struct attribute_pattern *a)
{
    return a->count == 1 && form_is_variable(a->terms[0]);
}

// --- operators (T1) --------------------------------------------------------------------------------------------------

// What reads places by their number (slice, pad, trilu, cumsum, gather), tells entries from one another (argmax,
// onehot) or has numbers of its own for sizes (lrn, groupnorm) is not named; nor is cast, which rounds.
static bool is_named(const struct operator* op)
{
    return operator_has(op, TRAIT_PLAIN_PLACES) && !operator_has(op, TRAIT_CONVERTS);
}

bool form_names_operators(const struct form_question *q)
{
    for (size_t n = 0; n < q->eq->pattern->nodes.count; n++)
        if (!is_named(q->eq->pattern->nodes.items[n].op)) {
            text_printf(q->why, "no theorem speaks of %s", q->eq->pattern->nodes.items[n].op->name);
            return false;
        }
    return true;
}

// The standard value, where a clip has no end, may be none.
static bool names_infinity(const struct attribute *attribute, const struct attribute_pattern *a)
{
    for (uint32_t j = 0; attribute->kind == ATTRIBUTE_REAL && j < a->count; j++) {
        double real = form_is_integer(a->terms[j]) ? real_from_bits(a->terms[j]->value) : 0;
        if (!isfinite(real) && real != attribute->standard_real)
            return true;
    }
    return false;
}

// All numbers are real ones to a proof, so that isnan has no meaning there. Integers overflow, and quotients of them
// are cut off; where they are moved alone they are what real numbers are.
bool form_is_of_real_numbers(const struct form_question *q)
{
    const struct operator* of_others = form_computes_integers(q->eq);
    for (size_t n = 0; n < q->eq->pattern->nodes.count; n++) {
        const struct pattern_node *node = &q->eq->pattern->nodes.items[n];
        bool is_of_reals =
            !operator_has(node->op, TRAIT_ASKS_NUMBER) && !form_makes_other_numbers(node) && node->op != of_others;
        for (int i = 0; i < operator_n_attributes(node->op); i++)
            is_of_reals = is_of_reals && !names_infinity(&node->op->attributes[i], &node->attributes[i]);
        if (!is_of_reals) {
            text_printf(q->why, "no theorem speaks of %s where numbers are no real ones", node->op->name);
            return false;
        }
    }
    return true;
}

// --- attributes (T2) -------------------------------------------------------------------------------------------------

static bool is_of_axis(const struct attribute_pattern *a)
{
    return form_is_list_of(a, form_is_axis);
}

static bool is_of_numbers(const struct attribute_pattern *a)
{
    return form_is_list_of(a, form_is_integer);
}

static bool is_of_numbers_or_variable(const struct attribute_pattern *a)
{
    return is_of_numbers(a) || form_is_one_variable(a);
}

static bool is_of_sizes(const struct attribute_pattern *a)
{
    bool is_of_dims = a->count == 1 && a->terms[0]->kind == TERM_DIMS;
    return form_is_list_of(a, is_number_or_size) || form_is_one_variable(a) || is_of_dims;
}

// Pads that sizes of a kernel say, as those that keep an image's size do. Thirds are 0 at sizes up to 2.
static bool is_of_sizes_and_numbers(const struct attribute_term *t)
{
    bool is_half = t->kind == TERM_DIV && form_is_integer(t->operands[1]) && t->operands[1]->value == 2;
    bool is_sum = t->kind == TERM_ADD || t->kind == TERM_SUB || is_half;
    return is_sum ? is_of_sizes_and_numbers(t->operands[0]) && is_of_sizes_and_numbers(t->operands[1])
                  : is_number_or_size(t);
}

static bool is_of_pads(const struct attribute_pattern *a)
{
    return form_is_one_variable(a) || form_is_list_of(a, is_of_sizes_and_numbers);
}

static bool is_of_kernel(const struct attribute_pattern *a)
{
    return is_of_numbers_or_variable(a) || form_is_list_of(a, form_is_size);
}

static bool is_of_groups(const struct attribute_pattern *a)
{
    return is_of_numbers_or_variable(a) || form_is_list_of(a, is_sum_of_sizes);
}

// Permutations are asked about by themselves (T7).
static bool is_of_any_form(const struct attribute_pattern *a)
{
    (void)a;
    return true;
}

static const struct form_of_attribute {
    enum attribute_role role;
    bool (*is_named)(const struct attribute_pattern *a);
} forms_of_attributes[] = {
    {ROLE_AXIS, is_of_axis},
    {ROLE_AXES, is_of_numbers_or_variable},
    {ROLE_KEEPDIMS, is_of_numbers_or_variable},
    {ROLE_PERMUTATION, is_of_any_form},
    {ROLE_STRIDE, is_of_numbers_or_variable},
    {ROLE_WINDOW_PADS, is_of_pads},
    {ROLE_DILATION, is_of_numbers_or_variable},
    {ROLE_KERNEL, is_of_kernel},
    {ROLE_GROUPS, is_of_groups},
    {ROLE_MERGED_GROUPS, is_of_numbers},
    {ROLE_SHAPE, is_of_sizes},
    {ROLE_PART_SIZES, is_of_sizes},
};

// Names that are chosen from (activations, what counts as padding) are all tried. Of other attributes, reals among
// them, only numbers are named.
static bool is_attribute_named(const struct attribute *attribute, const struct attribute_pattern *a)
{
    if (attribute->kind == ATTRIBUTE_CHOICE)
        return is_of_numbers_or_variable(a);
    for (size_t i = 0; i < sizeof forms_of_attributes / sizeof *forms_of_attributes; i++)
        if (forms_of_attributes[i].role == attribute->role)
            return forms_of_attributes[i].is_named(a);
    return is_of_numbers(a);
}

// (/ (dim ?x 1) (dim ?k 1)): a convolution's number of groups can be nothing else.
bool form_is_number_of_groups(const struct pattern *p, const struct pattern_node *node, int attribute)
{
    const struct attribute_pattern *a = &node->attributes[attribute];
    return a->count == 1 && attribute_is_number_of_groups(p, node, attribute, a->terms[0]);
}

static void print_attribute(const struct form_question *q, const struct pattern_node *node, int i)
{
    text_printf(q->why, ":%s", node->op->attributes[i].name);
    for (uint32_t j = 0; j < node->attributes[i].count; j++) {
        text_add(q->why, " ");
        pattern_print_attribute_term(q->why, q->eq->pattern, node->attributes[i].terms[j]);
    }
}

// Those without a role are told apart by their names.
static bool have_same_role(const struct attribute *x, const struct attribute *y)
{
    return x->role == y->role && (x->role != ROLE_NONE || strcmp(x->name, y->name) == 0);
}

// A set that is one variable has one axis, where the variable is an axis elsewhere.
static const struct attribute *common_attribute(const struct attribute *x, const struct attribute *y)
{
    if (have_same_role(x, y))
        return x;
    if (x->role == ROLE_AXIS && y->role == ROLE_AXES)
        return x;
    return x->role == ROLE_AXES && y->role == ROLE_AXIS ? y : NULL;
}

// One of the attributes that are the variable, which all have the same role; NULL: none is, or they have several.
static const struct attribute *attribute_of_variable(const struct pattern *p, uint32_t variable)
{
    const struct attribute *found = NULL;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
            const struct attribute_pattern *a = &p->nodes.items[n].attributes[i];
            const struct attribute *attribute = &p->nodes.items[n].op->attributes[i];
            if (!form_is_one_variable(a) || a->terms[0]->value != variable)
                continue;
            if (!(found = found ? common_attribute(found, attribute) : attribute))
                return NULL;
        }
    return found;
}

static bool has_role(const struct pattern *p, const struct attribute_term *t, enum attribute_role role)
{
    const struct attribute *a = form_is_variable(t) ? attribute_of_variable(p, (uint32_t)t->value) : NULL;
    return a && a->role == role;
}

// A variable that is an attribute here and another one there takes values of one of them alone.
static bool have_one_role(const struct form_question *q)
{
    const struct pattern *p = q->eq->pattern;
    for (uint32_t v = 0; v < p->n_attribute_variables; v++)
        for (size_t n = 0; n < p->nodes.count; n++)
            for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++) {
                const struct attribute_pattern *a = &p->nodes.items[n].attributes[i];
                if (form_is_one_variable(a) && a->terms[0]->value == v && !attribute_of_variable(p, v)) {
                    text_printf(q->why, "$%s stands for several attributes", p->attribute_variables[v]);
                    return false;
                }
            }
    return true;
}

// An axis of one entry is repeated, and one of as many as the number says is not: a number that no axis which is tried
// has leaves the second case untried.
static bool repeats_too_often(const struct pattern_node *node, int attribute)
{
    bool is_too_often = false;
    for (uint32_t j = 0; operator_repeats(node->op) && j < node->attributes[attribute].count; j++)
        is_too_often = is_too_often || largest_integer_of_term(node->attributes[attribute].terms[j]) > MAX_TESTED_SIZE;
    return is_too_often;
}

// The axis that a size is of is tried at all of its values, which a number of groups is not.
static bool has_sizes_of_axes(const struct pattern *p, const struct attribute_term *t)
{
    bool is_of_variable = t->kind == TERM_DIM && form_is_variable(t->operands[0]);
    bool is_of_axis = !is_of_variable || has_role(p, t->operands[0], ROLE_AXIS);
    for (uint32_t i = 0; i < t->count && is_of_axis; i++)
        is_of_axis = has_sizes_of_axes(p, t->operands[i]);
    return is_of_axis;
}

static bool is_named_of_node(const struct pattern *p, const struct pattern_node *node, int attribute)
{
    const struct attribute_pattern *a = &node->attributes[attribute];
    bool are_of_axes = true;
    for (uint32_t j = 0; j < a->count; j++)
        are_of_axes = are_of_axes && has_sizes_of_axes(p, a->terms[j]);
    bool is_named = is_attribute_named(&node->op->attributes[attribute], a) && !repeats_too_often(node, attribute);
    return are_of_axes && (is_named || form_is_number_of_groups(p, node, attribute));
}

bool form_names_attributes(const struct form_question *q)
{
    const struct pattern *p = q->eq->pattern;
    for (size_t n = 0; n < p->nodes.count; n++)
        for (int i = 0; i < operator_n_attributes(p->nodes.items[n].op); i++)
            if (!is_named_of_node(p, &p->nodes.items[n], i)) {
                text_add(q->why, "no theorem speaks of ");
                print_attribute(q, &p->nodes.items[n], i);
                return false;
            }
    return have_one_role(q);
}

// --- conditions (T3) -------------------------------------------------------------------------------------------------

static bool is_list_of_numbers(const struct attribute_term *t)
{
    bool is_list = t->kind == TERM_LIST || form_is_integer(t);
    for (uint32_t i = 0; i < t->count; i++)
        is_list = is_list && form_is_integer(t->operands[i]);
    return is_list;
}

static bool have_one_role_both(const struct pattern *p, const struct attribute_term *a, const struct attribute_term *b)
{
    const struct attribute *x = attribute_of_variable(p, (uint32_t)a->value);
    const struct attribute *y = attribute_of_variable(p, (uint32_t)b->value);
    return x && y && have_same_role(x, y);
}

// (product $s) is 1, (sum $p) is 0: all entries are, which parts are no longer when two of them are one (T6).
// (length $z) is a number; a set of so many axes is another matter, as two axes of it are no longer one (T4).
static bool is_about_all_entries(const struct pattern *p, const struct condition *c)
{
    if (!form_is_integer(c->b) || c->a->count != 1 || !form_is_variable(c->a->operands[0]))
        return false;
    return (c->a->kind == TERM_PRODUCT && c->b->value == 1 && !has_role(p, c->a->operands[0], ROLE_PART_SIZES)) ||
           (c->a->kind == TERM_SUM && c->b->value == 0) ||
           (c->a->kind == TERM_LENGTH && !has_role(p, c->a->operands[0], ROLE_AXES));
}

// Only shapes are sizes: an axis that is the size of another tensor has more values than the sizes that are tried.
static bool is_equality_of_variable(const struct pattern *p, const struct condition *c)
{
    return form_is_variable(c->a) &&
           (is_list_of_numbers(c->b) || (c->b->kind == TERM_DIMS && has_role(p, c->a, ROLE_SHAPE)) ||
            (form_is_variable(c->b) && have_one_role_both(p, c->a, c->b)));
}

// (= $p (iota (rank ?x))), which says that nothing is moved.
static bool is_identity(const struct pattern *p, const struct condition *c)
{
    return has_role(p, c->a, ROLE_PERMUTATION) && c->b->kind == TERM_IOTA && c->b->operands[0]->kind == TERM_RANK;
}

// Axes are all tried, so that their order may be asked for. Divisors name axes beyond those that they say.
static bool is_about_axes(const struct pattern *p, const struct condition *c)
{
    for (int side = 0; side < 2; side++) {
        const struct attribute_term *t = side ? c->b : c->a;
        if (!form_is_integer(t) && !has_role(p, t, ROLE_AXIS))
            return false;
    }
    return c->kind != CONDITION_DIVIDES;
}

static bool is_condition_named(const struct pattern *p, const struct condition *c)
{
    if (condition_is_of_variable(c->kind) || is_about_axes(p, c))
        return true;
    if (c->kind != CONDITION_EQUAL)
        return false;
    bool is_of_sizes = form_is_size(c->a) && is_number_or_size(c->b);
    bool is_of_all_sizes = c->a->kind == TERM_DIMS && c->b->kind == TERM_DIMS;
    bool is_of_ranks = c->a->kind == TERM_RANK && (c->b->kind == TERM_RANK || form_is_integer(c->b));
    return is_of_sizes || is_of_all_sizes || is_of_ranks || is_about_all_entries(p, c) ||
           is_equality_of_variable(p, c) || is_identity(p, c);
}

// (= 5 (dim ?x 0)) says what (= (dim ?x 0) 5) does.
bool form_names_condition(const struct pattern *p, const struct condition *c)
{
    struct condition turned = *c;
    turned.a = c->b;
    turned.b = c->a;
    return is_condition_named(p, c) || (c->kind == CONDITION_EQUAL && is_condition_named(p, &turned));
}

// A number made of sizes of axes that are named, and of what has one entry at every rank.
static bool is_of_named_sizes(const struct pattern *p, const struct attribute_term *t)
{
    bool is_computed = t->kind == TERM_ADD || t->kind == TERM_SUB || t->kind == TERM_MUL || t->kind == TERM_DIV;
    const struct attribute *a = form_is_variable(t) ? attribute_of_variable(p, (uint32_t)t->value) : NULL;
    bool is_such = is_computed || is_number_or_size(t) ||
                   (a && (a->kind == ATTRIBUTE_CHOICE || a->role == ROLE_GROUPS || a->role == ROLE_MERGED_GROUPS));
    for (uint32_t i = 0; i < t->count && is_computed && is_such; i++)
        is_such = is_of_named_sizes(p, t->operands[i]);
    return is_such;
}

// (= $z (list (dim ?x 0) (dim ?y 0))), of parts.
static bool is_list_of_parts(const struct pattern *p, const struct condition *c)
{
    bool is_list = c->kind == CONDITION_EQUAL && has_role(p, c->a, ROLE_PART_SIZES) && c->b->kind == TERM_LIST;
    for (uint32_t i = 0; is_list && i < c->b->count; i++)
        is_list = is_of_named_sizes(p, c->b->operands[i]);
    return is_list;
}

// (= $i AXIS)
static bool names_axis_in_condition(const struct pattern *p, const struct condition *c)
{
    return c->kind == CONDITION_EQUAL && has_role(p, c->a, ROLE_AXIS) && form_is_axis(c->b);
}

// `(divides (rank ?x) 7)` holds at ranks 1 and 7, `(= (sum (dims ?x)) 9)` no longer when an axis is taken away.
bool form_condition_keeps_ranks(const struct pattern *p, const struct condition *c)
{
    return form_names_condition(p, c) || names_axis_in_condition(p, c) || is_list_of_parts(p, c) ||
           (is_of_named_sizes(p, c->a) && is_of_named_sizes(p, c->b));
}

static bool condition_has_sizes_of_axes(const struct pattern *p, const struct condition *c)
{
    return condition_is_of_variable(c->kind) || (has_sizes_of_axes(p, c->a) && has_sizes_of_axes(p, c->b));
}

bool form_names_conditions(const struct form_question *q)
{
    const struct pattern *p = q->eq->pattern;
    for (uint32_t i = 0; i < q->eq->n_conditions; i++) {
        const struct condition *c = &q->eq->conditions[i];
        if (!form_names_condition(p, c) || !condition_has_sizes_of_axes(p, c)) {
            text_add(q->why, "no theorem speaks of ");
            pattern_print_condition(q->why, p, c);
            return false;
        }
    }
    return true;
}
