// The whole job of taso-opt: from a model file to a faster equivalent one, checked and measured.
#ifndef OPTIMIZER_OPTIMIZE_H
#define OPTIMIZER_OPTIMIZE_H
#include "core/options.h"
#include "optimizer/report.h"

struct error;
struct log;

struct optimize_options {
    const char *input, *output;   // output NULL: nothing is written
    const char *rules;            // file of substitutions
    int device;                   // index into optimize_devices
    struct option_list shapes;    // NAME=1,3,224,224 or SYMBOL=8
    int64_t fold_limit, budget, max_memory, threads, seed, rounds;
    double alpha, seconds, tolerance, measure_seconds;
    const char *costs;            // cost database; NULL: in the user's cache folder
    struct option_list without;   // rules not to use
    bool is_validation_skipped, is_check_skipped, is_timing_skipped;
    FILE *progress;
    const struct log *log;
};
extern const char *const optimize_devices[];   // "cpu", "fake", "cuda", NULL
extern const struct optimize_options optimize_standard_options;

// Prints nothing; `print` is called once with the finished report, which is gone afterwards. When the check fails,
// `print` is called too, nothing is written, and false is given with EXIT_CHECK_FAILED.
bool optimize_model(const struct optimize_options *options, void (*print)(void *context, const struct report *r),
                    void *context, struct error *error);
#endif
