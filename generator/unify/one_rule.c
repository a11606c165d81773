// The first member is the model: a copy of it gets other attributes and conditions.
#include "generator/unify/one_rule.h"

#include "core/memory/arena.h"
#include "core/text/text.h"
#include "substitutions/pattern.h"
#include <string.h>

static const struct attribute_pattern *place_of(const struct unify_member *m, size_t node, int attribute)
{
    return &m->rule->pattern.nodes.items[node].attributes[attribute];
}

static bool is_variable(const struct attribute_pattern *p)
{
    return p->count == 1 && p->terms[0]->kind == TERM_VARIABLE;
}

bool attribute_may_differ(const struct operator* op, int attribute)
{
    enum attribute_kind kind = op->attributes[attribute].kind;
    return kind == ATTRIBUTE_INT || kind == ATTRIBUTE_INTS;
}

// --- texts -----------------------------------------------------------------------------------------------------------

const char *unifying_text(struct arena *a, const struct unify_member *m, size_t node, int attribute)
{
    const struct attribute_pattern *p = place_of(m, node, attribute);
    TEXT(text);
    for (uint32_t i = 0; i < p->count; i++) {
        text_add(&text, " ");
        pattern_print_attribute_term(&text, &m->rule->pattern, p->terms[i]);
    }
    return arena_string(a, text.count ? text.chars : "");
}

static const char *text_of_condition(struct arena *a, const struct unify_member *m, uint32_t condition)
{
    TEXT(text);
    pattern_print_condition(&text, &m->rule->pattern, &m->rule->conditions[condition]);
    return arena_string(a, text.chars);
}

// --- what stays ------------------------------------------------------------------------------------------------------

static bool is_equal_in_all(const struct unifying *u, size_t node, int attribute)
{
    const char *first = unifying_text(u->arena, &u->members[0], node, attribute);
    return ALL(size_t, i, u->n, strcmp(first, unifying_text(u->arena, &u->members[i], node, attribute)) == 0);
}

static uint32_t variables_in(const struct attribute_pattern *p)
{
    uint32_t set = 0;
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
            if (attribute_term_mentions_variable(p->terms[i], v))
                set |= UINT32_C(1) << v;
    return set;
}

// Its variables have to be bound in what stays of the source.
static bool stays(const struct unifying *u, size_t node, int attribute)
{
    if (!attribute_may_differ(u->rule.pattern.nodes.items[node].op, attribute))
        return true;
    bool is_of_source = node < u->rule.n_source_nodes;
    bool is_bound = is_of_source || !(variables_in(place_of(&u->members[0], node, attribute)) & ~u->known);
    return is_bound && is_equal_in_all(u, node, attribute);
}

// --- examples --------------------------------------------------------------------------------------------------------

static size_t count_examples(const struct unifying *u)
{
    return SUM_ALL(size_t, size_t, i, u->n, u->members[i].n_examples);
}

struct attribute_value *unifying_values(const struct unifying *u, size_t node, int attribute)
{
    struct attribute_value *values = arena_array(u->arena, struct attribute_value, count_examples(u)), *next = values;
    for (size_t i = 0; i < u->n; i++)
        for (size_t k = 0; k < u->members[i].n_examples; k++)
            *next++ = u->members[i].examples[k].attributes[node][attribute];
    return values;
}

// Nothing is bound yet but the tensors.
static void gather_examples(struct unifying *u)
{
    size_t n = count_examples(u);
    u->examples = arena_array(u->arena, struct term_bindings, n);
    u->values = arena_array(u->arena, struct attribute_value, n * MAX_RULE_VARIABLES);
    for (size_t i = 0; i < n * MAX_RULE_VARIABLES; i++)
        u->values[i] = UNBOUND_ATTRIBUTE;
    for (size_t i = 0; i < u->n; i++)
        for (size_t k = 0; k < u->members[i].n_examples; k++, u->n_examples++)
            u->examples[u->n_examples] = (struct term_bindings){u->members[i].examples[k].tensors,
                                                                u->values + u->n_examples * MAX_RULE_VARIABLES};
}

static void bind_variable(struct unifying *u, uint32_t v, const struct attribute_value *values)
{
    u->known |= UINT32_C(1) << v;
    for (size_t i = 0; i < u->n_examples; i++)
        u->values[i * MAX_RULE_VARIABLES + v] = values[i];
}

