// Each pruning makes a more general rule and keeps the verdict of evaluating it.
#include "generator/reduce/prune.h"

#include <string.h>

// --- common subgraphs ------------------------------------------------------------------------------------------------

static void replace_reference(struct rule_graph *rg, reference old, reference new)
{
    for (int i = 0; i < rg->n_nodes; i++)
        for (int j = 0; j < rg->nodes[i].n_inputs; j++)
            if (rg->nodes[i].inputs[j] == old)
                rg->nodes[i].inputs[j] = new;
    for (int i = 0; i < rg->n_outputs; i++) {
        if (rg->source[i] == old)
            rg->source[i] = new;
        if (rg->target[i] == old)
            rg->target[i] = new;
    }
}

static bool is_read_from(const struct rule_graph *rg, uint32_t nodes, const reference *roots, reference r)
{
    return ANY(int, i, rg->n_outputs, roots[i] == r) ||
           ANY(int, i, rg->n_nodes, ANY(int, j, rg->nodes[i].n_inputs, nodes & 1u << i && rg->nodes[i].inputs[j] == r));
}

static bool is_source_output(const struct rule_graph *rg, reference r)
{
    return ANY(int, i, rg->n_outputs, rg->source[i] == r);
}

static bool holds_and_is_directed(const struct rule_graph *rg, struct evaluation_cache *calls)
{
    return rule_graph_is_directed(rg) && rule_graph_holds(rg, calls);
}

static bool try_common_reference(const struct rule_graph *rg, struct evaluation_cache *calls, reference r,
                                 struct rule_graph *ret_general)
{
    struct rule_graph general = *rg;
    if (rg->n_variables == MAX_RULE_GRAPH_VARIABLES ||
        !rule_graph_type_of(rg, calls, r, &general.variables[general.n_variables]))
        return false;
    replace_reference(&general, r, general.n_variables++);
    if (!holds_and_is_directed(&general, calls))
        return false;
    rule_graph_clean(&general);
    *ret_general = general;
    return true;
}

bool prune_by_common_subgraph(const struct rule_graph *rg, struct evaluation_cache *calls,
                              struct rule_graph *ret_general)
{
    struct reach source = rule_graph_reach(rg, rg->source), target = rule_graph_reach(rg, rg->target);
    uint32_t shared = source.nodes & target.nodes;
    for (int i = rg->n_nodes; i-- > 0;)
        for (int output = 0; shared & 1u << i && output < MAX_NODE_OUTPUTS; output++) {
            reference r = (reference)(RULE_GRAPH_NODE + MAX_NODE_OUTPUTS * i + output);
            bool is_common = !is_source_output(rg, r) && is_read_from(rg, source.nodes, rg->source, r) &&
                             is_read_from(rg, target.nodes, rg->target, r);
            if (is_common && try_common_reference(rg, calls, r, ret_general))
                return true;
        }
    return false;
}

// --- common roots ----------------------------------------------------------------------------------------------------

static bool arguments_agree(const struct rule_graph *rg, struct evaluation_cache *calls, reference source,
                            reference target)
{
    struct rule_graph part = *rg;
    part.n_outputs = 1;
    part.source[0] = source;
    part.target[0] = target;
    return source == target || holds_and_is_directed(&part, calls);
}

static bool roots_agree(const struct rule_graph *rg, struct evaluation_cache *calls, reference source, reference target)
{
    if (!reference_is_node(source) || !reference_is_node(target))
        return false;
    const struct rule_graph_node *x = &rg->nodes[reference_node(source)], *y = &rg->nodes[reference_node(target)];
    return x->instance == y->instance && reference_output(source) == reference_output(target) &&
           ANY(int, order, rg->family->instances[x->instance].is_commutative ? 2 : 1,
               ALL(int, i, x->n_inputs, arguments_agree(rg, calls, x->inputs[i], y->inputs[order ? 1 - i : i])));
}

bool prune_by_common_root(const struct rule_graph *rg, struct evaluation_cache *calls)
{
    return ANY(int, i, rg->n_outputs, roots_agree(rg, calls, rg->source[i], rg->target[i]));
}

// --- renaming, and constants that could be anything ------------------------------------------------------------------

enum { MAX_OCCURRENCES = 10 };
struct occurrences {
    int count;
    reference *places[MAX_OCCURRENCES];   // in a graph that may be changed
};

static void add_place(struct occurrences *o, reference *place, reference variable)
{
    if (*place == variable && o->count < MAX_OCCURRENCES)
        o->places[o->count++] = place;
}

