// Contenders are all ways to run the original and the finalists in our own executor: each graph under each policy of
// layouts that gives another plan.
#pragma once
#include "core/numbers/random.h"
#include "core/system/progress.h"
#include "optimizer/compiled/compiled_model.h"
#include "optimizer/job/optimization.h"
#include "optimizer/run/comparison.h"

struct contender {
    const struct graph *graph;   // that can be run
    enum layout_policy policy;
    const uint8_t *layouts;        // by the policy; NULL: the standard ones
    const step_choices *choices;   // by which its steps run; NULL: by costs
    const char *file;              // the compiled model that it is; NULL: it is prepared from the graph
    double estimate;               // seconds, when it entered; 0: it cannot be estimated
    size_t finalist;               // NOT_A_FINALIST: the original
    uint64_t plan_hash;
    size_t bytes;                     // that it takes when it is loaded, about
    struct model *model;              // while it is loaded
    struct compiled_model compiled;   // and its file is open
    struct tensor_value *outputs;
    struct arena arena;   // of the outputs
    void *pad;            // in front of it in memory
    size_t pad_bytes;
};

struct contenders {
    struct optimizing *o;
    VEC(struct contender) all;
    VEC(struct graph *) graphs;   // of all, each under several policies
    const struct tensor_value *weights;
    struct model_inputs inputs;
    struct arena arena;
    struct random random;       // of pads
    struct progress progress;   // of timing, and the loads that it has made
    size_t n_loads;
    bool knows_nothing;   // of earlier contests, and leaves nothing to later ones
};

// The original and o->finalists that are rewritten.
void contenders_open(struct contenders *f, struct optimizing *o);
void contenders_close(struct contenders *f);
// Into fresh memory, each time at another place. False: it cannot be prepared.
bool contenders_load(struct contenders *f, size_t contender, struct error *error);
void contenders_unload(struct contenders *f, size_t contender);
double contender_estimate(struct optimizing *o, const struct contender *c);   // seconds by now
// After loading failed: is there no room for one of them? Then that is said, and is no error any more.
bool contenders_lacks_room(const struct contenders *f);

// Is the second of two compiled models of a graph, or of equal ones, faster than the first, as both are read from their
// files, by turns? By how many times; 0: it is not, or that is not decided.
double contenders_gain(struct optimizing *o, const struct graph *g, const char *const files[2]);

// This machine is busy: models are timed on one thread, and that is told once.
void optimizing_tell_of_one_thread(struct optimizing *o);
// Times the original and all finalists, each in every way to run it, into o->report; the fastest finalist. Nothing
// happens when none of them is rewritten.
bool optimizing_hold_contest(struct optimizing *o, size_t *ret_finalist);
// Times o->found alone.
bool optimizing_time_result(struct optimizing *o);
