// Which is the fastest of several ways to run a model, and by how much is the fastest result faster than the fastest
// original? All are run whole, by turns. Whoever runs them is behind `struct executor`, so every runtime is judged
// alike.
//
//   qualifying    every contender, one load: what is clearly slower than another of its kind drops out
//   final         the fastest original and the fastest result, in several loads: where a model lies in memory matters
#ifndef OPTIMIZER_CONTEST_H
#define OPTIMIZER_CONTEST_H
#include "core/numbers/statistics.h"
#include <stdbool.h>

struct error;

// Contenders by their numbers. False: the device failed, and `error` says how.
struct executor {
    void *context;
    bool (*load)(void *context, size_t contender, struct error *error);   // into fresh memory
    bool (*run)(void *context, size_t contender, double *ret_seconds, struct error *error);
    void (*unload)(void *context, size_t contender);
};
struct contest {
    size_t n;
    const bool *is_result;   // of each contender; else it is a way to run the original. There is one of each at least
    double seconds;          // about how long to time, loading apart
    int loads, most_loads;   // of the final: more than the first as long as the interval is wide
    bool is_one_at_a_time;   // there is memory for one loaded contender: runs alternate by load, not one by one
};
struct contest_outcome {
    size_t original, result;             // the fastest of each kind
    struct sample_summary times[2];      // of one run of these in the final, seconds
    struct ratio_summary gain;           // time of the original over that of the result: 2 is twice as fast
    struct sample_summary *qualifying;   // of each contender, as far as it came; the caller's array of n
};
bool contest_hold(const struct executor *e, const struct contest *c, struct contest_outcome *ret_outcome,
                  struct error *error);
#endif
