// What one run of taso-opt did, for a person and as JSON.
#ifndef OPTIMIZER_REPORT_H
#define OPTIMIZER_REPORT_H
#include "optimizer/comparison.h"
#include "optimizer/search/search.h"
#include <stdbool.h>

struct text;

enum check_verdict { CHECK_PASSED, CHECK_FAILED, CHECK_UNTRUSTWORTHY, CHECK_SKIPPED };

struct report {
    const char *input, *output, *device;
    const struct graph *before, *after;
    const struct search_result *search;
    const struct rule_set *rules;
    struct {
        size_t folded, identities, normalizations, opaque;
    } import;
    size_t folded_weights;   // weight-only subgraphs computed at export
    enum check_verdict verdict;
    const char *verdict_reason;   // why the check was skipped; NULL otherwise
    double tolerance;
    output_comparisons outputs;
    bool is_timed, is_interleaved;
    struct sample_summary time_before, time_after;   // seconds of one run of the whole graph
    double speedup, speedup_low, speedup_high;       // median of the interleaved ratios, and its 95 % interval
    bool is_optimized;                               // the output is the optimized model, not the original
    const char *kept_reason;                         // why it is the original; NULL otherwise
    size_t peak_memory;                              // bytes
    double seconds;                                  // of the whole program
};
void report_print(struct text *out, const struct report *r, bool with_steps);
void report_print_json(struct text *out, const struct report *r);
#endif
