// What the direct proof finds out about an equation.
#pragma once
#include "core/text/text.h"
#include "verifier/bounds/bounds.h"

enum verdict {
    VERDICT_PROVED,        // for all sizes, by the argument of the bounds
    VERDICT_TESTED,        // at all instances within the bounds, which are no proof
    VERDICT_REFUTED,       // with a counterexample
    VERDICT_UNDECIDED,     // normal forms differ and numbers do not, or there are no normal forms
    VERDICT_NOT_COVERED,   // no instance is among those that are tried
    VERDICT_COUNT,
};
const char *verdict_name(enum verdict verdict);

struct judgement {
    enum verdict verdict;
    uint64_t instances, failures;
    uint64_t
        in_numbers;   // of the instances of a law: those that normal forms do not decide, and numbers do not refute
    int max_rank;
    struct bounds bounds;
    bool needs_reals;             // laws were used that integers do not have
    bool differs_in_values;       // REFUTED: and not in types or split trees
    bool has_cut_inputs;          // REFUTED: the counterexample has inputs with split trees
    bool was_cut_short;           // the step limit was reached
    bool met_limits;              // it, or another limit on the way: with larger ones there might be more to see
    bool saw_all_kinds;           // the search for small instances was not: the listener heard of each kind
    const char *doubt;            // TESTED, NOT_COVERED: why it is no proof
    struct text form;             // the text of the doubt where it says what no theorem speaks of; owned
    struct text counterexample;   // REFUTED, UNDECIDED; owned
};
void judgement_free(struct judgement *result);
// Adds what was judged of another part, which is freed: the first counterexample, in the order of merging, stays.
void judgement_merge(struct judgement *all, struct judgement *part);
// "sizes 1..2, ranks 0..4" and the reason for each axis: lines of text.
void judgement_print_bounds(struct text *out, const struct equation *eq, const struct judgement *result);
