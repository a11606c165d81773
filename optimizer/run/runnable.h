// The part of a graph that a device can run: opaque nodes cut out.
//
// What an opaque node makes becomes an input, what it reads becomes an output. Two graphs that are equal as functions
// of the cut tensors are equal whatever the opaque nodes do, so they can be compared and timed around them.
//     inputs    the graph's inputs by their index, then the outputs of the opaque nodes
//     outputs   the graph's outputs, then what each opaque node reads of what is computed
// Tensors without values that programs make and compare (tensor_has_values) are left out: only opaque nodes, which
// rewrites do not touch, make or read them.
#pragma once
#include "graph/sizes.h"

// Which input an opaque node's first output becomes, by the node's index; made once, from the original graph, so that
// all graphs rewritten from it agree.
struct cut_plan {
    VEC(uint32_t) first_input;   // of every opaque index: UINT32_MAX when the graph has no such node
    VEC(uint64_t)
    reads_leaves;                // of every opaque index, a bit for each of the first inputs: no rewrite replaces these
    uint32_t n_inputs;           // of the cut graph
    bool is_needed;              // there are opaque nodes, leaves without values, or symbols
    const struct sizes *sizes;   // the graphs are of its first probe; NULL: they have no symbols
    int64_t binding[MAX_SYMBOLS];   // that graphs are cut for
};
void cut_plan_init(struct cut_plan *ret_plan, const struct graph *g, uint32_t n_graph_inputs);
void cut_plan_free(struct cut_plan *plan);

// A tensor has values if its type is known, and its elements are numbers: no strings, no complex numbers, nothing
// narrower than a byte.
bool tensor_has_values(const struct graph *g, tensor_id t);

// The cut graph, in the arena of `g`, at the plan's binding. Opaque nodes of `g` that are not live in `other` (may be
// NULL) are left out, so that the two cut graphs have the same outputs. False, with nothing to free: it is ill-typed at
// that binding, which a graph that was priced there is not.
bool graph_cut(struct graph *ret_graph, const struct graph *g, const struct graph *other, const struct cut_plan *plan);
// The same, and where each tensor of `g` went: NO_TENSOR for those that are not in the cut graph.
bool graph_cut_mapped(struct graph *ret_graph, const struct graph *g, const struct graph *other,
                      const struct cut_plan *plan, tensor_id *ret_map);
bool graphs_have_equal_outputs(const struct graph *a, const struct graph *b);   // as many, of the same types
