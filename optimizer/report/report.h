// The record of one run of taso-opt.
#pragma once
#include "backends/costs/in_model.h"
#include "backends/costs/plan_choices.h"
#include "core/numbers/paired_ratios.h"
#include "core/numbers/statistics.h"
#include "optimizer/run/comparison.h"
#include "optimizer/run/phases.h"
#include "optimizer/run/prepare_within.h"
#include "optimizer/run/profiles.h"
#include "optimizer/search/result.h"
#include "tuning/passes.h"
#include "tuning/places.h"
#include <stdbool.h>

struct graph_steps;
struct onnx_graph;
struct exported_types;

enum check_verdict { CHECK_PASSED, CHECK_FAILED, CHECK_UNTRUSTWORTHY, CHECK_SKIPPED };

// An output whose values cannot be compared. No rewrite touches it: what makes it is kept as it is.
struct uncompared_output {
    const char *name;
    const struct type *type;
};

// ONNX nodes of one operator that are kept as they are for one reason.
struct kept_operator {
    const char *domain, *name, *reason;
    size_t n_nodes;
};

// The times of a graph in the user's runtime, beside the original.
struct runtime_verdict {
    bool is_timed, differs;
    const char *failure;   // why it was not judged there; NULL otherwise
    struct side_by_side times;
    output_comparisons outputs;   // in the order of the model's
};

// A way to run the original or a finalist of the search, as it came through the qualifying stage of the contest.
struct timed_contender {
    bool is_result;
    const char *preference;   // of the search that it is of; NULL: the original
    const char *layouts;      // layout_policy_names
    double estimate;          // the sum of the costs of its steps, seconds
    struct sample_summary seconds;
};

// How many nodes of each type a file has, in the order of their names.
struct node_types {
    size_t count;
    struct node_type {
        const char *name;
        size_t n;
    } * items;
};

// The run: program, model, device.
struct reported_job {
    const char *input, *output, *device;
    const char *command, *date;    // of the program that was called; NULL: none was
    int n_threads;                 // that models run on
    bool is_on_gpu, is_computed;   // where costs are made up, nothing runs
};

// The two files: the original first, then the result or what is written.
struct reported_files {
    const struct onnx_graph *files[2];            // NULL: nothing, or a compiled model
    const struct exported_types *file_types[2];   // of values there, for pictures; NULL: not known
    struct node_types types[2];                   // of these files; none of what is no file
    const struct graph_steps *steps[2];           // NULL: not known
    bool is_optimized;                            // the output is the optimized model, not the original
    bool is_simplified;                           // it is the original without any rewrite, for want of a better one
    bool is_compiled;                             // it is a compiled model, not an ONNX one
    const char *kept_reason;                      // why it is the original; NULL otherwise
    const char *not_simplified;         // why it is not simplified, though it would have fewer nodes; NULL otherwise
    size_t nodes_before, nodes_after;   // ONNX nodes of the main graphs
    size_t bytes_before, bytes_after;   // of initializers and constants
};

struct reported_search {
    const struct search_result *search;
    const struct rule_set *rules;
    size_t n_rules_left_out;         // that are not among the proved ones, where these alone were wanted
    size_t n_rules_of_known_sizes;   // that are not proved, and were left out as the model has symbols
    const char *preference;          // of the search whose result was the fastest
    uint64_t n_not_general;          // applications of rules that do not hold, or have no form, at all sizes
    size_t n_finalists;              // different results of searches with different preferences
    size_t n_searches;               // the first, and those after corrections of costs
};

struct reported_costs {
    const char *layout_strategy;
    double seconds_with_layouts;          // estimated for the result, with the layouts that the strategy gives it
    double layout_gap;                    // others may cost less by this share of the least possible; 0: none do
    struct inexact_steps inexact[2];      // of original and result, in our own executor
    struct within_error within[2];        // what these do to outputs
    double allowed_error;                 // of them; 0: there are none
    cost_corrections corrections;         // what steps take inside of models, where that is not what was believed
    uint64_t n_steps_measured;            // that the cost database lacked
    double seconds_measuring;             // them, on the clock
    double processor_seconds_measuring;   // and of processors, the runtime's worker's too
};