// --- the source ------------------------------------------------------------------------------------------------------

// A variable that stands by itself in what stays is bound there.
static void keep_variables_of_source(struct unifying *u)
{
    for (size_t i = 0; i < u->rule.n_source_nodes; i++)
        for (int a = 0; a < operator_n_attributes(u->rule.pattern.nodes.items[i].op); a++) {
            const struct attribute_pattern *p = place_of(&u->members[0], i, a);
            if (attribute_may_differ(u->rule.pattern.nodes.items[i].op, a) && stays(u, i, a) && is_variable(p))
                bind_variable(u, (uint32_t)p->terms[0]->value, unifying_values(u, i, a));
        }
    u->free_of_terms = u->known;
}

static bool has_values(const struct unifying *u, uint32_t variable, const struct attribute_value *values)
{
    return ALL(size_t, i, u->n_examples, attribute_value_equal(&u->examples[i].attributes[variable], &values[i]));
}

static bool is_name_taken(const struct unifying *u, const char *name)
{
    return ANY(uint32_t, v, u->rule.pattern.n_attribute_variables,
               u->known >> v & 1 && strcmp(u->rule.pattern.attribute_variables[v], name) == 0);
}

static const char *new_name(const struct unifying *u, const char *name)
{
    const char *numbered = name;
    for (int i = 2; is_name_taken(u, numbered); i++)
        numbered = arena_printf(u->arena, "%s%d", name, i);
    return numbered;
}

static bool is_free_in_some(const struct unifying *u, size_t node, int attribute)
{
    return ANY(size_t, i, u->n, is_variable(place_of(&u->members[i], node, attribute)));
}

// The variable of what is made that has these values, an old one or a new one; MAX_RULE_VARIABLES: there is no room.
static uint32_t variable_with(struct unifying *u, const struct attribute_value *values, const char *name)
{
    struct pattern *p = &u->rule.pattern;
    uint32_t first_new = u->members[0].rule->pattern.n_attribute_variables;
    for (uint32_t v = first_new; v < p->n_attribute_variables; v++)
        if (has_values(u, v, values))
            return v;
    if (p->n_attribute_variables == MAX_RULE_VARIABLES)
        return MAX_RULE_VARIABLES;
    uint32_t v = p->n_attribute_variables;
    p->attribute_variables[v] = new_name(u, name);
    p->n_attribute_variables++;
    bind_variable(u, v, values);
    return v;
}

static void set_place(struct unifying *u, size_t node, int attribute, const struct attribute_pattern *pattern)
{
    struct pattern_node *n = &u->rule.pattern.nodes.items[node];
    struct attribute_pattern *attributes = arena_copy_array(u->arena, n->attributes, operator_n_attributes(n->op));
    attributes[attribute] = *pattern;
    n->attributes = attributes;
}

static bool make_variable(struct unifying *u, size_t node, int attribute)
{
    const char *name = u->rule.pattern.nodes.items[node].op->attributes[attribute].name;
    const struct attribute_value *values = unifying_values(u, node, attribute);
    uint32_t v = variable_with(u, values, name);
    if (v == MAX_RULE_VARIABLES)
        return false;
    const struct attribute_term **term = arena_array(u->arena, const struct attribute_term *, 1);
    *term = attribute_term_make(TERM_VARIABLE, v, NULL, u->arena);
    set_place(u, node, attribute, &(struct attribute_pattern){1, term});
    if (is_free_in_some(u, node, attribute))
        u->free_of_terms |= UINT32_C(1) << v;
    return true;
}

static bool make_source(struct unifying *u)
{
    return !ANY(size_t, i, u->rule.n_source_nodes,
                ANY(int, a, operator_n_attributes(u->rule.pattern.nodes.items[i].op),
                    !stays(u, i, a) && !make_variable(u, i, a)));
}

// --- conditions ------------------------------------------------------------------------------------------------------

static void add_condition(struct unifying *u, const struct condition *c)
{
    struct condition *all = arena_array(u->arena, struct condition, u->rule.n_conditions + 1);
    if (u->rule.n_conditions)
        memcpy(all, u->rule.conditions, u->rule.n_conditions * sizeof *all);
    all[u->rule.n_conditions++] = *c;
    u->rule.conditions = all;
}

