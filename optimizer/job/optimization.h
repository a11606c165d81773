// The state that the parts of taso-opt's job share: the job itself, the search, and what judges its results.
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"
#include "core/system/temporary.h"
#include "onnx/convert/export/export.h"
#include "optimizer/job/options.h"
#include "optimizer/report/graph_steps.h"
#include "optimizer/report/report.h"
#include "optimizer/run/comparison.h"
#include "optimizer/run/phases.h"
#include "optimizer/run/profiles.h"
#include "optimizer/run/reference.h"
#include "optimizer/run/remaining_time.h"
#include "optimizer/run/runnable.h"
#include "optimizer/run/time_limit.h"
#include "optimizer/runtime/runtime.h"
#include "optimizer/runtime/step_costs.h"
#include "optimizer/search/result.h"
#include "optimizer/search/weight_limits.h"

struct validator;

// An estimator is one of several that price graphs at the same time.
struct estimator {
    const struct cut_plan *cut;
    const struct size_bindings *bindings;   // of the plan's symbols
    struct backend *backend;
    struct coster *in_runtime;   // instead of the backend; NULL: none
    enum layout_policy policy;   // of the backend
    double when_unknown;         // of a graph that the backend gives no estimate for
    double per_operator;         // seconds that each operator is taken to cost beside its own
    bool only_recalls;           // while others work: nothing is measured
};

// The result of a search, with the preference that it was done with.
struct finalist {
    const char *preference;
    struct search_result result;
};
#define NOT_A_FINALIST SIZE_MAX

// Runs of a plan as a whole, by this job, for the costs of its steps.
struct profiled_plan {
    uint64_t hash;   // backend_hash_plan
    struct sample_summary seconds;
};

// Rules of all searches.
struct job_rules {
    struct rule_set set;
    uint32_t n_of_backtracking;   // those with lower numbers are of backtracking
    uint32_t first_derived;       // and those from this one on were derived, so many:
    size_t n_derived;
    VEC(bool) is_of_egraph;        // by the numbers of rules; empty: all are
    VEC(const char *) left_out;    // names of those that made results fail the check
    bool leaves_out_differences;   // and all that subtract what their sources do not
    bool keeps_every_bit;          // rewrites do: an output is never finite, so that no comparison tells others
};

// Inputs: values that models run on, and their sizes.
struct job_inputs {
    struct model_inputs given;   // by the user; count 0: none
    struct cut_plan cut;
    struct size_bindings bindings;   // where the model has symbols
};

// Means of searches: workers, costs, a validator, limits.
struct job_search {
    VEC(struct estimator) workers;        // the first one has the job's backend
    struct coster *step_costs;            // of the job's runtime; NULL: those of the backend
    struct validator *validator;          // for all searches with the same rules
    struct weight_limits weight_limits;   // of what is found; once the model is imported
    enum layout_strategy layout;
};

struct job_results {
    struct search_result found;
    struct reference original;        // its outputs by exact kernels, once they were asked for
    VEC(struct finalist) finalists;   // while one of them is chosen
    VEC(struct profiled_plan) profiled;
    struct passes *passes;            // that were tuned (tuning_phase.h); NULL: none were
    enum layout_policy policies[2];   // of the original and of the result, as they are run
    struct graph_steps steps[2];      // of the original and of the result
    VEC(struct graph *) written;      // what was made of graphs to write them: constants are computed from it later
    const char *timed_files[2];       // compiled models that were timed in the end; NULL: none was
    struct temporary_folder folder;   // of models that are timed in the runtime, or compiled, once there are some
};

struct job_time {
    struct remaining_time remaining;   // for what progress shows
    double of_profile;                 // seconds of the longest one in the runtime
    struct phases phases;
    struct time_limit limit;
};

struct optimizing {
    const struct optimize_options *options;
    struct onnx_file file;
    struct imported_model model;
    struct weight_source weight_source;   // the model's
    struct arena arena;                   // of rules and values
    struct job_rules rules;
    struct job_inputs inputs;
    struct backend *backend;
    struct backend *checker;   // what models run on: the backend, or the processor where that is not here
    struct runtime runtime;    // that models are timed in; not open: in the checker
    struct job_search search;
    struct job_results results;
    struct job_time time;
    struct report report;
    struct error *error;
};

struct backend_options optimizing_backend_options(struct optimizing *o);
struct backend *optimizing_open_device(struct optimizing *o, const struct backend_options *chosen, struct error *error);

size_t optimizing_bytes_of_weights(const struct optimizing *o);
bool optimizing_has_large_weights(const struct optimizing *o);   // too large for random ones, and to be kept twice

// Models are timed by the device or the runtime that the model is optimized for, or not at all.
bool optimizing_is_timed(const struct optimizing *o);
bool optimizing_is_rewritten(const struct optimizing *o, size_t finalist);

// A device failed as somebody asked us to end while it was at work: nothing is known of the result then, and that is in
// the report instead of the error.
bool optimizing_is_cut(struct optimizing *o);
const char *optimizing_reason_of_end(const struct optimizing *o);   // that came before all was known
