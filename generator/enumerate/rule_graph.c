// Graphs are read from keys and written as keys, and cleaned of what nothing reaches.
#include "generator/enumerate/rule_graph.h"

#include <assert.h>
#include <string.h>

struct variable_type variable_type_of(const struct type *type)
{
    struct variable_type small = {.dtype = (uint8_t)type->dtype, .rank = (uint8_t)type->rank};
    for (int i = 0; i < type->rank; i++) {
        assert(type->dim[i] >= 0 && type->dim[i] <= UINT16_MAX);
        small.dim[i] = (uint16_t)type->dim[i];
    }
    return small;
}

struct type rule_graph_type_of_variable(const struct rule_graph *rg, int variable)
{
    const struct variable_type *small = &rg->variables[variable];
    struct type type = {.dtype = (enum dtype)small->dtype, .rank = small->rank};
    for (int i = 0; i < small->rank; i++)
        type.dim[i] = small->dim[i];
    return type;
}

// --- from keys -------------------------------------------------------------------------------------------------------

struct key_reader {
    struct rule_graph *rg;
    const struct key *key;
    int at;
    int variable_of_leaf[MAX_LEAVES];
};

static reference add_node(struct rule_graph *rg, const struct rule_graph_node *node, int output)
{
    int i = FIRST_OF(int, n, rg->n_nodes, memcmp(&rg->nodes[n], node, sizeof *node) == 0);
    if (i == rg->n_nodes) {
        assert(rg->n_nodes < MAX_RULE_GRAPH_NODES);
        rg->nodes[rg->n_nodes++] = *node;
    }
    return (reference)(RULE_GRAPH_NODE + MAX_NODE_OUTPUTS * i + output);
}

static reference read_leaf(struct key_reader *r, int leaf)
{
    const struct family *f = r->rg->family;
    if (leaf >= f->n_inputs)
        return (reference)(RULE_GRAPH_CONSTANT + leaf);
    if (r->variable_of_leaf[leaf] < 0) {
        assert(r->rg->n_variables < MAX_RULE_GRAPH_VARIABLES);
        r->variable_of_leaf[leaf] = r->rg->n_variables;
        r->rg->variables[r->rg->n_variables++] = variable_type_of(&f->leaves[leaf].type);
    }
    return (reference)r->variable_of_leaf[leaf];
}

static reference read_term(struct key_reader *r)
{
    int byte = r->key->bytes[r->at++];
    if (byte < KEY_NODE)
        return read_leaf(r, byte);
    struct rule_graph_node node;
    memset(&node, 0, sizeof node);
    node.instance = r->key->bytes[r->at++];
    node.n_inputs = (uint8_t)r->rg->family->instances[node.instance].n_inputs;
    for (int i = 0; i < node.n_inputs && i < 2; i++)
        node.inputs[i] = read_term(r);
    return add_node(r->rg, &node, byte - KEY_NODE);
}

void rule_graph_from_keys(struct rule_graph *ret_graph, const struct family *family, int n_outputs,
                          const struct key *sources, const struct key *targets)
{
    struct key_reader r = {.rg = ret_graph};
    memset(ret_graph, 0, sizeof *ret_graph);
    ret_graph->family = family;
    ret_graph->n_outputs = (uint8_t)n_outputs;
    for (int i = 0; i < MAX_LEAVES; i++)
        r.variable_of_leaf[i] = -1;
    for (int i = 0; i < 2 * n_outputs; i++) {
        r.key = i < n_outputs ? &sources[i] : &targets[i - n_outputs];
        r.at = 0;
        reference root = read_term(&r);
        *(i < n_outputs ? &ret_graph->source[i] : &ret_graph->target[i - n_outputs]) = root;
    }
}

static void write_key(const struct rule_graph *rg, reference root, struct key *key)
{
    assert(key->length + 2 <= KEY_LENGTH);
    if (!reference_is_node(root)) {
        key->bytes[key->length++] = (uint8_t)root;
        return;
    }
    const struct rule_graph_node *n = &rg->nodes[reference_node(root)];
    key->bytes[key->length++] = (uint8_t)(KEY_NODE + reference_output(root));
    key->bytes[key->length++] = (uint8_t)n->instance;
    for (int i = 0; i < n->n_inputs; i++)
        write_key(rg, n->inputs[i], key);
}

