// Which tensors of a graph are known to have equal values: classes, closed under congruence (equal operators on equal
// inputs make equal outputs).
#ifndef VERIFIER_MODEL_EQUALITIES_H
#define VERIFIER_MODEL_EQUALITIES_H
#include "graph/graph.h"

struct equalities {
    const struct graph *graph;
    VEC(tensor_id) class_of;     // of every tensor: one of its class, the same for all of them
    VEC(tensor_id) next_equal;   // of every tensor: the next of its class, in a ring
    size_t n_joined;             // joins that said something new
};
// Every tensor alone. The graph may grow afterwards.
void equalities_init(struct equalities *e, const struct graph *g);
void equalities_free(struct equalities *e);
// Tensors of different types are not joined.
void equalities_join(struct equalities *e, tensor_id a, tensor_id b);
void equalities_grow(struct equalities *e);   // takes up tensors added to the graph, each alone
// The same, and all that follows by congruence.
void equalities_close(struct equalities *e);
// Forgets the tensors from this one on; what is known of the others stays.
void equalities_truncate(struct equalities *e, size_t n_tensors);
static inline bool equalities_hold(const struct equalities *e, tensor_id a, tensor_id b)
{
    return e->class_of.items[a] == e->class_of.items[b];
}
#endif
