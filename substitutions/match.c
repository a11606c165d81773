// Matching by goals: "this term of the pattern is this tensor of the graph". Solving a goal for an operator adds a goal
// for each input (in both orders where the operator commutes); backtracking undoes bindings on the way out. When no
// goal is left, the next source term that is not matched yet is looked for among what reads the tensors already bound.
#include "substitutions/match.h"

#include "operators/traits.h"
#include "substitutions/pattern.h"
#include <assert.h>
#include <string.h>

// --- attributes ------------------------------------------------------------------------------------------------------

// Types of the nodes of a rule when no axis of its inputs remembers a concatenation. Rules are proved for such inputs
// (docs/theory/soundness.md), so a split without sizes cuts here where a concatenation of the rule itself says,
// and never where one outside of it does.
struct plain_types {
    const struct rule *rule;   // NULL: it has no such split, and no types are needed
    const struct graph *g;
    struct arena *scratch;
    struct outputs {
        int count;
        const struct type *types;
    } of_nodes[MAX_RULE_NODES];   // that were resolved
};

struct matching {
    const struct rule *rule;
    const struct match_index *index;
    const struct graph *g;
    struct arena *scratch;
    bool (*visit)(void *context, const struct match *m);
    void *context;
    struct match m;
    struct plain_types types;
};

struct goal {
    term_id term;
    tensor_id tensor;
    const struct goal *next;
};

static tensor_id bound_tensor(const struct matching *s, term_id term)
{
    const struct term *t = &s->rule->pattern.terms.items[term];
    if (t->is_variable)
        return s->m.variables[t->index];
    return s->m.nodes[t->index] == NO_NODE ? NO_TENSOR : graph_output_of(s->g, s->m.nodes[t->index], t->output);
}

// Which attribute variables were bound while one node was matched, to be undone.
struct trail {
    uint32_t count;
    uint32_t variables[MAX_RULE_VARIABLES];
};

static bool bind_attribute(struct matching *s, struct trail *trail, int64_t variable, struct attribute_value value)
{
    struct attribute_value *bound = &s->m.attributes[variable];
    if (bound->count != UINT32_MAX)
        return attribute_value_equal(bound, &value);
    *bound = value;
    trail->variables[trail->count++] = (uint32_t)variable;
    return true;
}

static void undo(struct matching *s, const struct trail *trail)
{
    for (uint32_t i = 0; i < trail->count; i++)
        s->m.attributes[trail->variables[i]] = UNBOUND_ATTRIBUTE;
}

// Binds what stands alone and compares constants. Compound terms wait until everything is bound.
static bool match_attribute(struct matching *s, struct trail *trail, const struct attribute_pattern *pattern,
                            const struct attribute_value *value)
{
    if (pattern->count == 1 && pattern->terms[0]->kind == TERM_VARIABLE)
        return bind_attribute(s, trail, pattern->terms[0]->value, *value);
    if (pattern->count != value->count)
        return true;
    for (uint32_t i = 0; i < pattern->count; i++) {
        const struct attribute_term *t = pattern->terms[i];
        if (t->kind == TERM_INTEGER && t->value != value->ints[i])
            return false;
        if (t->kind == TERM_VARIABLE &&
            !bind_attribute(s, trail, t->value, (struct attribute_value){1, &value->ints[i]}))
            return false;
    }
    return true;
}

static bool match_attributes(struct matching *s, struct trail *trail, const struct pattern_node *pattern,
                             const struct node *node)
{
    return ALL(int, i, operator_n_attributes(node->op),
               match_attribute(s, trail, &pattern->attributes[i], &node->attributes[i]));
}

static struct term_bindings bindings_of(const struct match *m, const struct graph *g, const struct type **types)
{
    for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++)
        types[v] = m->variables[v] == NO_TENSOR ? NULL : graph_type(g, m->variables[v]);
    return (struct term_bindings){types, m->attributes};
}

