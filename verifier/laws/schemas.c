// Instances of laws (L38... of docs/theory/laws.md). An equation is one when tensor variables of the law can be bound
// to terms, and its attribute variables to lists of attribute terms, so that both sides are those of the equation and
// all conditions of the law are among those of the equation, or hold of numbers.
#include "verifier/laws/schemas.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "properties/property.h"
#include "verifier/text/functions.h"
#include <string.h>

static const struct schema {
    const char *number, *text;
} schemas[] = {
#define SCHEMA(number, text) {number, text},
#include "verifier/laws/schemas.def"
#undef SCHEMA
};

#define MOST_ATTRIBUTES 64
// What variables of the law stand for. Lists of attribute terms that are no variable are compared when all are bound.
struct binding {
    const struct pattern *law, *of;   // `of`: the equation's
    const struct equation *eq;
    struct arena *arena;
    bool is_bound[MAX_RULE_VARIABLES], is_attribute_bound[MAX_RULE_VARIABLES];
    term_id terms[MAX_RULE_VARIABLES];
    struct attribute_pattern attributes[MAX_RULE_VARIABLES];
    uint32_t n_compared;
    struct attribute_pattern of_law[MOST_ATTRIBUTES], of_equation[MOST_ATTRIBUTES];
};

// --- binding ---------------------------------------------------------------------------------------------------------

static bool are_equal_lists(struct attribute_pattern a, struct attribute_pattern b)
{
    bool are_equal = a.count == b.count;
    for (uint32_t i = 0; i < a.count && are_equal; i++)
        are_equal = attribute_term_equal(a.terms[i], b.terms[i]);
    return are_equal;
}

static bool bind_list(struct binding *b, int64_t variable, struct attribute_pattern list)
{
    if (b->is_attribute_bound[variable])
        return are_equal_lists(b->attributes[variable], list);
    b->is_attribute_bound[variable] = true;
    b->attributes[variable] = list;
    return true;
}

// Pads below 0 cut, and are no sums of what other operators pad.
static bool is_one_size(const struct attribute_term *t)
{
    return attribute_term_is_one_entry(t) && !(t->kind == TERM_INTEGER && t->value < 0);
}

// Entry by entry, where all of them are one.
static bool bind_entries(struct binding *b, const struct attribute_pattern *law, const struct attribute_pattern *list)
{
    bool are_bound = law->count == list->count;
    for (uint32_t i = 0; i < law->count && are_bound; i++)
        if (law->terms[i]->kind == TERM_VARIABLE)
            are_bound = is_one_size(list->terms[i]) &&
                        bind_list(b, law->terms[i]->value, (struct attribute_pattern){1, &list->terms[i]});
    return are_bound;
}

static bool bind_attribute(struct binding *b, const struct attribute_pattern *law, const struct attribute_pattern *list)
{
    if (law->count == 1 && law->terms[0]->kind == TERM_VARIABLE)
        return bind_list(b, law->terms[0]->value, *list);
    if (b->n_compared == MOST_ATTRIBUTES || (law->count > 1 && !bind_entries(b, law, list)))
        return false;
    b->of_law[b->n_compared] = *law;
    b->of_equation[b->n_compared++] = *list;
    return true;
}

static bool bind_term(struct binding *b, term_id law, term_id term);

static bool bind_inputs(struct binding *b, const struct pattern_node *law, const struct pattern_node *node,
                        bool is_swapped)
{
    for (uint32_t i = 0; i < law->n_inputs; i++)
        if (!bind_term(b, law->inputs[i], node->inputs[is_swapped ? 1 - i : i]))
            return false;
    return true;
}

static bool bind_node(struct binding *b, const struct pattern_node *law, const struct pattern_node *node)
{
    if (law->op != node->op || law->n_inputs != node->n_inputs)
        return false;
    for (int i = 0; i < operator_n_attributes(law->op); i++)
        if (!bind_attribute(b, &law->attributes[i], &node->attributes[i]))
            return false;
    struct binding before = *b;
    if (bind_inputs(b, law, node, false))
        return true;
    *b = before;
    return (law->op->flags & OPERATOR_IS_COMMUTATIVE) && bind_inputs(b, law, node, true);
}

