// Equality of two models in numbers: both run on the processor on random inputs from a seed. Opaque nodes are cut out
// and paired: what they make are further inputs, what they read further outputs.
#pragma once
#include "compare/common_graph.h"
#include "optimizer/run/output_comparison.h"

struct numbers_options {
    uint64_t seed;
    int rounds, threads;
    double tolerance;   // of max|a - b| / max|a|
    const struct log *log;
};
struct numbers_result {
    size_t output;   // of the models; n_outputs: what opaque nodes read
    struct output_comparison of;
};
struct numbers_report {
    const char *reason;   // why nothing was run; NULL: it was
    double tolerance;     // the one that was used: models with 16-bit numbers get a larger one
    VEC(struct numbers_result) results;
};
// False: a device failed. The report is freed by its owner in any case.
bool common_graph_compare_in_numbers(struct common_graph *c, const struct numbers_options *options,
                                     struct numbers_report *ret_report, struct error *error);
void numbers_report_free(struct numbers_report *report);