// Makes explicit what was left to the types of the inputs (lists that were not given). ret_outputs may be NULL.
static bool resolve_attributes(const struct operator_call *call, struct arena *scratch, struct attribute_value *values,
                               struct outputs *ret_outputs)
{
    struct definition d FREED_BY(definition_free);
    definition_init(&d, scratch, call->n_inputs, call->inputs);
    bool is_typed = operator_define(&d, call);
    if (is_typed && call->op->resolve)
        call->op->resolve(&d, call, values);
    if (is_typed && ret_outputs) {
        struct type *outputs = arena_array(scratch, struct type, d.n_outputs + 1);
        for (int i = 0; i < d.n_outputs; i++)
            outputs[i] = *definition_output(&d, i);
        *ret_outputs = (struct outputs){d.n_outputs, outputs};
    }
    return is_typed;
}

static void plain_types_init(struct plain_types *ret_types, const struct rule *r, const struct graph *g,
                             struct arena *scratch)
{
    *ret_types = (struct plain_types){r->pattern.looks_at_split_trees ? r : NULL, g, scratch, {{0}}};
}

// False: the node has no such output.
static bool plain_type_of_term(const struct plain_types *p, const tensor_id *variables, term_id term,
                               struct type *ret_type)
{
    const struct term *t = &p->rule->pattern.terms.items[term];
    if (!t->is_variable && t->output >= (uint32_t)p->of_nodes[t->index].count)
        return false;
    *ret_type = t->is_variable ? *graph_type(p->g, variables[t->index]) : p->of_nodes[t->index].types[t->output];
    if (t->is_variable)
        memset(ret_type->split, 0, sizeof ret_type->split);
    return true;
}

// Nodes are resolved in their order in the rule: each after what it reads.
static bool resolve_plainly(struct plain_types *p, const tensor_id *variables, uint32_t pattern_node,
                            struct attribute_value *values)
{
    const struct pattern_node *pattern = &p->rule->pattern.nodes.items[pattern_node];
    struct type *types = arena_array(p->scratch, struct type, pattern->n_inputs + 1);
    if (ANY(uint32_t, i, pattern->n_inputs, !plain_type_of_term(p, variables, pattern->inputs[i], &types[i])))
        return false;
    struct operator_call call = {pattern->op, (int)pattern->n_inputs, types, values};
    return resolve_attributes(&call, p->scratch, values, &p->of_nodes[pattern_node]);
}

static bool resolve_as_matched(struct matching *s, uint32_t pattern_node, struct attribute_value *values)
{
    const struct pattern_node *pattern = &s->rule->pattern.nodes.items[pattern_node];
    struct type *types = arena_array(s->scratch, struct type, pattern->n_inputs + 1);
    for (uint32_t i = 0; i < pattern->n_inputs; i++)
        types[i] = *graph_type(s->g, bound_tensor(s, pattern->inputs[i]));
    struct operator_call call = {pattern->op, (int)pattern->n_inputs, types, values};
    return resolve_attributes(&call, s->scratch, values, NULL);
}

static bool has_exactly_the_attributes(struct matching *s, uint32_t pattern_node, const struct term_bindings *b)
{
    const struct pattern_node *pattern = &s->rule->pattern.nodes.items[pattern_node];
    const struct node *node = &s->g->nodes.items[s->m.nodes[pattern_node]];
    struct attribute_value values[MAX_ATTRIBUTES];
    if (!pattern_evaluate_attributes(pattern, b, s->scratch, values))
        return false;
    if (s->types.rule ? !resolve_plainly(&s->types, s->m.variables, pattern_node, values)
                      : node->op->resolve && !resolve_as_matched(s, pattern_node, values))
        return false;
    return attributes_equal(node->op, values, node->attributes);
}

// --- the search ------------------------------------------------------------------------------------------------------

static bool solve(struct matching *s, const struct goal *goal);
static bool match_next_source(struct matching *s);

static bool is_used_already(const struct matching *s, node_id n)
{
    return ANY(uint32_t, i, s->rule->n_source_nodes, s->m.nodes[i] == n);
}

