// Prices many matches of one graph, on several threads: by what they change near them, or by what the whole graph costs
// with each. What comes of it, and in which order, does not depend on the number of threads: prices are computed apart
// and then noted in the order in which the matches were given.
#pragma once
#include "optimizer/search/backtracking/local_cost.h"
#include "optimizer/search/weight_limits.h"

struct thread_pool;

enum outcome { OUTCOME_PRICED, OUTCOME_ILL_TYPED, OUTCOME_CYCLIC };

struct batch_entry {
    struct match match;
    size_t tag;
    enum outcome outcome;
    struct price price;               // NaN: not known, or that of an entry before it
    bool is_repeated;                 // by what one before it asks for
    struct description description;   // its bytes are these
    VEC(uint8_t) bytes;
};
struct batch_worker {
    void *context;   // of the cost model
    struct describer describer;
    struct arena arena, scratch;   // of what is added to `working`, and while it is
    struct graph working;          // a copy of the graph, when it has one
    bool has_graph;
};
// The outcome of a match; pricer->before is what its neighbourhood costs. `change` is infinity unless it was priced.
typedef void batch_visit_fn(void *context, const struct match *m, size_t tag, enum outcome outcome, double change);

struct batch {
    struct pricer *pricer;
    size_t n_workers;
    struct batch_worker *workers;   // the first one with the cost model's first context
    struct thread_pool *team;       // of as many
    const struct match_index *index;
    batch_visit_fn *visit;
    void *context;
    size_t n_entries;
    struct batch_entry *entries;
    struct weight_limits weights;   // of whole graphs, as in search_options
    double deadline;                // on clock_seconds, when nothing more is measured; 0: none
    struct memo firsts;             // of descriptions to be priced: the first entry that has it, of those met
    pthread_mutex_t firsts_lock;
};
void batch_init(struct batch *b, struct pricer *pricer);
void batch_free(struct batch *b);
// Matches of the index's graph, which stays as it is until batch_end. They are visited before that returns, but for
// those that nobody could price before the deadline or an interruption; attribute values of a match need to live until
// then.
void batch_begin(struct batch *b, const struct match_index *index, batch_visit_fn *visit, void *context);
void batch_add(struct batch *b, const struct match *m, size_t tag);
void batch_end(struct batch *b);
// Seconds of the whole graph with each of these matches alone; infinity where it cannot be made or priced, or
// its weights are too large. Not between
// batch_begin and batch_end.
void batch_price_graphs(struct batch *b, const struct match_index *index, size_t n, const struct match *const *matches,
                        double *ret_seconds);