// Is the variable said to be something?
static bool has_equation_of(const struct unifying *u, int64_t variable)
{
    return FIND(u->rule.conditions, u->rule.n_conditions, c,
                c->kind == CONDITION_EQUAL && c->a->kind == TERM_VARIABLE && c->a->value == variable) != NULL;
}

static void add_equation(struct unifying *u, const struct attribute_term *x, const struct attribute_term *y)
{
    add_condition(u, &(struct condition){.kind = CONDITION_EQUAL, .a = x, .b = y});
}

static bool has_condition(const struct unifying *u, const struct unify_member *m, const char *text)
{
    return ANY(uint32_t, i, m->rule->n_conditions, strcmp(text, text_of_condition(u->arena, m, i)) == 0);
}

static bool is_condition_of_all(const struct unifying *u, const struct unify_member *m, uint32_t condition)
{
    const char *text = text_of_condition(u->arena, m, condition);
    return ALL(size_t, i, u->n, has_condition(u, &u->members[i], text));
}

// The tensor whose size the condition is about; -1: none.
static int tensor_of(const struct condition *c)
{
    return !condition_is_of_variable(c->kind) && c->a->kind == TERM_DIM ? (int)c->a->value : -1;
}

static int first_axis_with_condition(const struct unifying *u, uint32_t tensor)
{
    int first = MAX_RANK;
    for (size_t i = 0; i < u->n; i++)
        for (uint32_t k = 0; k < u->members[i].rule->n_conditions; k++) {
            const struct condition *c = &u->members[i].rule->conditions[k];
            bool is_axis = tensor_of(c) == (int)tensor && c->a->operands[0]->kind == TERM_INTEGER;
            if (is_axis && c->a->operands[0]->value < first)
                first = (int)c->a->operands[0]->value;
        }
    return first;
}

static const struct attribute_value *sizes_from(const struct unifying *u, uint32_t tensor, int axis)
{
    struct attribute_value *values = arena_array(u->arena, struct attribute_value, u->n_examples);
    for (size_t i = 0; i < u->n_examples; i++) {
        const struct type *type = u->examples[i].tensors[tensor];
        uint32_t n = type->rank > axis ? (uint32_t)(type->rank - axis) : 0;
        values[i] = (struct attribute_value){n, type->dim + axis};
    }
    return values;
}

static const struct attribute_term *term_of_sizes(const struct unifying *u, uint32_t tensor, int axis)
{
    const struct attribute_term *dims = attribute_term_make(TERM_DIMS, tensor, NULL, u->arena);
    const struct attribute_term *first = attribute_term_make(TERM_INTEGER, axis, NULL, u->arena);
    return axis ? attribute_term_of(u->arena, TERM_DROP, 2, (const struct attribute_term *[]){first, dims}) : dims;
}

// Its sizes from the axis are what some term says.
static bool add_condition_on_sizes(struct unifying *u, uint32_t tensor, int axis)
{
    const struct attribute_term *sizes = term_of_sizes(u, tensor, axis);
    struct attribute_pattern found;
    if (!list_terms_find(&u->terms, sizes_from(u, tensor, axis), MAX_LISTS, tensor, &found))
        return false;
    add_equation(u, sizes, attribute_pattern_as_term(u->arena, &found));
    return true;
}

// Its rank is what some term over attributes says.
static void add_condition_on_rank(struct unifying *u, uint32_t tensor)
{
    int64_t *ranks = arena_array(u->arena, int64_t, u->n_examples);
    struct attribute_value *values = arena_array(u->arena, struct attribute_value, u->n_examples);
    struct attribute_pattern found;
    for (size_t i = 0; i < u->n_examples; i++) {
        ranks[i] = u->examples[i].tensors[tensor]->rank;
        values[i] = (struct attribute_value){1, &ranks[i]};
    }
    if (list_terms_find(&u->terms, values, 1, tensor, &found) && variables_in(&found))
        add_equation(u, attribute_term_make(TERM_RANK, tensor, NULL, u->arena), found.terms[0]);
}

static bool is_about_sizes(const struct condition *c, uint32_t tensor)
{
    return !condition_is_of_variable(c->kind) && c->a->value == (int64_t)tensor &&
           (c->a->kind == TERM_DIM || c->a->kind == TERM_RANK);
}

// Does some member say of its sizes what others do not?
static bool has_other_conditions(const struct unifying *u, uint32_t tensor)
{
    return ANY(
        size_t, i, u->n,
        ANY(uint32_t, k, u->members[i].rule->n_conditions,
            is_about_sizes(&u->members[i].rule->conditions[k], tensor) && !is_condition_of_all(u, &u->members[i], k)));
}

