// A set of rules is a row of bits. At a node, the rules that may match are
//     of_root[operator] and of_input[0][what makes its first input] and of_input[1][...] and not
//     needing[any absent operator]
// where a commutative node may have its inputs in either order. How far a touched node is away counts in steps
// between nodes of which one reads the other, or which read one tensor: the nodes of a match are linked so when
// those of the pattern are.
#include "substitutions/rule_index.h"

#include "core/memory/arena.h"
#include <string.h>

#define FAR UINT8_MAX

static uint64_t *set_of(uint64_t *sets, const struct rule_index *x, uint32_t op)
{
    return sets + op * x->n_words;
}

static bool has_rule(const uint64_t *set, size_t rule)
{
    return set[rule / 64] >> rule % 64 & 1;
}

static void add_rule(uint64_t *set, size_t rule)
{
    set[rule / 64] |= UINT64_C(1) << rule % 64;
}

// --- rules -----------------------------------------------------------------------------------------------------------

static uint32_t root_of(const struct rule *r)
{
    return r->pattern.terms.items[r->sources[0]].index;
}

static bool is_made_by(const struct pattern *p, term_id term, uint32_t node)
{
    return !p->terms.items[term].is_variable && p->terms.items[term].index == node;
}

static bool reads_term(const struct pattern_node *n, term_id term)
{
    return ANY(uint32_t, i, n->n_inputs, n->inputs[i] == term);
}

// Is the node `to` one step away: does one of them read the other, or both the same?
static bool are_linked(const struct pattern *p, uint32_t from, uint32_t to)
{
    const struct pattern_node *a = &p->nodes.items[from], *b = &p->nodes.items[to];
    return ANY(uint32_t, i, a->n_inputs, is_made_by(p, a->inputs[i], to) || reads_term(b, a->inputs[i])) ||
           ANY(uint32_t, i, b->n_inputs, is_made_by(p, b->inputs[i], from));
}

static uint8_t reach_of(const struct rule *r)
{
    uint32_t order[MAX_RULE_NODES], count = 0;
    uint8_t steps[MAX_RULE_NODES];
    memset(steps, FAR, sizeof steps);
    order[count++] = root_of(r);
    steps[root_of(r)] = 0;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t n = 0; n < r->n_source_nodes; n++)
            if (steps[n] == FAR && are_linked(&r->pattern, order[i], n)) {
                steps[n] = (uint8_t)(steps[order[i]] + 1);
                order[count++] = n;
            }
    return count == r->n_source_nodes ? steps[order[count - 1]] : FAR;
}

static void add_input(struct rule_index *x, size_t rule, int input)
{
    const struct pattern *p = &x->rules->rules.items[rule]->pattern;
    const struct pattern_node *root = &p->nodes.items[root_of(x->rules->rules.items[rule])];
    const struct term *t = (uint32_t)input < root->n_inputs ? &p->terms.items[root->inputs[input]] : NULL;
    bool is_open = !t || t->is_variable;
    for (uint32_t op = 0; op < OP_COUNT; op++)
        if (is_open || p->nodes.items[t->index].op->id == op)
            add_rule(set_of(x->of_input[input], x, op), rule);
}

static void add_to_sets(struct rule_index *x, size_t rule)
{
    const struct rule *r = x->rules->rules.items[rule];
    add_rule(set_of(x->of_root, x, r->pattern.nodes.items[root_of(r)].op->id), rule);
    for (int input = 0; input < RULE_INDEX_INPUTS; input++)
        add_input(x, rule, input);
    for (uint32_t n = 0; n < r->n_source_nodes; n++)
        add_rule(set_of(x->needing, x, r->pattern.nodes.items[n].op->id), rule);
    x->reach[rule] = reach_of(r);
    x->has_unlinked |= x->reach[rule] == FAR;
    if (x->reach[rule] != FAR && x->reach[rule] > x->max_reach)
        x->max_reach = x->reach[rule];
}

