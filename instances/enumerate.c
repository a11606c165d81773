// Variables are bound in an order in which nodes are known early.
#include "instances/enumerate.h"

#include "instances/rank_classes.h"
#include "instances/types_to_try.h"
#include "substitutions/pattern.h"

#define MAX_SEARCHED 32   // conditions

// Nodes and conditions that are known when so many variables are bound, and were not before.
struct level {
    uint32_t variable;     // that is bound next
    node_set nodes;        // to be typed
    uint32_t conditions;   // to be asked
};
// A node that is typed next, with the variable as one input and another one that is known: few types agree with that.
struct agreeing {
    head_id head;   // NO_HEAD: there is no such node
    uint32_t input, other;
    term_id other_term;
    const uint32_t *of_types;   // that are tried; NULL: not asked yet
};
struct search {
    struct enumeration *e;
    struct instance in;
    node_set required;   // nodes that must be well-typed
    uint32_t n_levels;   // variables
    struct level levels[MAX_RULE_VARIABLES + 1];
    struct types_to_try types[MAX_RULE_VARIABLES];   // of each variable
    struct agreeing agreeing[MAX_RULE_VARIABLES];    // of each level
};

// --- what is tried ---------------------------------------------------------------------------------------------------

static uint32_t used_variables(const struct equation *eq)
{
    uint32_t variables =
        UNION_ALL(uint32_t, uint32_t, i, eq->pattern->nodes.count, equation_variables_of_node(eq->pattern, i));
    for (uint32_t i = 0; i < eq->pattern->terms.count; i++)
        if (eq->pattern->terms.items[i].is_variable)
            variables |= 1u << eq->pattern->terms.items[i].index;
    return variables |
           UNION_ALL(uint32_t, uint32_t, i, eq->n_conditions, equation_variables_of_condition(&eq->conditions[i]));
}

// Other ranks than lists of windows ask for are ill-typed, whatever the sizes are.
static void find_types(struct search *s, uint32_t variables)
{
    const struct pattern *p = s->e->equation->pattern;
    struct rank_classes classes;
    struct ranks_left left;
    rank_classes_make(&classes, &left, p, s->required);
    for (uint32_t n = 0; n < p->nodes.count; n++)
        if ((s->required >> n & 1) && s->in.heads[n] != NO_HEAD)
            ranks_left_restrict_node(&left, &classes, p, n, typing_attributes(s->e->typing, s->in.heads[n]));
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        if (variables >> v & 1)
            types_to_try_find(s->e, v, left.of_class[classes.class_of_variable[v]], &s->types[v]);
}

// False: no types go with them.
static bool bind_attributes(struct search *s)
{
    const struct pattern *p = s->e->equation->pattern;
    bool may_be_typed = true;
    for (uint32_t v = 0; v < p->n_attribute_variables; v++)
        s->in.attributes[v] = s->e->attributes[v];
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        instance_settle_attributes(&s->in, n);
        may_be_typed = may_be_typed && !((s->required >> n & 1) && instance_refuses_attributes(&s->in, n));
    }
    return may_be_typed;
}

// --- the order of the search -----------------------------------------------------------------------------------------

// A variable of those that the node waits for which waits for the fewest.
static uint32_t choose_variable(const struct search *s, uint32_t left)
{
    uint32_t chosen = left;
    for (uint32_t n = 0; n < s->e->equation->pattern->nodes.count; n++) {
        uint32_t waits_for = equation_variables_of_node(s->e->equation->pattern, n) & left;
        if ((s->required >> n & 1) && waits_for && __builtin_popcount(waits_for) < __builtin_popcount(chosen))
            chosen = waits_for;
    }
    return (uint32_t)__builtin_ctz(chosen);
}

static void note_what_is_known(const struct search *s, struct level *level, uint32_t left, node_set *nodes,
                               uint32_t *conditions)
{
    const struct equation *eq = s->e->equation;
    level->nodes = level->conditions = 0;
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if (!(*nodes >> n & 1) && (equation_variables_of_node(eq->pattern, n) & left) == 0)
            level->nodes |= (node_set)1 << n;
    for (uint32_t i = 0; i < eq->n_conditions && i < MAX_SEARCHED; i++)
        if (!(*conditions >> i & 1) && (equation_variables_of_condition(&eq->conditions[i]) & left) == 0)
            level->conditions |= 1u << i;
    *nodes |= level->nodes;
    *conditions |= level->conditions;
}

static void plan_levels(struct search *s, uint32_t variables)
{
    uint32_t conditions = 0;
    node_set nodes = 0;
    note_what_is_known(s, &s->levels[0], variables, &nodes, &conditions);
    for (uint32_t left = variables; left; s->n_levels++) {
        uint32_t next = choose_variable(s, left);
        s->levels[s->n_levels].variable = next;
        left &= ~(1u << next);
        note_what_is_known(s, &s->levels[s->n_levels + 1], left, &nodes, &conditions);
    }
}

// --- agreement -------------------------------------------------------------------------------------------------------

static uint32_t variables_of_term(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    return t->is_variable ? 1u << t->index : equation_variables_of_node(p, t->index);
}

