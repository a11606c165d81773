// Definitions that sum products of two tensors: products of matrices, convolutions of every window and group, and what
// a derivation comes to.
//
//     z[b, i, j] = f(sum(k) x[b, i, k] * y[b, j, k])        rows i, columns j, batches b; each some axes of the result
//
// An axis by whose quotient a tensor goes (the group of a channel) is two: batches of rows.
#pragma once
#include "backends/planning/view.h"
#include "expressions/definition.h"

enum contraction_side { SIDE_ROWS, SIDE_COLUMNS, SIDE_BATCHES, N_SIDES };
struct contraction_axis {
    int axis;   // of the result, in whose place it adds `scale` for each of its own
    int64_t scale, dim;
};
struct contraction_places {
    int n;
    struct contraction_axis axes[2 * MAX_RANK];   // from the one whose places are farthest apart in the result on
    int64_t count;
};
#define CONTRACTION_MOST_SUMS 8
struct contraction {
    expr sum, factors[2];                    // of rows, and of columns: the last axis of the result in memory
    struct contraction_places of[N_SIDES];   // axes of one place are in none
    int n_sums;
    int64_t sums[CONTRACTION_MOST_SUMS];   // variables, the outermost first
    int64_t outer, window;                 // terms of this one, and of all others together
    bool is_outer_dense;                   // terms of the outermost sum follow one another in memory, in both factors
    bool is_by_places[2];                  // so do places of a factor, or are nearer than its terms
    bool is_guarded[2];                    // outside of a factor there are zeros
};
// `views` are those of the inputs and the result, which the definition's only stage gives. False: it is something else.
bool contraction_of(const struct definition *d, const struct view *views, struct arena *arena,
                    struct contraction *ret_contraction);
