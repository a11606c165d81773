#include "tests/support/random_graph.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "graph/graph_whole.h"
#include "substitutions/rule.h"
#include <string.h>

struct builder {
    struct graph *g;
    struct random *random;
    struct arena *arena;   // of the graph
};

static uint64_t below(struct builder *b, uint64_t n)
{
    return random_below(b->random, n);
}

static tensor_id any_tensor(struct builder *b)
{
    return (tensor_id)below(b, b->g->tensors.count);
}

// --- leaves ----------------------------------------------------------------------------------------------------------

static const struct {
    int rank;
    int64_t dim[4];
} shapes[] = {
    {2, {4, 4}}, {2, {4, 4}},       {2, {2, 4}},       {2, {4, 2}},       {3, {2, 4, 4}},    {1, {4}},
    {0, {0}},    {2, {0, 4}},       {4, {1, 4, 4, 4}}, {4, {1, 4, 4, 4}}, {4, {2, 4, 4, 4}}, {4, {4, 4, 3, 3}},
    {1, {1}},    {4, {4, 2, 3, 3}}, {4, {4, 2, 1, 1}}, {4, {4, 4, 1, 1}}, {4, {1, 4, 1, 1}}, {4, {4, 4, 3, 3}},
};

static void add_leaves(struct builder *b)
{
    for (int64_t i = 0; i < 10; i++) {
        size_t shape = below(b, sizeof shapes / sizeof *shapes);
        struct type type = type_make(DTYPE_F32, shapes[shape].rank, shapes[shape].dim);
        graph_add_leaf(b->g, operators[below(b, 2) ? OP_INPUT : OP_WEIGHT], i, &type);
    }
}

// --- attributes ------------------------------------------------------------------------------------------------------

static void shuffle(struct builder *b, int64_t *ints, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        uint64_t j = below(b, i);
        int64_t last = ints[i - 1];
        ints[i - 1] = ints[j];
        ints[j] = last;
    }
}

static uint32_t shape_of_any_tensor(struct builder *b, int64_t *ints)
{
    const struct type *t = graph_type(b->g, any_tensor(b));
    memcpy(ints, t->dim, sizeof *ints * (size_t)t->rank);
    if (below(b, 3) == 0)
        shuffle(b, ints, (uint32_t)t->rank);
    return (uint32_t)t->rank;
}

static uint32_t parts_of_an_axis(struct builder *b, int64_t *ints)
{
    const struct type *t = graph_type(b->g, any_tensor(b));
    int64_t size = t->rank ? t->dim[below(b, (uint64_t)t->rank)] : 2;
    ints[0] = (int64_t)below(b, (uint64_t)size + 1);
    ints[1] = size - ints[0];
    return 2;
}

static uint32_t equal_ints(struct builder *b, int64_t *ints, uint32_t n, uint64_t first, uint64_t n_values)
{
    int64_t value = (int64_t)(first + below(b, n_values));
    for (uint32_t i = 0; i < n; i++)
        ints[i] = value;
    return below(b, 4) == 0 && first != 2 ? 0 : n;
}

static uint32_t list_for_name(struct builder *b, const char *name, int64_t *ints)
{
    if (strcmp(name, "perm") == 0) {
        uint32_t rank = 2 + (uint32_t)below(b, 3);
        for (uint32_t i = 0; i < rank; i++)
            ints[i] = i;
        shuffle(b, ints, rank);
        return rank;
    }
    if (strcmp(name, "shape") == 0)
        return shape_of_any_tensor(b, ints);
    if (strcmp(name, "sizes") == 0)
        return parts_of_an_axis(b, ints);
    if (strcmp(name, "kernel") == 0)
        return equal_ints(b, ints, 2, 1, 3);
    if (strcmp(name, "stride") == 0 || strcmp(name, "dilation") == 0)
        return equal_ints(b, ints, 2, 1, 2);
    if (strcmp(name, "pad") == 0 || strcmp(name, "pads") == 0)
        return equal_ints(b, ints, 4, 0, 2);
    return equal_ints(b, ints, 1 + (uint32_t)below(b, 3), 0, 3);
}

static struct attribute_value random_value(struct builder *b, const struct attribute *attribute)
{
    int64_t ints[MAX_RANK] = {0};
    uint32_t count = 1;
    int64_t n_choices = 0;
    if (attribute->kind == ATTRIBUTE_INTS)
        count = list_for_name(b, attribute->name, ints);
    else if (attribute->kind == ATTRIBUTE_REAL)
        ints[0] = real_to_bits(0.5 * (double)(1 + below(b, 4)));
    else if (attribute->kind == ATTRIBUTE_DTYPE)
        ints[0] = DTYPE_F32;
    else if (attribute->kind == ATTRIBUTE_INT)
        ints[0] = (int64_t)below(b, 4);
    while (attribute->kind == ATTRIBUTE_CHOICE && attribute->choices[n_choices])
        n_choices++;
    if (n_choices)
        ints[0] = (int64_t)below(b, (uint64_t)n_choices);
    return (struct attribute_value){count, count ? arena_copy_array(b->arena, ints, count) : NULL};
}

// --- single operators ------------------------------------------------------------------------------------------------

static bool is_fit(const struct operator* op)
{
    return op->define && operator_most_inputs(op) != 0 && op->id != OP_GATHER && op->id != OP_GATHERELEMENTS &&
           op->id != OP_ONEHOT && op->id != OP_CAST;
}

