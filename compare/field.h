// Equality of two models over the prime field 2^61 - 1, at their real shapes: both are evaluated on random numbers
// (evaluate.h), every entry of every tensor, and their outputs compared. Two models that are different
// rational functions agree by chance with a probability of at most degree / 2^61.
//
// First with *free* values for all tensors that both models share: outputs that agree then are equal whatever stands
// below, and only what differs is evaluated. Where they do not agree, from the inputs on.
//
// An operator that moves entries by what it reads has a meaning here only where it reads small integers; elsewhere it
// is an unknown function of its inputs, and so is an opaque node: equal inputs, equal outputs. Functions outside of the
// field (exp, tanh, relu) have stand-ins. Outputs that agree although they depend on such functions are equal; others
// may still be, by a law that the stand-in does not have. Comparisons, maxima, integers and truth values are different:
// random values do not meet all of their cases, so that agreement that depends on one proves nothing.
#pragma once
#include "compare/common_graph.h"

enum field_verdict {
    FIELD_NOT_COMPARED,   // it was known to be equal
    FIELD_EQUAL,
    FIELD_DIFFERENT,
    FIELD_UNKNOWN,   // they do not agree, but depend on functions that are only stood in for
    FIELD_AGREES,    // they agree, but depend on what random values say little of
    FIELD_TOO_COSTLY,
};
struct field_result {
    enum field_verdict verdict;
    bool is_free;                                      // EQUAL: for all values of what the models share
    int64_t n_entries, n_different, first_different;   // of EQUAL, DIFFERENT, UNKNOWN, AGREES
    const char *stand_in;                              // UNKNOWN: an operator that has only a stand-in
    const char *decision;                              // AGREES: an operator that compares, or makes no reals
};
// Comparison with so many threads (0: as many as cores). One result for each output that is not known to be equal.
// `most_operations`: of one evaluation of both models.
void common_graph_compare_in_field(const struct common_graph *c, uint64_t seed, double most_operations, int threads,
                                   struct field_result *ret_results);
