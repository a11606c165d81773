// Joins the relations of nodes, smallest first, and types the rest as soon as inputs are known.
#include "instances/enumerate.h"

#include "instances/rank_classes.h"
#include "instances/relation.h"
#include "instances/types_to_try.h"
#include "substitutions/pattern.h"
#include <math.h>
#include <string.h>

#define NO_NODE_OF_LEVEL UINT32_MAX
#define NEVER_SETTLED UINT8_MAX
#define MAX_SEARCHED 32   // conditions

// A relation to go through, or a variable that stands in none.
struct level {
    struct relation of;
    uint32_t node;            // whose relation it is; NO_NODE_OF_LEVEL: a variable's
    uint32_t shared, fresh;   // variables that are bound before, and by this level
    struct row_index index;   // of the rows by the shared variables
    node_set nodes;           // those to be typed when the level is bound: known then, and not before
    uint32_t conditions;      // likewise
};
struct search {
    struct enumeration *e;
    struct instance in;
    node_set required;   // nodes that must be well-typed
    node_set tops;       // of these the ones that the search begins with, and what they are made of
    node_set below_tops;
    struct assignment_order order;
    uint8_t ready[MAX_RULE_NODES];   // how many attribute variables are bound when the node's relation can be found
    uint8_t settled[MAX_SEARCHED];   // likewise for conditions on attributes alone; NEVER_SETTLED: it is none
    struct arena_mark marks[MAX_RULE_VARIABLES + 1];
    struct relations relations;
    struct arena *arena;   // of the relations
    uint32_t n_levels;
    struct level levels[MAX_RULE_VARIABLES + 1];
};

// --- what the equation asks for --------------------------------------------------------------------------------------

node_set enumerate_required_nodes(const struct equation *eq, enum wanted_sides wanted)
{
    node_set nodes = 0;
    if (!eq->is_strong)
        return ((node_set)1 << eq->pattern->nodes.count) - 1;
    for (uint32_t i = 0; i < eq->n_pairs; i++)
        nodes |= (wanted & WANTED_LEFT ? equation_nodes_of_term(eq->pattern, eq->left[i]) : 0) |
                 (wanted & WANTED_RIGHT ? equation_nodes_of_term(eq->pattern, eq->right[i]) : 0);
    for (uint32_t i = 0; i < eq->n_guards; i++)
        nodes |= equation_nodes_of_term(eq->pattern, eq->guards[i]);
    return nodes;
}

static uint32_t used_variables(const struct equation *eq)
{
    uint32_t variables = 0;
    for (uint32_t i = 0; i < eq->pattern->nodes.count; i++)
        variables |= equation_variables_of_node(eq->pattern, i);
    for (uint32_t i = 0; i < eq->pattern->terms.count; i++)
        if (eq->pattern->terms.items[i].is_variable)
            variables |= 1u << eq->pattern->terms.items[i].index;
    for (uint32_t i = 0; i < eq->n_conditions; i++)
        variables |= equation_variables_of_condition(&eq->conditions[i]);
    return variables;
}

// --- types to try ----------------------------------------------------------------------------------------------------

// Other ranks than lists of windows ask for are ill-typed, whatever the sizes are.
static void find_types_to_try(struct search *s)
{
    const struct pattern *p = s->e->equation->pattern;
    uint32_t variables = used_variables(s->e->equation);
    struct rank_classes classes;
    struct ranks_left left;
    rank_classes_make(&classes, &left, p, s->required);
    for (uint32_t n = 0; s->e->attributes && n < p->nodes.count; n++)
        if ((s->required >> n & 1) && s->in.heads[n] != NO_HEAD)
            ranks_left_restrict_node(&left, &classes, p, n, typing_attributes(s->e->typing, s->in.heads[n]));
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        if (variables >> v & 1)
            s->relations.of_variable[v] =
                relation_of_types_to_try(s->e, v, left.of_class[classes.class_of_variable[v]]);
}

