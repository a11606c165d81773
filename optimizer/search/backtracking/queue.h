// A priority queue of candidates: the cheapest first, the earlier of two equally cheap ones first. Bounded: when full,
// the costlier half is dropped.
#pragma once
#include "substitutions/match.h"

struct candidate {
    double seconds;      // by which it is ranked
    double change;       // estimated, since the beginning of its chain
    double least;        // gain of the chain that counts
    uint64_t number;     // order of arrival
    uint32_t parent;     // number of the state that it was found in
    uint32_t proposal;   // the owner's number
    struct match match;
};
struct queue {
    VEC(struct candidate *) heap;
    uint64_t arrived, dropped;
    size_t limit, peak;
};
void queue_free(struct queue *q);
// Copies the candidate, with the values of its attribute variables.
void queue_push(struct queue *q, const struct candidate *c);
struct candidate *queue_pop(struct queue *q);   // NULL when empty; give it back with candidate_free
void queue_keep(struct queue *q, bool (*is_kept)(void *context, const struct candidate *c), void *context);
void queue_drop_costlier_half(struct queue *q);
void candidate_free(struct candidate *c);