static struct agreeing agreeing_of_node(const struct search *s, uint32_t node, uint32_t variable)
{
    const struct pattern *p = s->e->equation->pattern;
    const struct pattern_node *n = &p->nodes.items[node];
    struct agreeing found = {NO_HEAD, UINT32_MAX, UINT32_MAX};
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        const struct term *t = &p->terms.items[n->inputs[i]];
        if (t->is_variable && t->index == variable)
            found.input = i;
        else if (!(variables_of_term(p, n->inputs[i]) >> variable & 1))
            found.other = i;
    }
    if (found.input == UINT32_MAX || found.other == UINT32_MAX || s->in.heads[node] == NO_HEAD ||
        !typing_has_agreement(s->e->typing, s->in.heads[node]))
        return found;
    found.head = s->in.heads[node];
    found.other_term = n->inputs[found.other];
    return found;
}

static void find_agreeing(struct search *s)
{
    for (uint32_t i = 0; i < s->n_levels; i++) {
        s->agreeing[i].head = NO_HEAD;
        for (uint32_t n = 0; s->levels[i + 1].nodes >> n && s->agreeing[i].head == NO_HEAD; n++)
            if (s->levels[i + 1].nodes & s->required & (node_set)1 << n)
                s->agreeing[i] = agreeing_of_node(s, n, s->levels[i].variable);
    }
}

// The agreements of the types that are tried at the level, and the one that is wanted. NULL: any may do.
static const uint32_t *agreements_at(struct search *s, uint32_t number, uint32_t *ret_wanted)
{
    struct agreeing *a = &s->agreeing[number];
    type_id other = a->head == NO_HEAD ? NO_TYPE : instance_term_type(&s->in, a->other_term);
    if (other == NO_TYPE)
        return NULL;
    const struct types_to_try *types = &s->types[s->levels[number].variable];
    uint32_t *of_types = a->of_types ? NULL : arena_array(s->e->scratch, uint32_t, types->count + 1);
    for (uint32_t i = 0; of_types && i < types->count; i++)
        of_types[i] = typing_agreement(s->e->typing, a->head, a->input, types->items[i]);
    a->of_types = of_types ? of_types : a->of_types;
    *ret_wanted = typing_agreement(s->e->typing, a->head, a->other, other);
    return a->of_types;
}

// --- the search ------------------------------------------------------------------------------------------------------

static bool type_nodes(struct search *s, node_set nodes)
{
    for (uint32_t n = 0; nodes >> n; n++)
        if ((nodes >> n & 1) && !instance_type_node(&s->in, n) && (s->required >> n & 1))
            return false;
    return true;
}

static bool conditions_hold(struct search *s, uint32_t conditions)
{
    enum weight_kind weights[MAX_RULE_VARIABLES];
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        weights[v] = WEIGHT_GIVEN;
    if (!conditions)
        return true;
    struct term_bindings b = instance_bindings(&s->in);
    ARENA_MARK(mark, s->e->scratch);
    bool hold = true;
    for (uint32_t i = 0; hold && i < MAX_SEARCHED && conditions >> i; i++)
        if (conditions >> i & 1)
            hold = condition_holds(&s->e->equation->conditions[i], &b, weights, s->e->scratch);
    return hold;
}

static bool has_required_outputs(const struct search *s)
{
    const struct equation *eq = s->e->equation;
    for (uint32_t t = 0; t < eq->pattern->terms.count; t++) {
        const struct term *term = &eq->pattern->terms.items[t];
        if (!term->is_variable && (s->required >> term->index & 1) && instance_term_type(&s->in, t) == NO_TYPE)
            return false;
    }
    return true;
}

static bool search_from(struct search *s, uint32_t number);

static bool try_types(struct search *s, uint32_t number)
{
    uint32_t variable = s->levels[number].variable;
    const struct types_to_try *types = &s->types[variable];
    uint32_t wanted = 0;
    const uint32_t *agreements = agreements_at(s, number, &wanted);
    bool goes_on = true;
    for (uint32_t i = 0; i < types->count && goes_on && !s->e->was_cut_short; i++) {
        s->e->was_cut_short = ++s->e->steps > s->e->step_limit;
        if (agreements && agreements[i] != wanted)
            continue;
        instance_bind(&s->in, variable, types->items[i]);
        goes_on = s->e->was_cut_short || search_from(s, number + 1);
    }
    instance_bind(&s->in, variable, NO_TYPE);
    return goes_on;
}

static bool search_from(struct search *s, uint32_t number)
{
    if (!type_nodes(s, s->levels[number].nodes) || !conditions_hold(s, s->levels[number].conditions))
        return true;
    if (number < s->n_levels)
        return try_types(s, number);
    if (!has_required_outputs(s))
        return true;
    s->e->instances++;
    return s->e->visit(s->e->context, &s->in);
}

// There may be very many attributes that no types go with.
#define STEPS_OF_REFUSAL 25
bool enumerate_instances(struct enumeration *e)
{
    struct search s = {.e = e, .required = equation_required_nodes(e->equation, e->wanted)};
    uint32_t variables = used_variables(e->equation);
    e->steps = e->instances = 0;
    e->was_cut_short = false;
    instance_init(&s.in, e->equation, e->typing, e->scratch);
    if (!bind_attributes(&s)) {
        e->steps = STEPS_OF_REFUSAL;
        e->was_cut_short = e->steps > e->step_limit;
        return true;
    }
    ARENA_MARK(mark, e->scratch);
    plan_levels(&s, variables);
    find_types(&s, variables);
    find_agreeing(&s);
    return e->was_cut_short || search_from(&s, 0);
}
