// The terms that substitutions with two outputs are made of (join.h): those of classes in which some term, a *target*,
// needs an input that another one does not; and the targets under all renamings, found by the pairs of operators in
// them.
//
// Terms of one class are in one *group* when rules of one output lead from each to each other: parts that are connected
// by steps in both directions, and equal sets of inputs.
#pragma once
#include "generator/reduce/minimal_equations.h"

struct two_outputs {
    struct key key;
    uint32_t class, leaves;
    uint8_t n_nodes;
    uint32_t nodes[MAX_OPS];   // numbers of the applications in the term, ascending
    uint64_t node_bits;        // of each number one bit
    bool is_target;            // needs an input that another term of its class does not
    uint32_t group;            // terms of one class, part and set of inputs: its first one in `terms`
    uint32_t next_in_group;    // how much further the group's next one stands; 0: this is the last
    uint32_t next_group;       // of a group's first term: how much further the class's next one stands; 0: the last
    uint32_t renamed_group;    // of a target: its group and renaming, numbered
    uint32_t renamed_class;    // of a target: its class and renaming, a number of `classes`
};
struct renamed_class {
    uint32_t class;
    uint8_t order[MAX_LEAVES];
};
struct node_pair {
    uint32_t a, b;
    VEC(uint32_t) targets;
};
struct two_outputs_terms {
    const struct family *family;
    struct reduction *r;
    VEC(struct two_outputs) terms;     // of the classes concerned, as they are
    VEC(struct two_outputs) targets;   // under all renamings
    VEC(uint32_t) first_term;          // of every class concerned
    VEC(uint32_t) groups;              // of each renamed group: its first target
    VEC(struct renamed_class) classes;
    VEC(struct key) nodes;   // of each application, its first byte zeroed: outputs of one node are one
    VEC(struct node_pair) pairs;
    struct table by_node, by_target, by_pair, by_group, by_class;
};
void two_outputs_terms_init(struct two_outputs_terms *j, struct reduction *r);   // finds them all
void two_outputs_terms_free(struct two_outputs_terms *j);
uint32_t two_outputs_end_of_class(const struct two_outputs_terms *j, uint32_t class);   // in `terms`
// Term number `term` of `terms`, renamed.
void two_outputs_rename(struct two_outputs_terms *j, uint32_t term, const uint8_t *order, struct two_outputs *ret_term);
#define JOINED_ANY UINT32_MAX
// The targets that hold both applications; their number. Of those with at most half of MAX_OPS operators also the ones
// that hold one application, which is then given twice, or (JOINED_ANY twice) all of them.
size_t two_outputs_targets_with(const struct two_outputs_terms *j, uint32_t a, uint32_t b,
                                const uint32_t **ret_targets);
// Nodes of two terms together; more than `limit`: limit + 1.
int two_outputs_count_nodes(const struct two_outputs *a, const struct two_outputs *b, int limit);
// At most `max_ops` nodes, and neither term is part of the other?
bool two_outputs_go_together(const struct two_outputs *a, const struct two_outputs *b, int max_ops);
