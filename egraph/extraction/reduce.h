// Makes extraction problems smaller without losing a selection: classes that cannot be built or are not reached go; a
// class with one node is put into those who read it where that adds nothing; what every selection has is paid once and
// no longer read.
#pragma once
#include "egraph/extraction/problem.h"

struct reduction {
    struct extraction_problem problem;
    VEC(uint32_t) node_of;    // [nodes of `problem`] the original node
    VEC(uint32_t) class_of;   // [classes of `problem`] the original class
    uint32_t *single;         // [original classes] the node of one that was put away; EXTRACTION_NONE
    uint32_t n_original;
    double fixed_cost;   // of what every selection has and `problem` no longer counts
};
struct reduction_limits {
    const bool *is_dropped;   // [n_nodes] further nodes that may not be taken; NULL: none
    const uint32_t *needed;   // classes that are needed besides the roots
    uint32_t n_needed;
};

// False: there is no valid selection (under the limits), and nothing is to be freed.
bool reduction_make(const struct extraction_problem *p, const struct reduction_limits *limits,
                    struct reduction *ret_reduction);
// A selection of the original problem from one of `r->problem`. It still is to be settled.
void reduction_lift(const struct reduction *r, const uint32_t *choice, uint32_t *ret_original);
void reduction_free(struct reduction *r);
