// Execution of a family's terms: an entry of the output, at indices without values, as a sum of products of entries of
// the inputs.
//
// Where a definition asks whether an index is negative, and neither follows from what is assumed, both answers are
// tried. Among what is only added and multiplied, up to the sum over an index of the question, the answers become
// guards of terms; elsewhere the question splits the sum, the maximum or, if it is one of outputs' indices and sizes
// alone, the whole comparison into cases, which are executed one after the other.
#pragma once
#include "verifier/symbolic_proof/family.h"
#include "verifier/symbolic_proof/sums.h"

#define MOST_DECISIONS 24
#define MOST_CASES 200
// Assumptions on one index, or, in the outermost frame, on the outputs' indices and sizes.
struct frame {
    uint32_t n, n_ranges;   // the first guards are ranges, the others decisions
    poly guards[MOST_DECISIONS + 2 * MAX_RANK];
    bool is_second[MOST_DECISIONS + 2 * MAX_RANK];   // both answers were taken
};
struct execution {
    struct family *family;
    struct sums *sums;
    VEC(struct frame) frames;
    VEC(poly) answers;    // that become guards of what is being executed
    size_t linear_from;   // indices of sums from this level on are of sums that what is executed is only added to
    int depth;            // of applications within applications
};
// Are both terms equal at all indices, where they have the same sizes?
bool execute_and_compare(struct execution *ex, term_id left, term_id right);