static bool bind_term(struct binding *b, term_id law, term_id term)
{
    const struct term *t = &b->law->terms.items[law], *u = &b->of->terms.items[term];
    if (!t->is_variable)
        return !u->is_variable && t->output == u->output &&
               bind_node(b, &b->law->nodes.items[t->index], &b->of->nodes.items[u->index]);
    if (b->is_bound[t->index])
        return b->terms[t->index] == term;
    b->is_bound[t->index] = true;
    b->terms[t->index] = term;
    return true;
}

// --- comparing what attributes say -----------------------------------------------------------------------------------

// Is the term of the shape of the variable by its text: that, or made entry by entry of it?
static bool has_shape_of(const struct pattern *p, term_id term, int64_t variable)
{
    const struct term *t = &p->terms.items[term];
    bool has_shape = t->is_variable && t->index == variable;
    if (t->is_variable || !(p->nodes.items[t->index].op->flags & OPERATOR_IS_ELEMENTWISE))
        return has_shape;
    for (uint32_t i = 0; i < p->nodes.items[t->index].n_inputs && !has_shape; i++)
        has_shape = has_shape_of(p, p->nodes.items[t->index].inputs[i], variable);
    return has_shape;
}

static bool says(const struct binding *b, const struct attribute_term *law, const struct attribute_term *t)
{
    if (law->kind == TERM_VARIABLE)
        return b->is_attribute_bound[law->value] &&
               are_equal_lists(b->attributes[law->value], (struct attribute_pattern){1, &t});
    bool is_of_tensor = law->kind == TERM_DIM || law->kind == TERM_DIMS || law->kind == TERM_RANK;
    bool is_same = law->kind == t->kind && law->count == t->count;
    is_same = is_same && (is_of_tensor ? b->is_bound[law->value] && has_shape_of(b->of, b->terms[law->value], t->value)
                                       : law->value == t->value);
    for (uint32_t i = 0; i < law->count && is_same; i++)
        is_same = says(b, law->operands[i], t->operands[i]);
    return is_same;
}

static struct attribute_value value_of_list(const struct attribute_pattern *list, struct arena *a)
{
    int64_t *ints = arena_array(a, int64_t, list->count + 1);
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->terms[i]->kind != TERM_INTEGER)
            return UNBOUND_ATTRIBUTE;
        ints[i] = list->terms[i]->value;
    }
    return (struct attribute_value){list->count, ints};
}

// The numbers that terms of the law stand for, where all that they mention are.
static bool evaluate_list(const struct binding *b, const struct attribute_pattern *list, struct attribute_value *ret)
{
    struct attribute_value values[MAX_RULE_VARIABLES];
    const struct type *none[MAX_RULE_VARIABLES] = {0};
    struct attribute_term all = {.kind = TERM_LIST, .count = list->count, .operands = list->terms};
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        values[v] = b->is_attribute_bound[v] ? value_of_list(&b->attributes[v], b->arena) : UNBOUND_ATTRIBUTE;
    struct term_bindings bindings = {none, values};
    return attribute_term_evaluate(&all, &bindings, b->arena, ret);
}

static bool are_same_numbers(struct attribute_value x, struct attribute_value y)
{
    return x.count == y.count && x.count != UINT32_MAX &&
           (x.count == 0 || memcmp(x.ints, y.ints, x.count * sizeof *x.ints) == 0);
}

static bool lists_say_the_same(const struct binding *b, const struct attribute_pattern *law,
                               const struct attribute_pattern *list)
{
    struct attribute_value value;
    bool is_same = law->count == list->count;
    for (uint32_t i = 0; i < law->count && is_same; i++)
        is_same = says(b, law->terms[i], list->terms[i]);
    return is_same || (evaluate_list(b, law, &value) && are_same_numbers(value, value_of_list(list, b->arena)));
}

// --- conditions ------------------------------------------------------------------------------------------------------

