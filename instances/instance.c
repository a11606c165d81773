// Binds types and attributes, and types nodes.
#include "instances/instance.h"

#include "substitutions/pattern.h"

void instance_init(struct instance *in, const struct equation *eq, struct typing *typing, struct arena *scratch)
{
    *in = (struct instance){.equation = eq, .typing = typing, .scratch = scratch};
    for (int i = 0; i < MAX_RULE_VARIABLES; i++) {
        in->variables[i] = NO_TYPE;
        in->attributes[i] = UNBOUND_ATTRIBUTE;
    }
    for (int i = 0; i < MAX_RULE_NODES; i++)
        in->heads[i] = NO_HEAD;
}

void instance_bind(struct instance *in, uint32_t variable, type_id type)
{
    in->variables[variable] = type;
    in->types[variable] = type == NO_TYPE ? NULL : typing_type(in->typing, type);
}

struct term_bindings instance_bindings(const struct instance *in)
{
    return (struct term_bindings){in->types, in->attributes};
}

bool instance_has_cuts(const struct instance *in)
{
    return ANY(uint32_t, v, in->equation->pattern->n_variables,
               in->types[v] && ANY(int, a, in->types[v]->rank, in->types[v]->split[a]));
}

type_id instance_term_type(const struct instance *in, term_id term)
{
    const struct term *t = &in->equation->pattern->terms.items[term];
    if (t->is_variable)
        return in->variables[t->index];
    const struct typed_call *call = in->calls[t->index];
    return call && t->output < call->n_outputs ? call->outputs[t->output] : NO_TYPE;
}

head_id instance_evaluate_head(const struct instance *in, uint32_t node)
{
    const struct pattern_node *n = &in->equation->pattern->nodes.items[node];
    struct attribute_value values[MAX_ATTRIBUTES];
    struct term_bindings b = instance_bindings(in);
    ARENA_MARK(mark, in->scratch);
    bool has_values = pattern_evaluate_attributes(n, &b, in->scratch, values);
    return has_values ? typing_head(in->typing, n->op, values) : NO_HEAD;
}

void instance_settle_attributes(struct instance *in, uint32_t node)
{
    const struct pattern_node *n = &in->equation->pattern->nodes.items[node];
    in->heads[node] = equation_variables_of_attributes(n) == 0 ? instance_evaluate_head(in, node) : NO_HEAD;
}

bool instance_refuses_attributes(const struct instance *in, uint32_t node)
{
    const struct operator* op = in->equation->pattern->nodes.items[node].op;
    return op->refuses && in->heads[node] != NO_HEAD && op->refuses(typing_attributes(in->typing, in->heads[node]));
}

bool instance_type_node(struct instance *in, uint32_t node)
{
    const struct pattern_node *n = &in->equation->pattern->nodes.items[node];
    type_id inputs[MAX_RULE_VARIABLES];
    in->calls[node] = NULL;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if ((inputs[i] = instance_term_type(in, n->inputs[i])) == NO_TYPE)
            return false;
    head_id head = in->heads[node] == NO_HEAD ? instance_evaluate_head(in, node) : in->heads[node];
    if (head == NO_HEAD)
        return false;
    const struct typed_call *call = typing_apply(in->typing, head, n->n_inputs, inputs);
    in->calls[node] = call->is_typed ? call : NULL;
    return call->is_typed;
}

static int64_t entries_of_node(const struct instance *in, uint32_t node)
{
    const struct definition *d = typing_definition(in->typing, in->calls[node]);
    return SUM_ALL(int64_t, int, i, d->n_stages, type_elements(&d->stages[i].type));
}

bool instance_has_more_entries(const struct instance *in, int64_t most)
{
    node_set nodes = equation_nodes_of_pairs(in->equation);
    int64_t entries = 0;
    for (uint32_t i = 0; i < in->equation->pattern->n_variables && entries <= most; i++)
        entries += in->types[i] ? type_elements(in->types[i]) : 0;
    for (uint32_t i = 0; i < in->equation->pattern->nodes.count && entries <= most; i++)
        entries += (nodes >> i & 1) && in->calls[i] ? entries_of_node(in, i) : 0;
    return entries > most;
}
