// Up to which sizes an equation must be tested so that it holds for all sizes.
//
// An instance's definitions say how indices meet. Index variables and tensor axes that are read by one another form
// classes (union-find). On a class whose members are only compared for equality, positions are labels: a counterexample
// at a large size uses at most q of them (one for each axis of the output and for each sum), and renaming these to the
// first q gives a counterexample at size q; adding labels to it gives one at q from any smaller size but 1, so that 1
// and q are enough unless the size is a number somewhere. Concatenation cuts an axis into segments, each with labels of
// its own. docs/theory/bounds.md has the whole argument; here each class gets its bound and the reason, or the note
// that none is known, in which case the equation is "tested up to n" and not proved.
//
// `text` looks at the equation alone, `classes` at the indices of an instance, `windows` at those that windows make;
// bounds.c makes sizes of it. Which equations the theorems speak of is asked in `forms`, and whether the types of
// properties do not depend on sizes in `property_types`.
#pragma once
#include "verifier/instances/instance.h"

enum bound_reason {
    BOUND_NONE,            // the axis was not met
    BOUND_LABELS,          // positions are only compared for equality
    BOUND_SEGMENTS,        // the same, for each segment of a concatenation
    BOUND_GROUPS,          // labels are pairs of a group and a place in it
    BOUND_COMMON_WINDOW,   // the same window on both sides: a common factor
    BOUND_FIXED,           // a condition names the size
    BOUND_KERNEL,          // the sizes of kernels
    BOUND_WINDOW,          // reach plus twice the stride
    BOUND_TESTED,          // no argument: a size chosen to be tested
};
struct bounds {
    uint32_t sizes[MAX_RULE_VARIABLES][MAX_RANK + 1]
                  [MAX_RANK];   // by variable, rank, axis: bit n for size n; 0: not met
    uint8_t reason[MAX_RULE_VARIABLES][MAX_RANK + 1][MAX_RANK];
    // Of the first instance of each rank: sizes at which it is well-typed, one bit.
    uint32_t met[MAX_RULE_VARIABLES][MAX_RANK + 1][MAX_RANK];
    bool has_window, has_other_windows;   // windows met; used differently
    bool has_named_windows;               // of which strides alone are tried, all of them
    bool has_named_images;                // conditions name sizes that windows read which are used differently
    bool has_unargued_windows;            // windows of no form that a theorem speaks of
    bool has_numbers_of_sizes;            // coefficients that sizes say, as the number of terms of a sum
    bool has_parts_of_groups;             // a class of axes is divided into groups and concatenated or cut
    node_set of_several_groups;           // nodes of an instance of which the number of groups is above 1
    bool axes_meet;                       // windows on different axes read positions that are related
    int64_t largest_extent;               // of a window, in places
    const char *doubt;                    // why nothing larger is proved; NULL: the bounds are argued
    bool cuts_overlap;                    // nothing is proved of concatenated axes; the bounds of others stay argued
};
// Are the types of both sides alike? Otherwise the instance's sizes are added, so that it is tested.
bool bounds_note_types(struct bounds *b, const struct instance *in);
// Axes of variables of classes that are concatenated or cut, one bit each.
struct cut_axes {
    uint32_t of_variable[MAX_RULE_VARIABLES];
};
// Widens the bounds by what the instance shows; both sides of every pair are well-typed in it. Instances of the same
// formulas show the same, but for whether cuts overlap: that depends on the sizes of axes that are cut.
void bounds_add(struct bounds *b, struct instance *in, struct cut_axes *ret_cut_axes);
// Are there axes of which the parts of concatenations have bounds?
bool bounds_have_segments(const struct bounds *b);
// Do cuts overlap at the sizes of an instance within the bounds, of which both sides are well-typed?
void bounds_note_folds(struct bounds *b, struct instance *in);
// What either of them asks for.
void bounds_merge(struct bounds *all, const struct bounds *more);
const char *bound_reason_text(enum bound_reason reason);