// False: no types go with them.
static bool bind_given_attributes(struct search *s)
{
    const struct pattern *p = s->e->equation->pattern;
    bool may_be_typed = true;
    for (uint32_t v = 0; s->e->attributes && v < p->n_attribute_variables; v++)
        s->in.attributes[v] = s->e->attributes[v];
    for (uint32_t n = 0; s->e->attributes && n < p->nodes.count; n++) {
        instance_settle_attributes(&s->in, n);
        may_be_typed = may_be_typed && !((s->required >> n & 1) && instance_refuses_attributes(&s->in, n));
    }
    return may_be_typed;
}

// --- the order of the search -----------------------------------------------------------------------------------------

// Nodes that must be well-typed and are no inputs of others: their relations say most. Where one is too large to be
// written down, those of its inputs do.
static void collect_sources(struct search *s, uint32_t node, node_set *ret_nodes)
{
    const struct pattern *p = s->e->equation->pattern;
    if (relations_of_node(&s->relations, node)) {
        *ret_nodes |= (node_set)1 << node;
        return;
    }
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++) {
        const struct term *t = &p->terms.items[p->nodes.items[node].inputs[i]];
        if (!t->is_variable)
            collect_sources(s, t->index, ret_nodes);
    }
}

static node_set nodes_of(const struct pattern *p, uint32_t node)
{
    node_set nodes = (node_set)1 << node;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs; i++)
        nodes |= equation_nodes_of_term(p, p->nodes.items[node].inputs[i]);
    return nodes;
}

static node_set find_inner_nodes(const struct search *s)
{
    const struct pattern *p = s->e->equation->pattern;
    node_set inner = 0;
    for (uint32_t n = 0; n < p->nodes.count; n++)
        for (uint32_t i = 0; (s->required >> n & 1) && i < p->nodes.items[n].n_inputs; i++) {
            const struct term *t = &p->terms.items[p->nodes.items[n].inputs[i]];
            inner |= t->is_variable ? 0 : (node_set)1 << t->index;
        }
    return inner;
}

// Do no attributes of the node and of what it is made of depend on types?
static bool has_settled_attributes(const struct pattern *p, uint32_t node)
{
    bool are_settled = equation_variables_of_attributes(&p->nodes.items[node]) == 0;
    for (uint32_t i = 0; i < p->nodes.items[node].n_inputs && are_settled; i++) {
        const struct term *t = &p->terms.items[p->nodes.items[node].inputs[i]];
        are_settled = t->is_variable || has_settled_attributes(p, t->index);
    }
    return are_settled;
}

// Where attributes depend on types a relation is found row by row: it is left out when others have its variables.
static node_set find_tops(const struct search *s)
{
    const struct pattern *p = s->e->equation->pattern;
    node_set outer = s->required & ~find_inner_nodes(s), tops = 0;
    uint32_t variables = 0;
    for (int wants_settled = 1; wants_settled >= 0; wants_settled--)
        for (uint32_t n = 0; n < p->nodes.count; n++) {
            uint32_t of_node = equation_variables_of_node(p, n);
            if (!(outer >> n & 1) || has_settled_attributes(p, n) != wants_settled)
                continue;
            if (!wants_settled && (of_node & ~variables) == 0)
                continue;
            tops |= (node_set)1 << n;
            variables |= of_node;
        }
    return tops;
}

// How much a relation leaves open for each variable that it would bind, those bound before having random types.
static double openness(const struct search *s, const struct relation *of, uint32_t bound)
{
    double rows = log(of->count + 1.0);
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        if ((of->variables & bound) >> v & 1)
            rows -= log(s->relations.of_variable[v].count + 1.0);
    return rows / __builtin_popcount(of->variables & ~bound);
}

