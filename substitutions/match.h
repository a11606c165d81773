// Matches of a rule in a graph, and applying it there.
#pragma once
#include "core/memory/arena.h"
#include "graph/graph.h"
#include "substitutions/rule.h"

// Weight leaves from this number on stand for weights that are computed elsewhere.
#define FIRST_COMPUTED_WEIGHT (1 << 30)

// The facts of a graph that matching needs; made anew when the graph changes (nodes added later are not seen).
struct match_index {
    const struct graph *graph;
    size_t n_nodes;                       // of it
    struct graph_uses uses;               // by live nodes
    bool *is_live;                        // of every node
    bool *is_weight;                      // of every node: known before the graph runs (no input above it)
    bool *is_given;                       // of every node: a weight of the model, or one transposed
    bool *is_output;                      // of every tensor: is it an output of the graph?
    uint32_t first_of_op[OP_COUNT + 1];   // live nodes by operator: nodes_by_op[first_of_op[op] ..)
    node_id *nodes_by_op;
    struct arena arena;   // of these
};

struct match {
    const struct rule *rule;
    tensor_id variables[MAX_RULE_VARIABLES];
    node_id nodes[MAX_RULE_NODES];                           // of the source graph's nodes
    struct attribute_value attributes[MAX_RULE_VARIABLES];   // point into the graph's arena
};

// Rules are proved over the reals, so only operators that make floating-point tensors are matched.
// Calls `visit` for every match whose conditions hold, in a fixed order; stops when it returns false. Different nodes
// of the source graph are matched by different nodes. Of source terms that share no more than a tensor with many
// readers, each is paired with some next to it, not with all. `anchor`: only matches in which the operator of the first
// source term is this node (NO_NODE: all).
void rule_match(const struct rule *r, const struct match_index *index, node_id anchor, struct arena *scratch,
                bool (*visit)(void *context, const struct match *m), void *context);
// The match of a rule whose source graph is known to stand at these nodes, on these tensors for its variables: binds
// attributes. `weights`: of every variable. False: attributes do not agree, or a condition does not hold.
bool rule_match_at(const struct rule *r, const struct graph *g, const tensor_id *variables, const node_id *nodes,
                   const enum weight_kind *weights, struct arena *scratch, struct match *ret_match);

// Adds the target graph to `g` (the match's graph, or a copy of it). ret_old and ret_new get rule->n_outputs tensors.
// False: ill-typed, an attribute without value, or an output of another type; what was added then is rolled back.
// Attribute values of new nodes go to the graph's arena, all else to `scratch`,
// which is another arena.
bool match_apply(const struct match *m, struct graph *g, struct arena *scratch, tensor_id *ret_old, tensor_id *ret_new);
// Applies likewise, and tells which node each node of the pattern is (ret_nodes: MAX_RULE_NODES).
bool match_apply_nodes(const struct match *m, struct graph *g, struct arena *scratch, tensor_id *ret_old,
                       tensor_id *ret_new, node_id *ret_nodes);