static bool solve_inputs(struct matching *s, const struct pattern_node *pattern, node_id n, bool is_swapped,
                         const struct goal *rest)
{
    struct goal goals[MAX_RULE_VARIABLES];
    assert(pattern->n_inputs <= MAX_RULE_VARIABLES);
    for (uint32_t i = pattern->n_inputs; i-- > 0;) {
        tensor_id input = graph_inputs(s->g, n)[is_swapped ? 1 - i : i];
        goals[i] = (struct goal){pattern->inputs[i], input, i + 1 < pattern->n_inputs ? &goals[i + 1] : rest};
    }
    return solve(s, pattern->n_inputs ? &goals[0] : rest);
}

static bool is_of_rules(const struct matching *s, const struct node *node)
{
    return node->n_outputs > 0 && operator_is_of_rules(node->op, graph_type(s->g, node->first_output));
}

// False only when the visitor wants no more.
static bool solve_node(struct matching *s, uint32_t pattern_node, node_id n, const struct goal *rest)
{
    const struct pattern_node *pattern = &s->rule->pattern.nodes.items[pattern_node];
    const struct node *node = &s->g->nodes.items[n];
    struct trail trail = {0};
    if (node->op != pattern->op || node->n_inputs != pattern->n_inputs || !is_of_rules(s, node) ||
        is_used_already(s, n))
        return true;
    bool goes_on = true;
    if (match_attributes(s, &trail, pattern, node)) {
        s->m.nodes[pattern_node] = n;
        goes_on = solve_inputs(s, pattern, n, false, rest);
        if (goes_on && (node->op->flags & OPERATOR_IS_COMMUTATIVE) &&
            graph_inputs(s->g, n)[0] != graph_inputs(s->g, n)[1])
            goes_on = solve_inputs(s, pattern, n, true, rest);
        s->m.nodes[pattern_node] = NO_NODE;
    }
    undo(s, &trail);
    return goes_on;
}

static bool solve_variable(struct matching *s, uint32_t variable, tensor_id tensor, const struct goal *rest)
{
    tensor_id *bound = &s->m.variables[variable];
    if (*bound != NO_TENSOR)
        return *bound != tensor || solve(s, rest);
    *bound = tensor;
    bool goes_on = solve(s, rest);
    *bound = NO_TENSOR;
    return goes_on;
}

static bool is_output_of(const struct matching *s, const struct term *t, tensor_id tensor)
{
    node_id n = s->m.nodes[t->index];
    return t->output < s->g->nodes.items[n].n_outputs && graph_output_of(s->g, n, t->output) == tensor;
}

static bool solve(struct matching *s, const struct goal *goal)
{
    if (!goal)
        return match_next_source(s);
    const struct term *t = &s->rule->pattern.terms.items[goal->term];
    if (t->is_variable)
        return solve_variable(s, t->index, goal->tensor, goal->next);
    if (s->m.nodes[t->index] != NO_NODE)
        return !is_output_of(s, t, goal->tensor) || solve(s, goal->next);
    const struct tensor *tensor = &s->g->tensors.items[goal->tensor];
    return tensor->output != t->output || solve_node(s, t->index, tensor->producer, goal->next);
}

#define MAX_PARTNERS 32

static bool is_in(const node_list *nodes, size_t n, node_id node)
{
    return ANY(size_t, i, n, nodes->items[i] == node);
}

// Adds readers that are not among the nodes yet: one may read several tensors that could be its input.
static void add_readers(const struct matching *s, tensor_id tensor, const struct operator* op, node_list *ret_nodes)
{
    const struct graph_uses *uses = &s->index->uses;
    size_t n_before = ret_nodes->count;
    for (uint32_t i = uses->first[tensor]; i < uses->first[tensor + 1]; i++) {
        node_id reader = uses->nodes[i];
        bool is_repeated = i > uses->first[tensor] && uses->nodes[i - 1] == reader;
        if (s->g->nodes.items[reader].op == op && !is_repeated && !is_in(ret_nodes, n_before, reader))
            vec_push(ret_nodes, reader);
    }
}

