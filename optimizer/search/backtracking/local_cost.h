// Cost by difference: what a rewrite changes is priced on the part of the graph around it.
//
// A backend fuses neighbouring operators, so the cost of a node depends on what stands next to it, but on nothing far
// away. The neighbourhood of a rewrite is the matched nodes with some steps of readers and of what they read, by turns,
// as long as they are not many. The tensors at its border become leaves and outputs. The difference of its cost before
// and after is an estimate; a graph that the search takes as its best is priced as a whole.
//
// Models repeat themselves, and neighbourhoods do even more: each is written down as a list of words (operators,
// attributes, edges by number, types at the border), and one that was priced before is not priced again.
#pragma once
#include "core/memory/arena.h"
#include "optimizer/search/backtracking/canonical_order.h"
#include "optimizer/search/cost_model.h"
#include "optimizer/search/memo.h"
#include "substitutions/match.h"
#include <pthread.h>

struct place {
    uint32_t generation;   // valid when it is the pricer's
    tensor_id tensor;
};
// The cost of graphs that were made of neighbourhoods: different rewrites make equal ones, and many matches share
// theirs. All describers have one, at the same time; who is first changes nothing, because costs do not depend on who
// asks.
struct graph_costs {
    struct memo memo;
    pthread_mutex_t lock;
};
// Writes neighbourhoods down, and makes graphs of them: one for each thread.
struct describer {
    struct graph_costs *costs;
    struct encoding graph_words;   // of the graph that was priced last
    struct arena arena;
    uint32_t generation;
    VEC(uint32_t) is_member;    // of every node: the generation in which it was one
    VEC(struct place) places;   // of every tensor: where it is in the local graph
    VEC(node_id) members;
    struct ordering ordering;
    struct encoding signature;   // of the rewrite that was described last
    struct key_words before;     // its beginning, which is the neighbourhood as it is: how long it is
};
void describer_init(struct describer *s, struct graph_costs *costs);
void describer_free(struct describer *s);

struct pricer {
    const struct cost_model *cost;
    struct memo memo;
    struct graph_costs graph_costs;
    uint64_t asked, known;
    uint64_t work;   // words of what was not known: about what pricing it took
    double before;   // seconds of the neighbourhood that was asked for last, as it was
    struct describer describer;
};
void pricer_init(struct pricer *p, const struct cost_model *cost);
void pricer_free(struct pricer *p);
void pricer_forget(struct pricer *p);   // all prices, to give memory back

// A rewrite of the live graph `g`, which holds the target nodes already (added behind the `n_before` nodes that `index`
// knows): old tensors are to be replaced by new ones, without a cycle.
struct rewrite {
    const struct graph *g;
    size_t n_before;
    const struct match_index *index;
    const struct match *match;   // NULL: not of one rule
    size_t n_nodes;              // that it takes away
    const node_id *nodes;
    size_t n_tensors;
    const tensor_id *old, *new;
};
// A match applied to a graph, for as long as it takes to ask what it changes: at the end of the block the graph and its
// arena are as they were. `struct attempt a FREED_BY(attempt_end) = attempt_begin(m, g, scratch);`
struct attempt {
    const struct match *match;
    struct graph *graph;
    struct graph_mark before;
    struct arena_mark arena;
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    bool is_typed;   // else nothing is applied
};
struct attempt attempt_begin(const struct match *m, struct graph *g, struct arena *scratch);
void attempt_end(struct attempt *a);
bool attempt_is_cyclic(const struct attempt *a);
struct rewrite attempt_rewrite(const struct attempt *a, const struct match_index *index);
// The difference in seconds; infinity when the cost model cannot price it.
double pricer_change(struct pricer *p, const struct rewrite *r);
// The change that such a rewrite makes in such a neighbourhood from now on: who priced the whole graph knows better.
void pricer_correct(struct pricer *p, const struct rewrite *r, double change);

// The same in steps, for several threads. A price is what the neighbourhood costs as it is and what the rewrite
// changes.
struct price {
    double before, change;   // NaN: not known
};
// A rewrite in its neighbourhood; the neighbourhood as it is.
struct description {
    struct key_words all, before;
};
void describer_describe(struct describer *s, const struct rewrite *r);
struct description describer_description(const struct describer *s);   // of what was described last, until the next
// The price of the rewrite described last, from its graph; `context` is one of the cost model's.
struct price describer_price(struct describer *s, const struct rewrite *r, const struct cost_model *cost, void *context,
                             double before);
// The remembered price of a description. Reads only: for several threads at once while nobody notes anything.
struct price pricer_recall(const struct pricer *p, const struct description *d);
// Gives the price that is remembered: what was noted first, so that what has equal descriptions has equal prices.
struct price pricer_note(struct pricer *p, const struct description *d, struct price price);
