// A substitution while it is being judged: source and target graphs over numbered variables, in one pool of
// hash-consed nodes. Everything is small and flat, so these graphs are copied and changed freely.
//     a reference is a variable (below RULE_GRAPH_CONSTANT), a constant leaf (RULE_GRAPH_CONSTANT + leaf), or an output
//     of a node (RULE_GRAPH_NODE + MAX_NODE_OUTPUTS * node + output)
// Nodes stand after what they read, those of the source first; ones that nothing reaches may be among them.
#pragma once
#include "generator/enumerate/key.h"

enum {
    MAX_RULE_GRAPH_VARIABLES = 24,
    MAX_RULE_GRAPH_NODES = 16,
    MAX_RULE_GRAPH_OUTPUTS = 4,
    RULE_GRAPH_CONSTANT = 32,
    RULE_GRAPH_NODE = 64,
};
typedef uint8_t reference;

// A type at the enumeration's sizes, without split trees.
struct variable_type {
    uint8_t dtype, rank;
    uint16_t dim[MAX_RANK];
};
struct rule_graph_node {
    uint16_t instance;
    uint8_t n_inputs;
    reference inputs[2];
};
struct rule_graph {
    const struct family *family;
    uint8_t n_variables, n_nodes, n_outputs;
    reference source[MAX_RULE_GRAPH_OUTPUTS], target[MAX_RULE_GRAPH_OUTPUTS];
    struct variable_type variables[MAX_RULE_GRAPH_VARIABLES];
    struct rule_graph_node nodes[MAX_RULE_GRAPH_NODES];
};
static inline bool reference_is_node(reference r)
{
    return r >= RULE_GRAPH_NODE;
}
static inline bool reference_is_variable(reference r)
{
    return r < RULE_GRAPH_CONSTANT;
}
static inline int reference_node(reference r)
{
    return (r - RULE_GRAPH_NODE) / MAX_NODE_OUTPUTS % MAX_RULE_GRAPH_NODES;   // in range for every byte
}
static inline int reference_output(reference r)
{
    return (r - RULE_GRAPH_NODE) % MAX_NODE_OUTPUTS;
}

struct variable_type variable_type_of(const struct type *type);
struct type rule_graph_type_of_variable(const struct rule_graph *rg, int variable);

// The graph of keys over one naming of the leaves. Variables are numbered in the order of first use.
void rule_graph_from_keys(struct rule_graph *ret_graph, const struct family *family, int n_outputs,
                          const struct key *sources, const struct key *targets);
// The key of a term of the graph, its variables standing as their numbers.
void rule_graph_key(const struct rule_graph *rg, reference root, struct key *ret_key);
// The same as a term over the family's leaves, variable v standing as leaf_of[v]; arguments of commutative operators
// sorted.
void rule_graph_term(const struct rule_graph *rg, reference root, const uint8_t *leaf_of, struct key *ret_key);
// Sets of nodes and of variables (bit v) that references reach.
struct reach {
    uint32_t nodes, variables;
};
struct reach rule_graph_reach(const struct rule_graph *rg, const reference *roots);
int rule_graph_count_nodes(const struct rule_graph *rg,
                           const reference *roots);   // operators of the source or target graph
// Drops unreachable nodes and variables, numbers variables in the order of first use.
void rule_graph_clean(struct rule_graph *rg);
bool rule_graph_is_directed(const struct rule_graph *rg);   // all variables of the target occur in the source
