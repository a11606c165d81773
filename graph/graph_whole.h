// Operations on whole graphs: liveness, uses, replacement, comparison.
#pragma once
#include "graph/graph.h"

// Builds the definition of a node (not a leaf, not opaque) in `d`, initialised by this call; the caller frees it.
bool graph_define(const struct graph *g, node_id node, struct definition *d, struct arena *arena);
double graph_node_flops(const struct graph *g, node_id node);   // 0: it has no definition
double graph_node_least_flops(const struct graph *g, node_id node);
// The node and all that it is computed of, each once, in the graph's order.
void graph_list_ancestors(const struct graph *g, node_id node, node_list *ret_nodes);
size_t graph_bytes_of_leaves(const struct graph *g, enum operator_id kind);   // of inputs, or of weights
void graph_mark_live(const struct graph *g, bool *ret_live);   // one flag per node: does an output depend on it?
void graph_mark_constant(const struct graph *g, bool *ret_is_constant);   // is it computed from weights alone?
// Adds to each tensor's count its reads by nodes (NULL: all, else those that are live) and by the graph's outputs.
void graph_count_reads(const struct graph *g, const bool *live, uint32_t *counts);
void graph_uses_init(struct graph_uses *ret_uses, const struct graph *g, const bool *live);   // live may be NULL: all
void graph_uses_free(struct graph_uses *uses);
// The live part of `g`, with tensor `old[i]` replaced by `new[i]` everywhere (outputs too). The new tensor inherits the
// old one's value key. False when that would make a cycle. `ret_map` (may be NULL; one entry per tensor of g) tells
// where each tensor went, NO_TENSOR where nowhere.
bool graph_replace(struct graph *ret_result, const struct graph *g, size_t n, const tensor_id *old,
                   const tensor_id *new, tensor_id *ret_map);
// Have both the same operator with the same attributes, whatever they read.
bool node_is_same_operation(const struct node *x, const struct node *y);
uint64_t graph_key(const struct graph *g);                        // of the live nodes and outputs
bool graph_equal(const struct graph *a, const struct graph *b);   // same structure from the outputs down
// Compares as graph_equal does, and tells of every node of `a` which one of `b` it is; their numbers need not be the
// same (NO_NODE: no output depends on it).
bool graph_pair(const struct graph *a, const struct graph *b, node_id *ret_partners);
