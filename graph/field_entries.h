// Entries of a graph's tensors over the prime field, one at a time and without storing a tensor. Leaves are
// pseudo-random, the same for the same number in all graphs.
#pragma once
#include "graph/graph.h"

struct field_entries {
    const struct graph *g;
    struct arena *arena;
    uint64_t key;
    struct definition **definitions;   // of the nodes that were met
    double *costs;                     // of an entry of each tensor, below 0 until it is asked for
    bool is_untyped;                   // something without a meaning was met
};
void field_entries_init(struct field_entries *ret_entries, const struct graph *g, uint64_t key, struct arena *arena);
void field_entries_free(struct field_entries *x);
// About how many operations an entry takes; 0 where something has no meaning.
double field_entry_cost(struct field_entries *x, tensor_id t);
uint64_t field_entry(struct field_entries *x, tensor_id t, const int64_t *index);   // of what has a meaning