static bool holds_of_numbers(const struct binding *b, const struct condition *c)
{
    struct attribute_value x, y;
    bool have_values = evaluate_list(b, &(struct attribute_pattern){1, &c->a}, &x) &&
                       evaluate_list(b, &(struct attribute_pattern){1, &c->b}, &y);
    return have_values && (c->kind == CONDITION_EQUAL ? are_same_numbers(x, y)
                                                      : c->kind == CONDITION_NOT_EQUAL && x.count == 1 &&
                                                            y.count == 1 && x.ints[0] != y.ints[0]);
}

// $g is what the law says of it.
static bool is_said_by_attribute(const struct binding *b, const struct condition *c)
{
    const struct attribute_pattern *list = &b->attributes[c->a->value];
    return c->kind == CONDITION_EQUAL && c->a->kind == TERM_VARIABLE && b->is_attribute_bound[c->a->value] &&
           list->count == 1 && says(b, c->b, list->terms[0]);
}

static bool is_condition_met(const struct binding *b, const struct condition *c)
{
    bool is_met = holds_of_numbers(b, c) || is_said_by_attribute(b, c);
    for (uint32_t i = 0; i < b->eq->n_conditions && !is_met; i++) {
        const struct condition *other = &b->eq->conditions[i];
        is_met = other->kind == c->kind && ((says(b, c->a, other->a) && says(b, c->b, other->b)) ||
                                            (says(b, c->a, other->b) && says(b, c->b, other->a)));
    }
    return is_met;
}

// --- laws ------------------------------------------------------------------------------------------------------------

static bool mentions(const struct pattern *law, term_id term, uint32_t variable)
{
    const struct term *t = &law->terms.items[term];
    const struct pattern_node *node = t->is_variable ? NULL : &law->nodes.items[t->index];
    bool is_mentioned = t->is_variable && t->index == variable;
    for (uint32_t i = 0; node && i < node->n_inputs && !is_mentioned; i++)
        is_mentioned = mentions(law, node->inputs[i], variable);
    return is_mentioned;
}

// What one side alone reads leaves that side undefined where it is.
static bool are_defined_where_alone(const struct binding *b, const struct property *law)
{
    bool are_defined = true;
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES && are_defined; v++)
        are_defined = !b->is_bound[v] || mentions(b->law, law->left, v) == mentions(b->law, law->right, v) ||
                      text_is_defined_everywhere(b->of, b->terms[v]);
    return are_defined;
}

static bool binds_sides(struct binding *b, const struct property *law, term_id left, term_id right)
{
    bool is_instance = bind_term(b, law->left, left) && bind_term(b, law->right, right);
    for (uint32_t i = 0; i < b->n_compared && is_instance; i++)
        is_instance = lists_say_the_same(b, &b->of_law[i], &b->of_equation[i]);
    for (uint32_t i = 0; i < law->n_conditions && is_instance; i++)
        is_instance = is_condition_met(b, &law->conditions[i]);
    return is_instance && are_defined_where_alone(b, law);
}

static bool is_instance_of(const struct equation *eq, const struct property *law, struct arena *a)
{
    struct binding b = {.law = &law->pattern, .of = eq->pattern, .eq = eq, .arena = a}, turned = b;
    return binds_sides(&b, law, eq->left[0], eq->right[0]) || binds_sides(&turned, law, eq->right[0], eq->left[0]);
}

static const char *name_of_outermost(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    return t->is_variable ? "" : p->nodes.items[t->index].op->name;
}

const char *schema_of_equation(const struct equation *eq)
{
    const char *number = NULL;
    if (eq->n_pairs != 1 || eq->is_strong)
        return NULL;
    const char *of_left = name_of_outermost(eq->pattern, eq->left[0]);
    const char *of_right = name_of_outermost(eq->pattern, eq->right[0]);
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas && !number; i++) {
        if (!strstr(schemas[i].text, of_left) || !strstr(schemas[i].text, of_right))
            continue;
        struct arena a;
        struct property_set set;
        struct error error;
        arena_init(&a);
        property_set_init(&set, &a);
        const char *text = arena_printf(&a, "(property %s %s)", schemas[i].number, schemas[i].text);
        bool is_read = property_set_parse(&set, schemas[i].number, text, strlen(text), &error);
        number = is_read && is_instance_of(eq, set.properties.items[0], &a) ? schemas[i].number : NULL;
        property_set_free(&set);
        arena_free(&a);
    }
    return number;
}