// Weaker conditions are on the tensor's rank, and on its sizes from the first axis that has one.
static bool make_weaker_conditions(struct unifying *u, uint32_t tensor)
{
    int axis = first_axis_with_condition(u, tensor);
    add_condition_on_rank(u, tensor);
    return axis > 0 && axis < MAX_RANK && add_condition_on_sizes(u, tensor, axis);
}

// Does it mention an attribute variable of the first member that stands nowhere any more?
static bool speaks_of_unknown(const struct unifying *u, const struct condition *c)
{
    return ANY(uint32_t, v, u->members[0].rule->pattern.n_attribute_variables,
               !(u->known >> v & 1) &&
                   (attribute_term_mentions_variable(c->a, v) || attribute_term_mentions_variable(c->b, v)));
}

// A tensor on which the members' conditions differ gets one on all its sizes, or on those from the first that has one;
// what else all members say stays.
static void make_conditions_on_tensors(struct unifying *u)
{
    const struct rule *first = u->members[0].rule;
    uint32_t said = 0;
    for (uint32_t t = 0; t < u->rule.pattern.n_variables; t++)
        if (has_other_conditions(u, t) && (add_condition_on_sizes(u, t, 0) || make_weaker_conditions(u, t)))
            said |= UINT32_C(1) << t;
    for (uint32_t i = 0; i < first->n_conditions; i++) {
        int tensor = tensor_of(&first->conditions[i]);
        bool is_said = (tensor >= 0 && said >> tensor & 1) || speaks_of_unknown(u, &first->conditions[i]);
        if (is_condition_of_all(u, &u->members[0], i) && !is_said)
            add_condition(u, &first->conditions[i]);
    }
}

static const struct attribute_value *values_of_variable(const struct unifying *u, uint32_t v)
{
    struct attribute_value *values = arena_array(u->arena, struct attribute_value, u->n_examples);
    for (size_t i = 0; i < u->n_examples; i++)
        values[i] = u->examples[i].attributes[v];
    return values;
}

// The tensor that the node gives a shape of which no condition speaks; -1: none.
static int64_t tensor_of_free_shape(const struct unifying *u, size_t node)
{
    const struct pattern_node *n = &u->rule.pattern.nodes.items[node];
    int shape = operator_find_role(n->op, ROLE_SHAPE);
    if (shape < 0 || n->n_inputs == 0 || !is_variable(&n->attributes[shape]))
        return -1;
    const struct term *read = &u->rule.pattern.terms.items[n->inputs[0]];
    int64_t variable = n->attributes[shape].terms[0]->value;
    bool is_said = has_equation_of(u, variable) || variable < u->members[0].rule->pattern.n_attribute_variables;
    return read->is_variable && !is_said ? (int64_t)read->index : -1;
}

// A tensor beside another one has to be as large as its shape says if the target speaks of its own size.
static void make_conditions_on_shaped_tensors(struct unifying *u)
{
    list_terms_add_entries(&u->terms, u->known);
    for (size_t i = 0; i < u->rule.n_source_nodes; i++) {
        int64_t tensor = tensor_of_free_shape(u, i);
        if (tensor >= 0 && !has_other_conditions(u, (uint32_t)tensor))
            add_condition_on_sizes(u, (uint32_t)tensor, 0);
    }
}

static void start_terms(struct unifying *u, uint32_t usable)
{
    list_terms_init(&u->terms, u->arena, u->examples, u->n_examples, u->rule.pattern.n_variables, usable);
}

// Gives those of which a term is said: it is not said of another in turn.
static uint32_t make_conditions_on_variables(struct unifying *u)
{
    uint32_t first_new = u->members[0].rule->pattern.n_attribute_variables;
    uint32_t said = 0;
    for (uint32_t v = first_new; v < u->rule.pattern.n_attribute_variables; v++) {
        struct attribute_pattern found;
        if (u->free_of_terms >> v & 1)
            continue;
        start_terms(u, u->known & ~said & ~(UINT32_C(1) << v));
        if (list_terms_find(&u->terms, values_of_variable(u, v), MAX_LISTS, NO_TENSOR, &found)) {
            add_equation(u, attribute_term_make(TERM_VARIABLE, v, NULL, u->arena),
                         attribute_pattern_as_term(u->arena, &found));
            said |= UINT32_C(1) << v;
        }
        list_terms_free(&u->terms);
    }
    return said;
}

