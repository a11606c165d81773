// What the parts of taso-opt's job share: the job itself, the search, and what judges its results.
#pragma once
#include "backends/contract/backend.h"
#include "core/memory/arena.h"
#include "core/system/temporary.h"
#include "onnx/convert/export/export.h"
#include "optimizer/optimize.h"
#include "optimizer/remaining_time.h"
#include "optimizer/report/graph_steps.h"
#include "optimizer/run/comparison.h"
#include "optimizer/run/phases.h"
#include "optimizer/run/profiles.h"
#include "optimizer/run/runnable.h"
#include "optimizer/runtime/runtime.h"
#include "optimizer/runtime/step_costs.h"
#include "optimizer/search/search.h"
#include "optimizer/time_limit.h"

struct validator;

enum optimize_device { DEVICE_CPU, DEVICE_FAKE, DEVICE_CUDA };
enum search_method { SEARCH_BACKTRACKING, SEARCH_SATURATION, SEARCH_BOTH };
enum layout_strategy {
    STRATEGY_STANDARD,
    STRATEGY_JOINT,
    STRATEGY_SEQUENTIAL,
    STRATEGY_GRAPH_ONLY,
    STRATEGY_LAYOUT_ONLY,
    STRATEGY_AUTO,   // JOINT for our own executor, STANDARD for other runtimes
};

// One of several that price graphs at the same time.
struct estimator {
    const struct cut_plan *cut;
    const struct size_bindings *bindings;   // of the plan's symbols
    struct backend *backend;
    struct coster *in_runtime;   // instead of the backend; NULL: none
    double when_unknown;         // of a graph that the backend gives no estimate for
    double per_operator;         // seconds that each operator is taken to cost beside its own
    bool only_recalls;           // while others work: nothing is measured
};

// What a search came to, with the slant that it was done with.
struct finalist {
    const char *slant;
    struct search_result result;
};
#define NOT_A_FINALIST SIZE_MAX

// Runs of a plan as a whole, by this job, for the costs of its steps.
struct profiled_plan {
    uint64_t hash;   // backend_hash_plan
    struct sample_summary seconds;
};

struct optimizing {
    const struct optimize_options *options;
    struct onnx_file file;
    struct imported_model model;
    struct weight_source weight_source;   // the model's
    struct arena arena;                   // of rules and values
    struct rule_set rules;                // of all searches
    uint32_t n_of_backtracking;           // rules with lower numbers are those of backtracking
    VEC(bool) is_of_egraph;               // by the numbers of rules; empty: all are
    struct backend *backend;
    VEC(struct estimator) workers;   // for the search; the first one has the backend above
    struct validator *validator;     // for all searches with the same rules
    struct backend *checker;         // what models run on: the backend, or the processor where that is not here
    struct model_inputs given;       // by the user; count 0: none
    struct cut_plan cut;
    struct size_bindings bindings;    // where the model has symbols
    struct runtime runtime;           // that models are timed in; not open: in the checker
    struct coster *step_costs;        // of that runtime; NULL: those of the backend
    struct temporary_folder folder;   // of models that are timed there, once there are some
    enum layout_strategy layout;
    VEC(struct finalist) finalists;   // while one of them is chosen
    VEC(struct profiled_plan) profiled;
    struct search_result found;
    struct weight_limits weight_limits;   // of what the search finds; once the model is imported
    enum layout_policy policies[2];       // of the original and of the result, as they are run
    struct graph_steps steps[2];          // of the original and of the result
    VEC(struct graph *) written;          // what was made of graphs to write them: constants are computed from it later
    VEC(const char *) left_out;           // rules that made results fail the check
    bool leaves_out_differences;          // and all that subtract what their sources do not
    struct report report;
    struct remaining_time remaining_time;   // for what progress shows
    struct phases phases;
    struct time_limit time_limit;
    struct error *error;
};

// A graph made from the model's as an ONNX model. False: EXIT_UNSUPPORTED where it has no form there. (write_model.c)
bool optimizing_export(struct optimizing *o, const struct graph *g, struct onnx_model **ret_model,
                       struct exported_types *ret_types, struct error *error);
// What was decided on: o->found, or the original, simplified where that is wanted. (write_model.c)
bool optimizing_write(struct optimizing *o);
void optimizing_free_written(struct optimizing *o);
// Of the whole job, into o->report; and what pages tell besides: types in both files, and steps. (fill_report.c)
void optimizing_fill_report(struct optimizing *o);
void optimizing_describe(struct optimizing *o);
void optimizing_free_steps(struct optimizing *o);
// Is the model, simplified, to be written instead of the original? (simplification.c)
bool optimizing_simplify(struct optimizing *o, struct onnx_model **ret_model, struct exported_types *ret_types);