void rule_graph_key(const struct rule_graph *rg, reference root, struct key *ret_key)
{
    ret_key->length = 0;
    write_key(rg, root, ret_key);
}

void rule_graph_term(const struct rule_graph *rg, reference root, const uint8_t *leaf_of, struct key *ret_key)
{
    *ret_key = (struct key){.length = 1};
    if (!reference_is_node(root)) {
        ret_key->bytes[0] = reference_is_variable(root) ? leaf_of[root] : (uint8_t)(root - RULE_GRAPH_CONSTANT);
        return;
    }
    const struct rule_graph_node *n = &rg->nodes[reference_node(root)];
    struct key parts[2] = {0};
    for (int i = 0; i < n->n_inputs; i++)
        rule_graph_term(rg, n->inputs[i], leaf_of, &parts[i]);
    bool is_swapped = rg->family->instances[n->instance].is_commutative && key_compare(&parts[0], &parts[1]) > 0;
    *ret_key = (struct key){2, {(uint8_t)(KEY_NODE + reference_output(root)), (uint8_t)n->instance}};
    key_append(ret_key, &parts[is_swapped]);
    key_append(ret_key, &parts[!is_swapped]);
}

// --- reaching --------------------------------------------------------------------------------------------------------

static void reach_from(const struct rule_graph *rg, reference r, struct reach *reach)
{
    if (reference_is_variable(r))
        reach->variables |= 1u << r;
    if (!reference_is_node(r) || reach->nodes & 1u << reference_node(r))
        return;
    const struct rule_graph_node *n = &rg->nodes[reference_node(r)];
    reach->nodes |= 1u << reference_node(r);
    for (int i = 0; i < n->n_inputs; i++)
        reach_from(rg, n->inputs[i], reach);
}

struct reach rule_graph_reach(const struct rule_graph *rg, const reference *roots)
{
    struct reach reach = {0};
    for (int i = 0; i < rg->n_outputs; i++)
        reach_from(rg, roots[i], &reach);
    return reach;
}

int rule_graph_count_nodes(const struct rule_graph *rg, const reference *roots)
{
    return __builtin_popcount(rule_graph_reach(rg, roots).nodes);
}

bool rule_graph_is_directed(const struct rule_graph *rg)
{
    return (rule_graph_reach(rg, rg->target).variables & ~rule_graph_reach(rg, rg->source).variables) == 0;
}

struct copying {
    const struct rule_graph *from;
    struct rule_graph *to;
    int variable[MAX_RULE_GRAPH_VARIABLES];
};

static reference copy_term(struct copying *c, reference r)
{
    if (reference_is_variable(r)) {
        if (c->variable[r] < 0) {
            c->variable[r] = c->to->n_variables;
            c->to->variables[c->to->n_variables++] = c->from->variables[r];
        }
        return (reference)c->variable[r];
    }
    if (!reference_is_node(r))
        return r;
    struct rule_graph_node node = c->from->nodes[reference_node(r)];
    for (int i = 0; i < node.n_inputs && i < 2; i++)
        node.inputs[i] = copy_term(c, node.inputs[i]);
    return add_node(c->to, &node, reference_output(r));
}

void rule_graph_clean(struct rule_graph *rg)
{
    struct rule_graph cleaned;
    struct copying c = {.from = rg, .to = &cleaned};
    memset(&cleaned, 0, sizeof cleaned);
    cleaned.family = rg->family;
    cleaned.n_outputs = rg->n_outputs;
    for (int i = 0; i < MAX_RULE_GRAPH_VARIABLES; i++)
        c.variable[i] = -1;
    for (int i = 0; i < rg->n_outputs; i++)
        cleaned.source[i] = copy_term(&c, rg->source[i]);
    for (int i = 0; i < rg->n_outputs; i++)
        cleaned.target[i] = copy_term(&c, rg->target[i]);
    *rg = cleaned;
}