// Many readers of one tensor make as many pairs as the square of their number. Only those next to a node that is
// matched already, in the order of the graph, are tried: pairs of pairs reach the others.
static void keep_nearest(const struct matching *s, node_list *nodes)
{
    size_t place = 0;
    for (uint32_t i = 0; i < s->rule->n_source_nodes; i++)
        while (s->m.nodes[i] != NO_NODE && place < nodes->count && nodes->items[place] < s->m.nodes[i])
            place++;
    size_t first = place > MAX_PARTNERS / 2 ? place - MAX_PARTNERS / 2 : 0;
    if (nodes->count <= MAX_PARTNERS)
        return;
    if (first > nodes->count - MAX_PARTNERS)
        first = nodes->count - MAX_PARTNERS;
    memmove(nodes->items, nodes->items + first, MAX_PARTNERS * sizeof *nodes->items);
    nodes->count = MAX_PARTNERS;
}

// The nodes that could be this one, as far as something below it is bound already. False: nothing is.
static bool find_candidates(const struct matching *s, uint32_t pattern_node, node_list *ret_nodes)
{
    const struct pattern_node *pattern = &s->rule->pattern.nodes.items[pattern_node];
    for (uint32_t i = 0; i < pattern->n_inputs; i++) {
        tensor_id tensor = bound_tensor(s, pattern->inputs[i]);
        if (tensor != NO_TENSOR) {
            add_readers(s, tensor, pattern->op, ret_nodes);
            keep_nearest(s, ret_nodes);
            return true;
        }
    }
    for (uint32_t i = 0; i < pattern->n_inputs; i++) {
        const struct term *t = &s->rule->pattern.terms.items[pattern->inputs[i]];
        LOCAL_LIST(node_list, below);
        bool is_found = !t->is_variable && find_candidates(s, t->index, &below);
        for (size_t j = 0; is_found && j < below.count; j++)
            if (t->output < s->g->nodes.items[below.items[j]].n_outputs)
                add_readers(s, graph_output_of(s->g, below.items[j], t->output), pattern->op, ret_nodes);
        if (is_found)
            return true;
    }
    return false;
}

static bool match_source_anywhere(struct matching *s, uint32_t pattern_node)
{
    enum operator_id op = s->rule->pattern.nodes.items[pattern_node].op->id;
    const node_id *nodes = s->index->nodes_by_op + s->index->first_of_op[op];
    uint32_t n = s->index->first_of_op[op + 1] - s->index->first_of_op[op];
    return ALL(uint32_t, i, n, solve_node(s, pattern_node, nodes[i], NULL));
}

static bool match_source_near_what_is_bound(struct matching *s, uint32_t pattern_node)
{
    LOCAL_LIST(node_list, candidates);
    bool goes_on = true;
    bool is_anchored = find_candidates(s, pattern_node, &candidates);
    goes_on = goes_on && ALL(size_t, i, candidates.count, solve_node(s, pattern_node, candidates.items[i], NULL));
    return is_anchored ? goes_on : match_source_anywhere(s, pattern_node);
}

static enum weight_kind kind_of_weight(const struct matching *s, tensor_id t)
{
    if (t == NO_TENSOR)
        return NO_WEIGHT;
    node_id producer = s->g->tensors.items[t].producer;
    return s->index->is_given[producer] ? WEIGHT_GIVEN : s->index->is_weight[producer] ? WEIGHT_COMPUTED : NO_WEIGHT;
}

// `weights`: of every variable.
static bool holds_everywhere(struct matching *s, const enum weight_kind *weights)
{
    const struct type *types[MAX_RULE_VARIABLES];
    struct term_bindings b = bindings_of(&s->m, s->g, types);
    return ALL(uint32_t, i, s->rule->n_source_nodes, has_exactly_the_attributes(s, i, &b)) &&
           ALL(uint32_t, i, s->rule->n_conditions, condition_holds(&s->rule->conditions[i], &b, weights, s->scratch));
}