// Compiled models (compilation.c): whether the output is one; whether its name says what is wanted there; whether the
// options allow it; whether the model does, once it is imported; and writing one of a graph made from the model's.
bool optimizing_compiles(const struct optimize_options *options);
bool optimizing_check_ending(const struct optimize_options *options, struct error *error);
bool optimizing_check_compilation(const struct optimize_options *options, struct error *error);
bool optimizing_can_compile(struct optimizing *o);
bool optimizing_compile(struct optimizing *o, const struct graph *g, enum layout_policy policy);

struct backend_options optimizing_backend_options(struct optimizing *o);
struct backend *optimizing_open_device(struct optimizing *o, const struct backend_options *chosen, struct error *error);
// What weights may become, of a model that is imported. (weight_range.c)
void optimizing_limit_weights(struct optimizing *o);
// rules.c: what the options name.
bool optimizing_read_rules(struct optimizing *o);
// Leaves out rules without a proof where the imported model has symbols: an application of one is validated at its own
// sizes, which says nothing of others.
void optimizing_keep_rules_for_sizes(struct optimizing *o);
void optimizing_rules_of_backtracking(struct optimizing *o, struct rule_set *ret_rules);   // only its list is its own
// Whether models are timed: only the runtime or the device that the model is optimized for says how fast it is.
bool optimizing_is_timed(const struct optimizing *o);
size_t optimizing_bytes_of_weights(const struct optimizing *o);
bool optimizing_has_large_weights(const struct optimizing *o);

// --- what a graph costs (estimator.c) --------------------------------------------------------------------------------

struct estimator optimizing_estimator(struct optimizing *o);
// False: a device failed, or only recalls costs and lacks some.
bool estimator_estimate(const struct estimator *e, const struct graph *g, struct estimate *ret_estimate);
// The functions of a cost model (search/cost_model.h); the context is an estimator.
double estimator_seconds(void *context, const struct graph *g);
double estimator_known_seconds(void *context, const struct graph *g);
// Into o->workers, one for each thread of the search.
void optimizing_open_estimators(struct optimizing *o);
void optimizing_close_estimators(struct optimizing *o);
// That share of the time of the original, for each of its operators the same.
double optimizing_seconds_per_operator(struct optimizing *o, double share);

// --- searching and judging -------------------------------------------------------------------------------------------

// The search by the strategy of the options, and a contest of what it came to, into o->found; what the report tells of
// layouts and times. False: the device failed. (search_phase.c)
bool optimizing_search(struct optimizing *o);
// Corrects costs by what steps take inside of the original and the finalists: the largest change of an estimate by it,
// as a share; 0: all that was known already. (calibration.c)
bool optimizing_calibrate(struct optimizing *o, double *ret_change);
// This machine is busy: models are timed on one thread, and that is told once. (contenders.c)
void optimizing_tell_of_one_thread(struct optimizing *o);
// Times the original and all finalists, each in every way to run it, into o->report; the fastest finalist. Nothing
// happens when none of them is rewritten. (contenders.c)
bool optimizing_hold_contest(struct optimizing *o, size_t *ret_finalist);
// The same for o->found alone.
bool optimizing_time_result(struct optimizing *o);
// A device failed as somebody asked us to end while it was at work: nothing is known of the result then, and that is in
// the report instead of the error. (optimize.c)
bool optimizing_is_cut(struct optimizing *o);

// Compares the outputs of o->found with those of the original, into o->report. False: the device failed.
// (output_check.c)
bool optimizing_judge(struct optimizing *o);
// Does a graph that o->found went through agree with the original, where o->found is compared? Without timing. False:
// the device failed. (output_check.c)
bool optimizing_compare(struct optimizing *o, const struct graph *g, bool *ret_agrees);
bool optimizing_search_and_judge(struct optimizing *o);   // and what that is worth: once (optimize.c)

// --- in the user's runtime (runtime_verdict.c) -----------------------------------------------------------------------

// Begins to start what the options name, or what suits them; optimizing_prepare_runtime, after the import, waits for
// it, gives it inputs, and tries the original. False: what was asked for is not there.
bool optimizing_open_runtime(struct optimizing *o);
bool optimizing_prepare_runtime(struct optimizing *o);
void optimizing_close_runtime(struct optimizing *o);
// Times them by turns. False: the runtime fails at one of them.
bool optimizing_duel_in_runtime(struct optimizing *o, const struct graph *a, const struct graph *b, double seconds,
                                struct side_by_side *ret_times);
// Where nothing is timed in it: compares a graph as it is written with the original as it is read, where there is an
// ONNX Runtime that runs the original.
void optimizing_check_in_runtime(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict);
// Compares a graph with the original and times both. False: the runtime is gone.
bool optimizing_judge_in_runtime(struct optimizing *o, const struct graph *g, struct runtime_verdict *ret_verdict);