void rule_index_init(struct rule_index *x, const struct rule_set *rules)
{
    size_t n = rules->rules.count, n_words = n / 64 + 1;
    *x = (struct rule_index){.rules = rules, .n_words = n_words};
    x->of_root = arena_array(&x->arena, uint64_t, OP_COUNT * n_words);
    x->needing = arena_array(&x->arena, uint64_t, OP_COUNT * n_words);
    for (int input = 0; input < RULE_INDEX_INPUTS; input++)
        x->of_input[input] = arena_array(&x->arena, uint64_t, OP_COUNT * n_words);
    x->reach = arena_array(&x->arena, uint8_t, n + 1);
    for (size_t rule = 0; rule < n; rule++)
        add_to_sets(x, rule);
}

void rule_index_free(struct rule_index *x)
{
    arena_free(&x->arena);
}

// --- how far ---------------------------------------------------------------------------------------------------------

struct walk {
    const struct match_index *index;
    uint8_t *steps;     // of every node: to the nearest touched one
    bool *is_crossed;   // of every tensor: its readers have been met
    node_id *met;       // in this order
    size_t n_met;
};

static void meet(struct walk *w, node_id n, uint8_t steps)
{
    if (w->steps[n] != FAR)
        return;
    w->steps[n] = steps;
    w->met[w->n_met++] = n;
}

static void cross(struct walk *w, tensor_id t, uint8_t steps)
{
    const struct graph_uses *uses = &w->index->uses;
    for (uint32_t i = uses->first[t]; !w->is_crossed[t] && i < uses->first[t + 1]; i++)
        meet(w, uses->nodes[i], steps);
    w->is_crossed[t] = true;
}

static void meet_neighbours(struct walk *w, node_id n)
{
    const struct graph *g = w->index->graph;
    const struct node *node = &g->nodes.items[n];
    uint8_t steps = (uint8_t)(w->steps[n] + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        meet(w, g->tensors.items[graph_inputs(g, n)[i]].producer, steps);
        cross(w, graph_inputs(g, n)[i], steps);
    }
    for (uint32_t i = 0; i < node->n_outputs; i++)
        cross(w, node->first_output + i, steps);
}

// FAR: no rule reaches so far; FAR - 1: only one of which the source falls apart does.
static const uint8_t *count_steps(const struct rule_index *x, const struct match_index *index, const bool *touched,
                                  struct arena *scratch)
{
    const struct graph *g = index->graph;
    struct walk w = {.index = index};
    w.steps = arena_array(scratch, uint8_t, g->nodes.count + 1);
    w.is_crossed = arena_array(scratch, bool, g->tensors.count + 1);
    w.met = arena_array(scratch, node_id, g->nodes.count + 1);
    memset(w.steps, touched ? FAR : 0, g->nodes.count + 1);
    for (node_id n = 0; touched && n < index->n_nodes; n++)
        if (touched[n])
            meet(&w, n, 0);
    for (size_t i = 0; i < w.n_met && w.steps[w.met[i]] < x->max_reach; i++)
        meet_neighbours(&w, w.met[i]);
    for (node_id n = 0; x->has_unlinked && n < index->n_nodes; n++)
        w.steps[n] = w.steps[n] == FAR ? FAR - 1 : w.steps[n];
    return w.steps;
}

// --- matching --------------------------------------------------------------------------------------------------------

// The nodes at which some rule may match, by operators, with a row of bits for each.
struct anchors {
    const struct rule_index *x;
    const struct match_index *index;
    const uint8_t *steps;
    uint32_t first_of_op[OP_COUNT + 1];
    node_id *nodes;
    uint64_t *rows;
};

// All rules that need no operator that the graph lacks.
static void find_usable_rules(const struct anchors *a, const bool *is_disabled, uint64_t *ret_set)
{
    const struct rule_index *x = a->x;
    memset(ret_set, 0, x->n_words * sizeof *ret_set);
    for (size_t rule = 0; rule < x->rules->rules.count; rule++)
        if (!is_disabled[rule])
            add_rule(ret_set, rule);
    for (uint32_t op = 0; op < OP_COUNT; op++)
        for (size_t i = 0; a->index->first_of_op[op] == a->index->first_of_op[op + 1] && i < x->n_words; i++)
            ret_set[i] &= ~set_of(x->needing, x, op)[i];
}