static const struct relation *choose_next_relation(struct search *s, node_set sources, uint32_t variables,
                                                   uint32_t bound, uint32_t *ret_node)
{
    const struct relation *best = NULL;
    for (uint32_t n = 0; n < s->e->equation->pattern->nodes.count; n++) {
        const struct relation *of = sources >> n & 1 ? s->relations.of_node[n] : NULL;
        if (of && (of->variables & ~bound) && (!best || openness(s, of, bound) < openness(s, best, bound))) {
            best = of;
            *ret_node = n;
        }
    }
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES && !best; v++)
        if ((variables & ~bound) >> v & 1)
            best = &s->relations.of_variable[v];
    return best;
}

static void index_level(struct search *s, struct level *level, uint32_t bound)
{
    uint8_t columns[MAX_RULE_VARIABLES], n = 0, column = 0;
    level->shared = level->of.variables & bound;
    level->fresh = level->of.variables & ~bound;
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++) {
        if (level->shared >> v & 1)
            columns[n++] = column;
        column = (uint8_t)(column + (level->of.variables >> v & 1));
    }
    row_index_make(&level->index, s->arena, level->of.rows, level->of.width, level->of.count, n, columns);
}

static void note_what_is_known(struct search *s, struct level *level, uint32_t bound, node_set *nodes,
                               uint32_t *conditions)
{
    const struct equation *eq = s->e->equation;
    level->nodes = level->conditions = 0;
    for (uint32_t n = 0; n < eq->pattern->nodes.count; n++)
        if (!(*nodes >> n & 1) && (equation_variables_of_node(eq->pattern, n) & ~bound) == 0)
            level->nodes |= (node_set)1 << n;
    for (uint32_t i = 0; i < eq->n_conditions && i < MAX_SEARCHED; i++)
        if (!(*conditions >> i & 1) && (equation_variables_of_condition(&eq->conditions[i]) & ~bound) == 0)
            level->conditions |= 1u << i;
    *nodes |= level->nodes;
    *conditions |= level->conditions;
}

