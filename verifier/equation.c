#include "verifier/equation.h"

struct equation equation_of_rule(const struct rule *r)
{
    return (struct equation){.name = r->name,
                             .pattern = &r->pattern,
                             .n_pairs = r->n_outputs,
                             .left = r->sources,
                             .right = r->targets,
                             .n_conditions = r->n_conditions,
                             .conditions = r->conditions};
}

struct equation equation_of_property(const struct property *p)
{
    return (struct equation){.name = p->name,
                             .pattern = &p->pattern,
                             .n_pairs = 1,
                             .left = &p->left,
                             .right = &p->right,
                             .n_conditions = p->n_conditions,
                             .conditions = p->conditions,
                             .n_guards = p->n_guards,
                             .guards = p->guards,
                             .plain = p->plain,
                             .is_strong = true};
}

uint32_t equation_nodes_of_term(const struct pattern *p, term_id term)
{
    const struct term *t = &p->terms.items[term];
    if (t->is_variable)
        return 0;
    const struct pattern_node *n = &p->nodes.items[t->index];
    uint32_t nodes = 1u << t->index;
    for (uint32_t i = 0; i < n->n_inputs; i++)
        nodes |= equation_nodes_of_term(p, n->inputs[i]);
    return nodes;
}

bool pattern_looks_at_split_trees(const struct pattern *p)
{
    for (size_t i = 0; i < p->nodes.count; i++) {
        const struct pattern_node *n = &p->nodes.items[i];
        int sizes = operator_find_attribute(n->op, "sizes");
        if (n->op->id == OP_SPLIT && n->attributes[sizes].count == 0)
            return true;
    }
    return false;
}
