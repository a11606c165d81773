// Which is the fastest of several ways to run a model, and by how much is the fastest result faster than the fastest
// original? All are run whole, by turns. Whoever runs them is behind `struct contest_runner`, so every runtime is
// judged alike.
//
//   qualifying    every contender, one load: what is clearly slower than another of its kind drops out. Runs of one
//                 round are compared, as machines are faster in one second than in the next
//   final         the fastest original and the fastest result, in several loads: where a model lies in memory matters;
//                 fewer where the time is over and hardly anything or very much is gained, more while a gain is neither
//                 seen nor out of sight; none without a result
//
// The settled verdict of an earlier contest of the same contenders stands if a few runs of the two are not against it.
//
// An interrupted contest goes on for two seconds and no run longer; one that begins so, for six. The fastest so far of
// each kind are then the finalists, and four pairs of their runs decide, or nothing does.
#pragma once
#include "core/numbers/paired_ratios.h"
#include "core/numbers/statistics.h"
#include <stdbool.h>

struct error;

// The outcome of an earlier contest.
struct earlier_verdict {
    size_t original, result;   // n: no result took part
    struct ratio_summary gain;
    double seconds;   // of a run of the result, or of the original
};
// Contenders by their numbers. False: the device failed, and `error` says how.
struct contest_runner {
    void *context;
    bool (*load)(void *context, size_t contender, struct error *error);   // into fresh memory
    bool (*run)(void *context, size_t contender, double *ret_seconds, struct error *error);
    void (*unload)(void *context, size_t contender);
    void (*forget_loads)(void *context, size_t n);   // the last n came to nothing, and are made again. NULL: who cares?
    bool (*is_shared)(void *context);   // do others run on this machine now? NULL: it is asked (machine_load.h)
    double (*clock)(void *context);     // seconds; NULL: clock_seconds
    // The verdict of an earlier contest, of these two, or of all (`pair` NULL). False: there was none. NULL: there is
    // never one.
    bool (*recall)(void *context, const size_t *pair, struct earlier_verdict *ret_verdict);
};
struct contest {
    size_t n;
    const bool *is_result;   // of each contender; else it is a way to run the original, and there is one at least
    double seconds;          // about how long to time, loading apart
    int loads;               // of the final, if these decide
    double deadline;      // on the runner's clock: it ends after the load that is under way then; 0: none is set, and
                          // it goes on for some times as long as planned at most
    double worth;         // without a deadline: an open final goes on for about so long at most, loads and all, if that
                          // is longer than some times `seconds`; 0: it goes on for some times as long as it was to take
    size_t most_loaded;   // at once, as there is memory; 0: all. Of more, runs alternate by load, not one by one
    // The part that the first run of a load finds cold is the same for short and for long ones: those of
    // CONTEST_LONG_RUN and more need none to warm up in the final, as it is a hundredth of them. Runtimes do more in
    // the first one.
    bool prepares_all;
    bool loads_itself;   // each run loads the model, as a command does: one of both is a load, and none warms up
    // Summaries of runs of each contender before the contest, one after the other (count 0: there were none); NULL: of
    // nobody. A contender that took some times as long as another of its kind does not qualify; one that would be
    // loaded by itself is not run again for that.
    const struct sample_summary *earlier;
    // Seconds that a run of each takes, by its costs (0: not known), or NULL: whoever takes some times as long on a
    // machine that others use is disturbed. Then the contest waits for a while, and is given up where they stay.
    const double *expected;
};
#define PROFILE_MOST_RUNS 15
struct contest_outcome {
    size_t original, result;             // the fastest of each kind; n: no result takes part
    struct sample_summary times[2];      // of one run of these in the final, seconds; without it of the original
    struct ratio_summary gain;           // time of the original over that of the result: 2 is twice as fast
    struct sample_summary *qualifying;   // of each contender, as far as it came (count 0: not at all); the caller's.
                                         // NULL: nobody asks, and one of each kind has nothing to qualify for
    bool is_disturbed;                   // given up, as others use this machine: nothing is filled in
    bool is_undecided;                   // interrupted before there was an answer: only `qualifying` is filled in
    bool is_earlier;                     // the gain is that of an earlier contest, the times are those of now
    bool is_doubted;                     // an earlier verdict was not confirmed
    bool is_settled;                     // later contests may rely on it: as many loads as were planned were made, or
                                         // it is decided; it is not too wide, nor was it open when its time was over
};
double contest_runs_to_warm_up(double of_run);        // of a model of ours, one run of which takes so long
double profile_runs_seconds(double of_run);           // about how long all runs for the costs of its steps take
size_t contest_most_loads(const struct contest *c);   // but forgotten ones, if there is a final that its loads decide
// About how long such a contest takes, with a result in it, by what loading and running a contender takes.
double contest_expected_seconds(size_t n, int loads, double seconds, double of_load, double of_run);
bool contest_hold(const struct contest_runner *e, const struct contest *c, struct contest_outcome *ret_outcome,
                  struct error *error);