struct reported_check {
    enum check_verdict verdict;
    const char *reason;   // why the check was skipped; NULL otherwise
    double tolerance;
    output_comparisons outputs;
    VEC(struct uncompared_output) uncompared;
    const char *never_finite;          // an output of the original, at all inputs that were tried; NULL: none
    const char *failed_output;         // at which something that was found failed the check; NULL: nothing did
    const char *const *failed_rules;   // whose rewrites did, and which the result is without
    size_t n_failed_rules;
};

// The contest, of original and result.
struct reported_timing {
    bool is_too_large;         // there is no room to run the result
    bool is_disturbed;         // given up, as others use this machine; then it is cut, too
    bool is_cut;               // interrupted before it was known whether the result is faster
    bool is_on_one_thread;     // so though more were wanted, as others use this machine
    bool is_interleaved;       // by turns in the same load; else one after the other in each load
    bool is_faster;            // the verdict (ratio_is_a_gain)
    bool is_earlier;           // it is that of an earlier contest, in this run of a program,
    uint32_t run_of_verdict;   // and stands, as a few runs of both are not against it
    int n_timed;               // 2: both; 1: the original, for want of a result
    VEC(struct timed_contender) contenders;
    const char *layouts[2];           // of the fastest way to run each
    double estimates[2];              // sums of the costs of their steps, seconds
    struct sample_summary times[2];   // seconds of one run of the whole graph
    struct ratio_summary gain;        // the first over the second
};

// Verdicts of the user's runtime.
struct reported_runtime {
    const char *name;         // that models were timed in; NULL: our own executor
    const char *refused_by;   // why it does not run the original; NULL: nothing refuses it
    struct runtime_verdict result;
    struct runtime_verdict simplified;   // of the model without any rewrite
};

struct reported_tuning {
    struct tuning_progress kernels;   // of the original; n_steps 0: not at all
    struct passes_report passes;      // of all graphs; n_steps of none: not at all
    struct places_outcome in_place;   // of choices that ran in the model
    bool is_timed;                    // beside the untuned model, by turns
    double gain;                      // over that; 0: none, and that is back
};

struct report {
    struct reported_job job;
    struct reported_files written;
    struct reported_search found;
    struct reported_costs costs;
    struct reported_check check;
    struct reported_timing timing;
    struct reported_runtime there;
    const struct imported_model *model;     // with symbols; NULL: it has none
    const struct size_bindings *bindings;   // of these
    struct reported_tuning tuned;
    struct import_counts import;
    VEC(struct kept_operator) kept;   // those with the most nodes first
    size_t peak_memory;               // bytes
    double seconds;                   // of the whole program
    const struct phases *phases;      // measuring is a part of searching, mostly
};
// The sum of the costs of the steps of the original (0) and of the result (1): where both were timed those that are
// believed in the end, with the layouts that were timed; else those of the search.
double report_estimate(const struct report *r, int which);
// The error of this beside what the whole model took, as a share of that; NaN where either is not known. Costs are
// lower quartiles of steps: what other programs add to some steps of each run is in none of them, and in every run of
// the model but, most likely, the shortest.
double report_estimate_error(const struct report *r, int which);
size_t report_kept_nodes(const struct report *r);
// Notes an output that says nothing, as the original's was not finite at any inputs.
void report_note_never_finite(struct report *r, const output_comparisons *outputs);
uint64_t report_applications(const struct report *r, bool (*is_counted)(const struct rule *r));
void report_count_applications(const struct report *r, uint64_t *ret_counts);   // of each rule
size_t report_proved_rules(const struct report *r);                             // of those that were used
const char *check_verdict_name(enum check_verdict verdict);
// Adds the doubts of a model that was written as "DOUBT; DOUBT; ...", and gives their number: what was not compared, or
// said nothing; what was not timed where it was to be faster; a runtime that refuses the model; a rewrite that failed
// the check; nodes that are not understood. Of a file that is the original there are only the latter.
size_t report_list_doubts(struct text *out, const struct report *r);