static void add_random_operator(struct builder *b)
{
    const struct operator* op = operators[below(b, (uint64_t)operator_count())];
    struct attribute_value values[MAX_ATTRIBUTES];
    tensor_id inputs[3];
    node_id node;
    uint32_t n = (uint32_t)op->min_inputs + (operator_most_inputs(op) == VARIADIC ? (uint32_t)below(b, 2) : 0);
    if (!is_fit(op) || n > 3)
        return;
    operator_standard_attributes(op, b->arena, values);
    for (int i = 0; i < operator_n_attributes(op); i++)
        if (op->attributes[i].is_required || below(b, 2))
            values[i] = random_value(b, &op->attributes[i]);
    for (uint32_t i = 0; i < n; i++)
        inputs[i] = any_tensor(b);
    graph_add(b->g, op, values, n, inputs, &node);
}

// --- sources of rules ------------------------------------------------------------------------------------------------

static void draw_attribute_variables(struct builder *b, const struct rule *r, struct attribute_value *ret_values)
{
    for (uint32_t n = 0; n < r->n_source_nodes; n++) {
        const struct pattern_node *node = &r->pattern.nodes.items[n];
        for (int i = 0; i < operator_n_attributes(node->op); i++)
            for (uint32_t j = 0; j < node->attributes[i].count; j++)
                if (node->attributes[i].terms[j]->kind == TERM_VARIABLE)
                    ret_values[node->attributes[i].terms[j]->value] = random_value(b, &node->op->attributes[i]);
    }
}

static bool evaluate_list(struct builder *b, const struct attribute_pattern *p, const struct term_bindings *bindings,
                          struct attribute_value *ret_value)
{
    int64_t *ints = arena_array(b->arena, int64_t, (size_t)p->count * MAX_TERM_LENGTH + 1);
    *ret_value = (struct attribute_value){0, ints};
    for (uint32_t i = 0; i < p->count; i++) {
        struct attribute_value part;
        if (!attribute_term_evaluate(p->terms[i], bindings, b->arena, &part))
            return false;
        if (part.count)
            memcpy(ints + ret_value->count, part.ints, part.count * sizeof *ints);
        ret_value->count += part.count;
    }
    return true;
}

static bool add_pattern_node(struct builder *b, const struct rule *r, uint32_t n, const struct term_bindings *bindings,
                             const tensor_id *variables, node_id *nodes)
{
    const struct pattern_node *p = &r->pattern.nodes.items[n];
    struct attribute_value values[MAX_ATTRIBUTES];
    tensor_id inputs[MAX_RULE_VARIABLES];
    for (int i = 0; i < operator_n_attributes(p->op); i++)
        if (!evaluate_list(b, &p->attributes[i], bindings, &values[i]))
            return false;
    for (uint32_t i = 0; i < p->n_inputs; i++) {
        const struct term *t = &r->pattern.terms.items[p->inputs[i]];
        if (!t->is_variable && t->output >= b->g->nodes.items[nodes[t->index]].n_outputs)
            return false;
        inputs[i] = t->is_variable ? variables[t->index] : graph_output_of(b->g, nodes[t->index], t->output);
    }
    return graph_add(b->g, p->op, values, p->n_inputs, inputs, &nodes[n]);
}

static bool add_source_of_rule(struct builder *b, const struct rule *r)
{
    struct graph_mark mark = graph_mark(b->g);
    tensor_id variables[MAX_RULE_VARIABLES];
    const struct type *types[MAX_RULE_VARIABLES];
    struct attribute_value attributes[MAX_RULE_VARIABLES];
    node_id nodes[MAX_RULE_NODES];
    for (uint32_t v = 0; v < r->pattern.n_variables; v++) {
        variables[v] = any_tensor(b);
        types[v] = graph_type(b->g, variables[v]);
    }
    for (uint32_t v = 0; v < r->pattern.n_attribute_variables; v++)
        attributes[v] = UNBOUND_ATTRIBUTE;
    draw_attribute_variables(b, r, attributes);
    struct term_bindings bindings = {types, attributes};
    for (uint32_t n = 0; n < r->n_source_nodes; n++)
        if (!add_pattern_node(b, r, n, &bindings, variables, nodes)) {
            graph_rollback(b->g, mark);
            return false;
        }
    return true;
}

static void add_source_of_any_rule(struct builder *b, const struct rule_set *rules)
{
    const struct rule *r = rules->rules.items[below(b, rules->rules.count)];
    for (int attempt = 0; attempt < 60; attempt++)
        if (add_source_of_rule(b, r))
            return;
}

// --- the whole -------------------------------------------------------------------------------------------------------

static void add_outputs(struct builder *b)
{
    struct graph_uses uses FREED_BY(graph_uses_free);
    graph_uses_init(&uses, b->g, NULL);
    for (tensor_id t = 0; t < b->g->tensors.count; t++) {
        bool is_leaf = graph_producer(b->g, t)->op->flags & OPERATOR_IS_LEAF;
        if ((!is_leaf && uses.first[t] == uses.first[t + 1]) || below(b, 8) == 0)
            graph_add_output(b->g, t);
    }
    graph_add_output(b->g, any_tensor(b));
}

void random_graph_fill(struct graph *g, const struct rule_set *rules, struct random *random, size_t n_steps)
{
    struct builder b = {g, random, g->arena};
    add_leaves(&b);
    for (size_t i = 0; i < n_steps; i++)
        if (below(&b, 3) == 0)
            add_random_operator(&b);
        else
            add_source_of_any_rule(&b, rules);
    add_outputs(&b);
}