// The first level binds nothing: what no variable changes is known there.
static void plan_levels(struct search *s)
{
    uint32_t variables = used_variables(s->e->equation), bound = 0, conditions = 0;
    node_set nodes = 0, sources = 0;
    for (uint32_t n = 0; s->tops >> n; n++)
        if (s->tops >> n & 1)
            collect_sources(s, n, &sources);
    s->levels[0] = (struct level){0};
    note_what_is_known(s, &s->levels[0], bound, &nodes, &conditions);
    for (s->n_levels = 1; variables & ~bound; s->n_levels++) {
        struct level *level = &s->levels[s->n_levels];
        uint32_t node = NO_NODE_OF_LEVEL;
        *level = (struct level){.of = *choose_next_relation(s, sources, variables, bound, &node), .node = node};
        index_level(s, level, bound);
        bound |= level->of.variables;
        note_what_is_known(s, level, bound, &nodes, &conditions);
        if (node != NO_NODE_OF_LEVEL)
            level->nodes &= ~((node_set)1 << node);
    }
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
    struct arena_mark mark = arena_mark(s->e->scratch);
    bool hold = true;
    for (uint32_t i = 0; hold && i < MAX_SEARCHED && conditions >> i; i++)
        if (conditions >> i & 1)
            hold = condition_holds(&s->e->equation->conditions[i], &b, weights, s->e->scratch);
    arena_release(s->e->scratch, mark);
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

static bool search_levels_from(struct search *s, uint32_t number);

static void bind_row(struct search *s, const struct level *level, uint32_t row)
{
    const type_id *types = level->of.rows + (size_t)row * level->of.width;
    for (uint32_t left = level->of.variables; left; left &= left - 1)
        instance_bind(&s->in, (uint32_t)__builtin_ctz(left), *types++);
}

static void unbind_level(struct search *s, const struct level *level)
{
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        if (level->fresh >> v & 1)
            instance_bind(&s->in, v, NO_TYPE);
}

static bool search_rows(struct search *s, uint32_t number)
{
    const struct level *level = &s->levels[number];
    type_id key[MAX_RULE_VARIABLES];
    uint32_t n = 0;
    bool goes_on = true;
    for (uint32_t v = 0; v < MAX_RULE_VARIABLES; v++)
        if (level->shared >> v & 1)
            key[n++] = s->in.variables[v];
    for (uint32_t row = row_index_first(&level->index, key); row != NO_ROW && goes_on && !s->e->was_cut_short;
         row = row_index_next(&level->index, row, key)) {
        if (++s->e->steps > s->e->step_limit) {
            s->e->was_cut_short = true;
            break;
        }
        bind_row(s, level, row);
        if (level->node != NO_NODE_OF_LEVEL)
            s->in.calls[level->node] = level->of.calls[row];
        goes_on = search_levels_from(s, number);
    }
    unbind_level(s, level);
    return goes_on;
}

// The level is bound: types what is known by it, and goes on.
static bool search_levels_from(struct search *s, uint32_t number)
{
    struct enumeration *e = s->e;
    if (!type_nodes(s, s->levels[number].nodes) || !conditions_hold(s, s->levels[number].conditions))
        return true;
    if (number + 1 < s->n_levels)
        return search_rows(s, number + 1);
    if (!has_required_outputs(s))
        return true;
    e->instances++;
    return e->visit(e->context, &s->in);
}

// --- attributes ------------------------------------------------------------------------------------------------------
//
// A relation depends on the attributes of a node and of what it is made of. It is found as soon as these are bound and
// serves all assignments that begin alike; when it is empty there is none.

static void note_when_ready(struct search *s)
{
    const struct pattern *p = s->e->equation->pattern;
    for (uint32_t n = 0; n < p->nodes.count; n++) {
        const struct pattern_node *node = &p->nodes.items[n];
        uint32_t variables = attribute_variables_of_node(node), depth = 0;
        for (uint32_t i = 0; i < s->order.n; i++)
            depth = variables >> s->order.variables[i] & 1 ? i + 1 : depth;
        for (uint32_t i = 0; i < node->n_inputs; i++) {
            const struct term *t = &p->terms.items[node->inputs[i]];
            if (!t->is_variable && s->ready[t->index] > depth)
                depth = s->ready[t->index];
        }
        s->ready[n] = (uint8_t)depth;
    }
}

static void note_when_settled(struct search *s)
{
    const struct equation *eq = s->e->equation;
    memset(s->settled, NEVER_SETTLED, sizeof s->settled);
    for (uint32_t i = 0; i < eq->n_conditions && i < MAX_SEARCHED; i++) {
        const struct condition *c = &eq->conditions[i];
        if (condition_is_of_variable(c->kind) || equation_variables_of_condition(c))
            continue;
        uint32_t variables = attribute_variables_of_term(c->a) | attribute_variables_of_term(c->b);
        s->settled[i] = 0;
        for (uint32_t k = 0; k < s->order.n; k++)
            if (variables >> s->order.variables[k] & 1)
                s->settled[i] = (uint8_t)(k + 1);
    }
}

static uint32_t conditions_settled_at(const struct search *s, uint32_t depth)
{
    uint32_t conditions = 0;
    for (uint32_t i = 0; i < MAX_SEARCHED; i++)
        conditions |= s->settled[i] == depth ? 1u << i : 0;
    return conditions;
}

static uint64_t steps_left(const struct enumeration *e)
{
    return e->steps < e->step_limit ? e->step_limit - e->steps : 0;
}

// False: nothing is well-typed.
static bool find_relation_early(struct search *s, uint32_t node)
{
    struct relations *r = &s->relations;
    r->steps = 0;
    r->step_limit = steps_left(s->e);
    const struct relation *of = relations_of_node(r, node);
    s->e->steps += r->steps;
    s->e->was_cut_short = s->e->was_cut_short || s->e->steps > s->e->step_limit;
    return !s->e->was_cut_short && (!of || of->count > 0);
}

static bool begin_assignment(void *context, const struct attribute_value *attributes, uint32_t depth)
{
    struct search *s = context;
    s->marks[depth] = arena_mark(s->arena);
    if (depth > 0)
        s->in.attributes[s->order.variables[depth - 1]] = attributes[s->order.variables[depth - 1]];
    if (!conditions_hold(s, conditions_settled_at(s, depth)))
        return false;
    for (uint32_t n = 0; n < s->e->equation->pattern->nodes.count; n++)
        if (s->ready[n] == depth) {
            instance_settle_attributes(&s->in, n);
            s->relations.was_tried[n] = false;
        }
    for (uint32_t n = 0; s->below_tops >> n; n++)
        if (s->ready[n] == depth && (s->below_tops >> n & 1) && !find_relation_early(s, n))
            return false;
    return true;
}

static void end_assignment(void *context, uint32_t depth)
{
    struct search *s = context;
    arena_release(s->arena, s->marks[depth]);
}

static bool search_with_attributes(void *context, const struct attribute_value *attributes)
{
    struct search *s = context;
    if (s->e->was_cut_short)
        return false;
    struct arena_mark mark = arena_mark(s->arena);
    plan_levels(s);
    bool goes_on = search_levels_from(s, 0);
    arena_release(s->arena, mark);
    return goes_on && !s->e->was_cut_short;
}

static bool search_with_given(struct search *s, const struct attribute_value *attributes)
{
    bool goes_on = true, begins = true;
    uint32_t depth = 0;
    for (; begins && depth <= s->order.n; depth++)
        begins = begin_assignment(s, attributes, depth);
    if (begins)
        goes_on = search_with_attributes(s, attributes);
    end_assignment(s, 0);
    return goes_on;
}

static bool search_all(struct search *s)
{
    const struct enumeration *e = s->e;
    struct attribute_walk walk = {.equation = e->equation,
                                  .max_rank = e->box->max_rank,
                                  .extent = e->box->extent,
                                  .scratch = e->scratch,
                                  .begin = begin_assignment,
                                  .end = end_assignment,
                                  .visit = search_with_attributes,
                                  .context = s};
    if (e->attributes)
        return search_with_given(s, e->attributes);
    return assignment_visit_all(&walk, 1, &s->required, &s->order);
}

bool enumerate_attributes(const struct attribute_walk *walk)
{
    const struct equation *eq = walk->equation;
    struct assignment_order order = assignment_order_by_number(eq->pattern);
    node_set sets[] = {enumerate_required_nodes(eq, WANTED_LEFT), enumerate_required_nodes(eq, WANTED_RIGHT)};
    return assignment_visit_all(walk, eq->is_strong ? 2 : 1, sets, &order);
}

static void plan_search(struct search *s)
{
    s->order = assignment_order_by_node(s->e->equation->pattern);
    note_when_ready(s);
    note_when_settled(s);
    s->tops = find_tops(s);
    for (uint32_t n = 0; s->tops >> n; n++)
        if (s->tops >> n & 1)
            s->below_tops |= nodes_of(s->e->equation->pattern, n);
}

// There may be very many attributes that no types go with.
#define STEPS_OF_REFUSAL 25
bool enumerate_instances(struct enumeration *e)
{
    struct search s = {.e = e, .required = enumerate_required_nodes(e->equation, e->wanted)};
    e->steps = e->instances = 0;
    e->was_cut_short = false;
    s.arena = &e->typing->rows;
    s.relations.in = &s.in;
    s.relations.arena = s.arena;
    instance_init(&s.in, e->equation, e->typing, e->scratch);
    if (!bind_given_attributes(&s)) {
        e->steps = STEPS_OF_REFUSAL;
        e->was_cut_short = e->steps > e->step_limit;
        return true;
    }
    find_types_to_try(&s);
    plan_search(&s);
    bool goes_on = s.e->was_cut_short || search_all(&s);
    relations_free(&s.relations);
    return goes_on || e->was_cut_short;
}