static void find_occurrences(struct rule_graph *rg, reference variable, struct occurrences *ret_occurrences)
{
    uint32_t nodes = rule_graph_reach(rg, rg->source).nodes | rule_graph_reach(rg, rg->target).nodes;
    ret_occurrences->count = 0;
    for (int i = 0; i < rg->n_nodes; i++)
        for (int j = 0; nodes & 1u << i && j < rg->nodes[i].n_inputs; j++)
            add_place(ret_occurrences, &rg->nodes[i].inputs[j], variable);
    for (int i = 0; i < rg->n_outputs; i++)
        add_place(ret_occurrences, &rg->target[i], variable);
}

static bool hold_with_choice(struct rule_graph *general, struct evaluation_cache *calls, const struct occurrences *o,
                             unsigned chosen, reference old, reference fresh)
{
    for (int i = 0; i < o->count; i++)
        *o->places[i] = chosen & 1u << i ? fresh : old;
    uint32_t of_source = rule_graph_reach(general, general->source).variables;
    bool is_old_kept = !reference_is_variable(old) || of_source & 1u << old;
    return of_source & 1u << fresh && is_old_kept && holds_and_is_directed(general, calls);
}

// Every place has its own copies of the nodes above it, so that places can change one by one; false: too many nodes.
static bool copy_as_tree(const struct rule_graph *rg, reference r, struct rule_graph *to, reference *ret_reference)
{
    *ret_reference = r;
    if (!reference_is_node(r))
        return true;
    struct rule_graph_node node = rg->nodes[reference_node(r)];
    if (ANY(int, i, node.n_inputs, !copy_as_tree(rg, node.inputs[i], to, &node.inputs[i])) ||
        to->n_nodes == MAX_RULE_GRAPH_NODES)
        return false;
    *ret_reference = (reference)(RULE_GRAPH_NODE + MAX_NODE_OUTPUTS * to->n_nodes + reference_output(r));
    to->nodes[to->n_nodes++] = node;
    return true;
}

static void unshare_nodes(struct rule_graph *rg)
{
    struct rule_graph tree = *rg;
    tree.n_nodes = 0;
    for (int i = 0; i < rg->n_outputs; i++)
        if (!copy_as_tree(rg, rg->source[i], &tree, &tree.source[i]) ||
            !copy_as_tree(rg, rg->target[i], &tree, &tree.target[i]))
            return;
    *rg = tree;
}

// Some of the places where `old` stands get a fresh variable. Of a variable not all do: that would be the same rule.
static bool try_splitting(const struct rule_graph *rg, struct evaluation_cache *calls, reference old,
                          const struct variable_type *type, int max_ops, struct rule_graph *ret_general)
{
    struct rule_graph general = *rg;
    struct occurrences o;
    unshare_nodes(&general);
    find_occurrences(&general, old, &o);
    reference fresh = general.n_variables++;
    general.variables[fresh] = *type;
    unsigned places = (unsigned)o.count - (reference_is_variable(old) && o.count > 0);
    for (unsigned chosen = (1u << places) - 1; chosen > 0; chosen--) {
        if (!hold_with_choice(&general, calls, &o, chosen, old, fresh))
            continue;
        struct rule_graph cleaned = general;
        rule_graph_clean(&cleaned);
        if (rule_graph_count_nodes(&cleaned, cleaned.source) > max_ops ||
            rule_graph_count_nodes(&cleaned, cleaned.target) > max_ops)
            continue;
        *ret_general = cleaned;
        return true;
    }
    return false;
}

bool prune_by_renaming(const struct rule_graph *rg, struct evaluation_cache *calls, int max_ops,
                       struct rule_graph *ret_general)
{
    if (rg->n_variables == MAX_RULE_GRAPH_VARIABLES)
        return false;
    if (ANY(reference, v, rg->n_variables, try_splitting(rg, calls, v, &rg->variables[v], max_ops, ret_general)))
        return true;
    for (int leaf = rg->family->n_inputs; leaf < rg->family->n_leaves; leaf++) {
        reference constant = (reference)(RULE_GRAPH_CONSTANT + leaf);
        struct variable_type type;
        if (rule_graph_type_of(rg, calls, constant, &type) &&
            try_splitting(rg, calls, constant, &type, max_ops, ret_general))
            return true;
    }
    return false;
}

void prune_generalize(struct rule_graph *rg, struct evaluation_cache *calls, int max_ops)
{
    struct rule_graph general;
    while (prune_by_common_subgraph(rg, calls, &general) || prune_by_renaming(rg, calls, max_ops, &general))
        *rg = general;
}