static bool visit_match(struct matching *s)
{
    ARENA_MARK(mark, s->scratch);
    enum weight_kind weights[MAX_RULE_VARIABLES] = {NO_WEIGHT};
    for (uint32_t v = 0; v < s->rule->pattern.n_variables; v++)
        weights[v] = kind_of_weight(s, s->m.variables[v]);
    bool holds = holds_everywhere(s, weights);
    return !holds || s->visit(s->context, &s->m);
}

static bool match_next_source(struct matching *s)
{
    for (uint32_t i = 0; i < s->rule->n_outputs; i++) {
        uint32_t node = s->rule->pattern.terms.items[s->rule->sources[i]].index;
        if (s->m.nodes[node] == NO_NODE)
            return match_source_near_what_is_bound(s, node);
    }
    return visit_match(s);
}

static void clear_match(const struct rule *r, struct match *ret_match)
{
    ret_match->rule = r;
    for (int i = 0; i < MAX_RULE_VARIABLES; i++) {
        ret_match->variables[i] = NO_TENSOR;
        ret_match->attributes[i] = UNBOUND_ATTRIBUTE;
    }
    for (int i = 0; i < MAX_RULE_NODES; i++)
        ret_match->nodes[i] = NO_NODE;
}

bool rule_match_at(const struct rule *r, const struct graph *g, const tensor_id *variables, const node_id *nodes,
                   const enum weight_kind *weights, struct arena *scratch, struct match *ret_match)
{
    struct matching s = {.rule = r, .g = g, .scratch = scratch};
    struct trail trail = {0};
    struct arena_mark mark = arena_mark(scratch);
    bool holds = true;
    clear_match(r, &s.m);
    plain_types_init(&s.types, r, g, scratch);
    memcpy(s.m.variables, variables, r->pattern.n_variables * sizeof *variables);
    memcpy(s.m.nodes, nodes, r->n_source_nodes * sizeof *nodes);
    for (uint32_t i = 0; holds && i < r->n_source_nodes; i++)
        holds = match_attributes(&s, &trail, &r->pattern.nodes.items[i], &g->nodes.items[nodes[i]]);
    holds = holds && holds_everywhere(&s, weights);
    arena_release(scratch, mark);
    *ret_match = s.m;
    return holds;
}

void rule_match(const struct rule *r, const struct match_index *index, node_id anchor, struct arena *scratch,
                bool (*visit)(void *context, const struct match *m), void *context)
{
    struct matching s = {r, index, index->graph, scratch, visit, context};
    clear_match(r, &s.m);
    plain_types_init(&s.types, r, s.g, scratch);
    uint32_t first = r->pattern.terms.items[r->sources[0]].index;
    if (anchor == NO_NODE)
        match_source_anywhere(&s, first);
    else
        solve_node(&s, first, anchor, NULL);
}

// --- applying --------------------------------------------------------------------------------------------------------

struct application {
    const struct match *m;
    struct graph *g;
    struct arena *scratch;
    struct plain_types types;
    node_id nodes[MAX_RULE_NODES];
};

static bool tensor_of_term(const struct application *ap, term_id term, tensor_id *ret_tensor)
{
    const struct term *t = &ap->m->rule->pattern.terms.items[term];
    if (t->is_variable) {
        *ret_tensor = ap->m->variables[t->index];
        return true;
    }
    *ret_tensor = graph_output_of(ap->g, ap->nodes[t->index], t->output);
    return t->output < ap->g->nodes.items[ap->nodes[t->index]].n_outputs;
}

// Rules are proved over the reals; integers, which may only be moved, or places of others, overflow.
static bool computes_integers(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    bool is_of_integers = node->n_outputs > 0 && dtype_is_integer(graph_type(g, node->first_output)->dtype);
    return is_of_integers && !operator_moves_entries(node->op) && !operator_reads_other_types(node->op);
}

// Rules are proved for tensors that have entries: a maximum of none is no number.
static bool has_entries(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    return ALL(uint32_t, i, node->n_outputs, type_elements(graph_type(g, graph_output_of(g, n, i))) != 0);
}

