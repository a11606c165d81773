// Typed tensor graphs.
//
//   nodes     | op, attributes, origin | op, ... |         appended after what they read: always in topological order
//   edges     | inputs of node 0 | inputs of node 1 | ...     of commutative nodes in the order of what makes them
//   tensors   | outputs of node 0 | outputs of node 1 | ... each with its type, producer and value key
//   outputs   the tensors that the graph is for; nodes that no output depends on are dead and cost nothing
//
// Nodes are hash-consed: adding the same application twice gives the same node. Everything that nodes point to
// (attribute values, types, split trees) lives in the arena, which many graphs may share; the graph itself is flat
// arrays, so a copy is a few memcpy.
//
// A tensor's *value key* names the value that it stands for. It is the structural hash of the tensor, except that a
// tensor made to replace another inherits the key of the other (both have the same value). So graphs reached by
// rewriting compare by the sets of their nodes, and no change reaches what stands downstream of it. Two tensors of a
// graph may have one key: then their values are equal.
#pragma once
#include "core/memory/table.h"
#include "core/memory/vec.h"
#include "operators/operator.h"

typedef uint32_t node_id;
typedef uint32_t tensor_id;
typedef VEC(node_id) node_list;
#define NO_NODE UINT32_MAX
#define NO_TENSOR UINT32_MAX
#define NO_ORIGIN UINT32_MAX
#define ORIGIN_OF_RULES                                                                                                \
    (UINT32_C(1) << 31)   // origins from here on, NO_ORIGIN excepted: made by that rule (its number)

struct node {
    const struct operator* op;
    const struct attribute_value *attributes;   // operator_n_attributes(op) of them
    uint64_t label;                             // hash of op and attributes
    uint64_t key;                               // of these and the value keys of the inputs
    uint32_t first_input, n_inputs;             // in edges
    tensor_id first_output;
    uint32_t n_outputs;
    uint32_t origin;   // the owner's number for where the node came from, or NO_ORIGIN
};
struct tensor {
    const struct type *type;
    node_id producer;
    uint32_t output;   // which output of the producer
    uint64_t value;    // value key
};
struct graph {
    struct arena *arena;
    VEC(struct node) nodes;
    VEC(tensor_id) edges;
    VEC(struct tensor) tensors;
    VEC(tensor_id) outputs;
    struct table by_structure;
    struct definition definition;   // scratch of graph_add, kept for its memory
};

void graph_init(struct graph *g, struct arena *arena);   // `arena` must outlive the graph
void graph_free(struct graph *g);
void graph_reserve(struct graph *g, size_t n_nodes, size_t n_edges, size_t n_tensors);   // memory for that many in all
void graph_copy(struct graph *ret_copy, const struct graph *g);                          // shares the arena
// Additions to the copy go to `arena`; nodes that it has already stay where they are and are only read.
void graph_copy_apart(struct graph *ret_copy, const struct graph *g, struct arena *arena);

// --- building --------------------------------------------------------------------------------------------------------
// Adds an application (or finds it). `attributes` may be NULL for operators without; values are copied. False when the
// application is ill-typed: the reason is graph_refusal(g). Attributes left to the input types (split sizes) are filled
// in.
bool graph_add(struct graph *g, const struct operator* op, const struct attribute_value *attributes, uint32_t n_inputs,
               const tensor_id *inputs, node_id *ret_node);
const char *graph_refusal(const struct graph *g);
// Leaves and opaque nodes are typed by the caller; `index` tells them apart and means what the owner wants.
tensor_id graph_add_leaf(struct graph *g, const struct operator* op, int64_t index, const struct type *type);
node_id graph_add_opaque(struct graph *g, int64_t index, uint32_t n_inputs, const tensor_id *inputs, uint32_t n_outputs,
                         const struct type *types);
// A node as another graph has it (whose arena lives as long), over given inputs of the same shapes: typed as it is
// there, or anew where split trees of the inputs differ; with the value keys that its outputs have there.
node_id graph_add_copy(struct graph *g, const struct graph *from, node_id node, const tensor_id *inputs);
void graph_set_origin(struct graph *g, node_id node, uint32_t origin);   // only when it has none yet
void graph_add_output(struct graph *g, tensor_id tensor);

// Additions after a mark can be taken back (outputs are not touched).
struct graph_mark {
    size_t nodes, edges, tensors;
};
struct graph_mark graph_mark(const struct graph *g);
void graph_rollback(struct graph *g, struct graph_mark mark);

// --- reading ---------------------------------------------------------------------------------------------------------
static inline const tensor_id *graph_inputs(const struct graph *g, node_id node)
{
    const struct node *n = &g->nodes.items[node];
    return n->n_inputs ? g->edges.items + n->first_input : NULL;
}
static inline const struct type *graph_type(const struct graph *g, tensor_id tensor)
{
    return g->tensors.items[tensor].type;
}
static inline const struct node *graph_producer(const struct graph *g, tensor_id tensor)
{
    return &g->nodes.items[g->tensors.items[tensor].producer];
}
static inline const struct attribute_value *node_attribute(const struct node *n, enum attribute_role role)
{
    return &n->attributes[operator_find_role(n->op, role)];
}
static inline tensor_id graph_output_of(const struct graph *g, node_id node, uint32_t output)
{
    return g->nodes.items[node].first_output + output;
}

// Readers of tensors: consumers of tensor t are items[first[t] .. first[t + 1]), each a node, once per edge.
struct graph_uses {
    uint32_t *first;
    node_id *nodes;
    size_t n_tensors, n_edges;
};

// --- whole graphs ----------------------------------------------------------------------------------------------------