static uint32_t maker_of_input(const struct graph *g, node_id n, uint32_t input)
{
    return graph_producer(g, graph_inputs(g, n)[input])->op->id;
}

static void find_rules_at(const struct anchors *a, node_id n, const uint64_t *usable, uint64_t *ret_row)
{
    const struct rule_index *x = a->x;
    const struct graph *g = a->index->graph;
    const struct node *node = &g->nodes.items[n];
    const uint64_t *root = set_of(x->of_root, x, node->op->id);
    for (size_t i = 0; i < x->n_words; i++)
        ret_row[i] = root[i] & usable[i];
    if (node->n_inputs == 0)
        return;
    uint32_t first = maker_of_input(g, n, 0), second = node->n_inputs > 1 ? maker_of_input(g, n, 1) : first;
    bool is_commutative = node->op->flags & OPERATOR_IS_COMMUTATIVE, is_single = node->n_inputs == 1;
    for (size_t i = 0; i < x->n_words; i++) {
        uint64_t fits = set_of(x->of_input[0], x, first)[i];
        if (!is_single)
            fits &= set_of(x->of_input[1], x, second)[i];
        if (is_commutative)
            fits |= set_of(x->of_input[0], x, second)[i] & set_of(x->of_input[1], x, first)[i];
        ret_row[i] &= fits;
    }
}

static bool is_empty(const uint64_t *set, size_t n_words)
{
    return ALL(size_t, i, n_words, !set[i]);
}

static void find_anchors(struct anchors *a, const uint64_t *usable, struct arena *scratch)
{
    const struct match_index *index = a->index;
    size_t n_words = a->x->n_words, n_near = 0;
    uint32_t count = 0, n_live = index->first_of_op[OP_COUNT];
    n_near += COUNT(uint32_t, i, n_live, a->steps[index->nodes_by_op[i]] != FAR);
    a->nodes = arena_array(scratch, node_id, n_near + 1);
    a->rows = arena_array(scratch, uint64_t, (n_near + 1) * n_words);
    for (uint32_t op = 0; op < OP_COUNT; op++) {
        a->first_of_op[op] = count;
        for (uint32_t i = index->first_of_op[op]; i < index->first_of_op[op + 1]; i++) {
            node_id n = index->nodes_by_op[i];
            if (a->steps[n] == FAR)
                continue;
            find_rules_at(a, n, usable, a->rows + count * n_words);
            a->nodes[count] = n;
            count += !is_empty(a->rows + count * n_words, n_words);
        }
    }
    a->first_of_op[OP_COUNT] = count;
}

struct visitor {
    bool (*visit)(void *context, const struct match *m);
    void *context;
    bool goes_on;
};

static bool visit_match(void *context, const struct match *m)
{
    struct visitor *v = context;
    v->goes_on = v->visit(v->context, m);
    return v->goes_on;
}

static void match_rule(const struct anchors *a, size_t rule, struct arena *scratch, struct visitor *v)
{
    const struct rule *r = a->x->rules->rules.items[rule];
    enum operator_id op = r->pattern.nodes.items[root_of(r)].op->id;
    for (uint32_t i = a->first_of_op[op]; v->goes_on && i < a->first_of_op[op + 1]; i++)
        if (has_rule(a->rows + i * a->x->n_words, rule) && a->steps[a->nodes[i]] <= a->x->reach[rule])
            rule_match(r, a->index, a->nodes[i], scratch, visit_match, v);
}

void rule_index_match(const struct rule_index *x, const struct match_index *index, const bool *is_disabled,
                      const bool *touched, struct arena *scratch, bool (*visit)(void *context, const struct match *m),
                      void *context)
{
    ARENA_MARK(mark, scratch);
    struct anchors a = {.x = x, .index = index};
    struct visitor v = {visit, context, true};
    uint64_t *usable = arena_array(scratch, uint64_t, x->n_words);
    find_usable_rules(&a, is_disabled, usable);
    a.steps = count_steps(x, index, touched, scratch);
    find_anchors(&a, usable, scratch);
    for (size_t rule = 0; v.goes_on && rule < x->rules->rules.count; rule++)
        if (has_rule(usable, rule))
            match_rule(&a, rule, scratch, &v);
}