// --- the target ------------------------------------------------------------------------------------------------------

static bool make_term(struct unifying *u, size_t node, int attribute)
{
    bool is_list = u->rule.pattern.nodes.items[node].op->attributes[attribute].kind == ATTRIBUTE_INTS;
    const struct attribute_value *values = unifying_values(u, node, attribute);
    struct attribute_pattern found;
    if (!list_terms_find(&u->terms, values, is_list ? MAX_LISTS : 1, NO_TENSOR, &found))
        return false;
    set_place(u, node, attribute, &found);
    return true;
}

// False: no term is there for a place, or the members say there what no rule could.
static bool make_target(struct unifying *u, struct place *ret_failed)
{
    for (size_t i = u->rule.n_source_nodes; i < u->rule.pattern.nodes.count; i++)
        for (int a = 0; a < operator_n_attributes(u->rule.pattern.nodes.items[i].op); a++)
            if (!stays(u, i, a) && !make_term(u, i, a)) {
                *ret_failed = (struct place){i, a};
                return false;
            }
    return true;
}

// --- what nothing speaks of ------------------------------------------------------------------------------------------

static bool has_condition_on(const struct unifying *u, uint32_t variable)
{
    return FIND(u->rule.conditions, u->rule.n_conditions, c,
                !condition_is_of_variable(c->kind) && (attribute_term_mentions_variable(c->a, variable) ||
                                                       attribute_term_mentions_variable(c->b, variable)));
}

// Among the nodes from `first` to `end`.
static int count_places_of(const struct unifying *u, uint32_t variable, size_t first, size_t end,
                           struct place *ret_last)
{
    int n = 0;
    for (size_t i = first; i < end; i++)
        for (int a = 0; a < operator_n_attributes(u->rule.pattern.nodes.items[i].op); a++)
            if (variables_in(&u->rule.pattern.nodes.items[i].attributes[a]) >> variable & 1) {
                *ret_last = (struct place){i, a};
                n++;
            }
    return n;
}

static bool is_unspoken(const struct unifying *u, uint32_t variable, struct place *ret_place)
{
    size_t n_nodes = u->rule.pattern.nodes.count;
    bool is_said =
        has_condition_on(u, variable) || count_places_of(u, variable, u->rule.n_source_nodes, n_nodes, ret_place) > 0;
    int n_of_source = count_places_of(u, variable, 0, u->rule.n_source_nodes, ret_place);
    return !is_said && (n_of_source == 1 || u->free_of_terms >> variable & 1);
}

uint32_t unifying_find_unspoken(const struct unifying *u, uint32_t first, struct place *ret_place)
{
    uint32_t first_new = u->members[0].rule->pattern.n_attribute_variables;
    for (uint32_t v = first < first_new ? first_new : first; v < u->rule.pattern.n_attribute_variables; v++)
        if (is_unspoken(u, v, ret_place))
            return v;
    return MAX_RULE_VARIABLES;
}

// --- members ---------------------------------------------------------------------------------------------------------

static void start(struct unifying *u, struct arena *a, const struct unify_member *members, size_t n)
{
    *u = (struct unifying){.arena = a, .members = members, .n = n, .rule = *members[0].rule};
    struct pattern *p = &u->rule.pattern;
    p->nodes.items = arena_copy_array(a, p->nodes.items, p->nodes.count);
    u->rule.n_conditions = 0;
    u->rule.conditions = NULL;
    gather_examples(u);
    keep_variables_of_source(u);
}

enum unifying_result unifying_run(struct unifying *u, struct arena *a, const struct unify_member *members, size_t n,
                                  struct place *ret_failed)
{
    start(u, a, members, n);
    if (!make_source(u))
        return UNIFYING_NO_ROOM;
    start_terms(u, u->known & ~make_conditions_on_variables(u));
    make_conditions_on_tensors(u);
    list_terms_free(&u->terms);
    start_terms(u, u->known);
    make_conditions_on_shaped_tensors(u);
    list_terms_free(&u->terms);
    start_terms(u, u->known);
    return make_target(u, ret_failed) ? UNIFYING_DONE : UNIFYING_NO_TERM;
}

void unifying_free(struct unifying *u)
{
    list_terms_free(&u->terms);
}
