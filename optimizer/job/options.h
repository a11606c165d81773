// The options of taso-opt, for everybody who takes them: the program's command line, and the library's options by name.
#pragma once
#include "core/system/files_used.h"
#include "core/text/options.h"
#include <stdio.h>

struct log;

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

struct optimize_options {
    const char *input, *output;    // output NULL: nothing is written
    const char *rules;             // file of substitutions
    const char *egraph_rules;      // of those for saturation; NULL: those that ship, or `rules` if that does not ship
    int device;                    // index into optimize_devices
    int layout;                    // index into optimize_layouts: how rewriting and choosing layouts go together
    struct option_list shapes;     // NAME=1,3,224,224 or SYMBOL=8
    struct option_list profiles;   // SYMBOL=1,8: sizes of what stays symbolic, to optimize for (profiles.h)
    int64_t fold_limit, budget, patience, threads, seed, rounds;
    int64_t max_memory;       // the search holds half of it, and no more than its standard; 0: that (mem_set_limit)
    int64_t finalists;        // searches whose results are timed against each other, 1 to 3
    int64_t search_threads;   // 0: all cores. The result does not depend on it
    double alpha, seconds, tolerance, measure_seconds;
    double total_seconds;          // of the whole job, about; 0: no limit
    double tune_minutes;           // for schedules of kernels; 0: they are not searched
    bool is_only_simplified;       // nothing is searched or timed
    const char *runtime;           // "taso", "onnxruntime" or "onnxruntime:PROVIDER"; NULL: what suits the output
    const char *python;            // that has it; NULL: TASO_PYTHON of the environment, or python3
    const char *measure_command;   // instead of a runtime; NULL: none
    const char *inputs;            // folder of .npy files to check and to time with; NULL: random ones
    const char *costs;             // cost database; NULL: in the user's cache folder
    int search;                    // index into optimize_searches
    int64_t most_enodes, rounds_of_rules, k_multi;   // of saturation
    struct option_list without;                      // rules not to use
    double weight_growth;   // how many times the model's weights those of the result may take; 0: no limit
    int64_t max_rule_ops;   // rules with more operators on either side are not used; 0: no limit
    bool derives, says_whether_to_derive;   // rules are looked for that hold for the model's own products
                                            // (derived_rules.h); where nobody says, at some of them
    bool only_proved;   // rules that are not among those which ship as proved are not used (trusted_rules.h)
    bool keeps_nan;     // rewrites that keep every bit alone, and no kernels that do not
    bool allows_tf32;
    bool is_exact;   // no kernels whose errors count against the tolerance (costs/plan_choices.h)
    bool is_validation_skipped, is_check_skipped, is_timing_skipped, is_simplification_skipped;
    bool is_calibration_skipped;     // costs are believed as they are
    bool is_guest;                   // (backend_options)
    bool has_pictures;               // the report tells the steps of both graphs
    const struct used_file *files;   // all that are named, the input's weights apart: no output may be another file
    size_t n_files;
    FILE *progress;
    const struct log *log;
};
extern const char *const optimize_searches[];   // "backtracking", "saturation", "both", NULL
extern const char *const optimize_devices[];    // "cpu", "fake", "cuda", NULL
// "joint": each candidate is priced with the best layouts around the change, beginning with what
// sequential comes to where that is better than the original. "standard": rewritten with the layouts that a device
// gives by rule. "sequential": rewritten with row-major layouts, then the best are chosen. "graph-only": row-major
// throughout. "layout-only": nothing is rewritten. "auto", the standard: joint for our own executor, standard for other
// runtimes.
extern const char *const optimize_layouts[];

struct optimize_arguments {
    struct optimize_options optimize;
    const char *json, *html;
    bool is_quiet, is_verbose, is_explained, is_validated, is_checked, is_timed, is_simplified, is_calibrated,
        is_strict;
};
extern const struct option_spec optimize_option_specs[];   // ends with {0}; offsets are into struct optimize_arguments

extern const struct optimize_arguments optimize_standard_arguments;   // of all but the rules
// Takes what the flags say over into the job's options.
void optimize_arguments_finish(struct optimize_arguments *a);