static bool source_has_entries(const struct application *ap)
{
    const struct rule *r = ap->m->rule;
    return ALL(uint32_t, v, r->pattern.n_variables,
               ap->m->variables[v] == NO_TENSOR || type_elements(graph_type(ap->g, ap->m->variables[v])) != 0) &&
           ALL(uint32_t, n, r->n_source_nodes, has_entries(ap->g, ap->nodes[n]));
}

static bool add_target_node(struct application *ap, uint32_t n, const struct term_bindings *b)
{
    const struct pattern_node *pattern = &ap->m->rule->pattern.nodes.items[n];
    struct attribute_value values[MAX_ATTRIBUTES];
    tensor_id inputs[MAX_RULE_VARIABLES];
    if (!pattern_evaluate_attributes(pattern, b, ap->scratch, values) ||
        (ap->types.rule && !resolve_plainly(&ap->types, ap->m->variables, n, values)))
        return false;
    return ALL(uint32_t, i, pattern->n_inputs, tensor_of_term(ap, pattern->inputs[i], &inputs[i])) &&
           graph_add(ap->g, pattern->op, values, pattern->n_inputs, inputs, &ap->nodes[n]) &&
           has_entries(ap->g, ap->nodes[n]) && !computes_integers(ap->g, ap->nodes[n]);
}

// The matched source has the attributes that it has at plain inputs.
static bool resolve_source(struct application *ap)
{
    struct attribute_value values[MAX_ATTRIBUTES];
    for (uint32_t n = 0; n < ap->m->rule->n_source_nodes; n++) {
        const struct node *node = &ap->g->nodes.items[ap->nodes[n]];
        for (int i = 0; i < operator_n_attributes(node->op); i++)
            values[i] = node->attributes[i];
        if (!resolve_plainly(&ap->types, ap->m->variables, n, values))
            return false;
    }
    return true;
}

static bool add_target(struct application *ap, tensor_id *ret_old, tensor_id *ret_new)
{
    const struct rule *r = ap->m->rule;
    const struct type *types[MAX_RULE_VARIABLES];
    struct term_bindings b = bindings_of(ap->m, ap->g, types);
    if (!source_has_entries(ap) || (ap->types.rule && !resolve_source(ap)))
        return false;
    for (uint32_t n = r->n_source_nodes; n < r->pattern.nodes.count; n++)
        if (!add_target_node(ap, n, &b))
            return false;
    return ALL(uint32_t, i, r->n_outputs,
               tensor_of_term(ap, r->sources[i], &ret_old[i]) && tensor_of_term(ap, r->targets[i], &ret_new[i]) &&
                   type_equal(graph_type(ap->g, ret_old[i]), graph_type(ap->g, ret_new[i])));
}

bool match_apply(const struct match *m, struct graph *g, struct arena *scratch, tensor_id *ret_old, tensor_id *ret_new)
{
    node_id nodes[MAX_RULE_NODES];
    return match_apply_nodes(m, g, scratch, ret_old, ret_new, nodes);
}

bool match_apply_nodes(const struct match *m, struct graph *g, struct arena *scratch, tensor_id *ret_old,
                       tensor_id *ret_new, node_id *ret_nodes)
{
    assert(g->arena != scratch);
    struct application ap = {.m = m, .g = g, .scratch = scratch};
    struct graph_mark before = graph_mark(g);
    ARENA_MARK(mark, scratch);
    memcpy(ap.nodes, m->nodes, sizeof ap.nodes);
    plain_types_init(&ap.types, m->rule, g, scratch);
    bool is_applied = add_target(&ap, ret_old, ret_new);
    if (!is_applied)
        graph_rollback(g, before);
    for (node_id n = (node_id)before.nodes; n < g->nodes.count; n++)
        graph_set_origin(g, n, ORIGIN_OF_RULES | m->rule->number);
    memcpy(ret_nodes, ap.nodes, sizeof ap.nodes);
    return is_applied;
}
