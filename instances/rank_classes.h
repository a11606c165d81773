// Which tensors of a pattern have one rank, by operators that keep it (OPERATOR_KEEPS_RANK), and which ranks lists of
// attributes leave them: an assignment of attributes that asks a window of two axes of an image with one is
// ill-typed for all tensors, and known to be so before any tensor is tried.
#pragma once
#include "instances/equation.h"

#define MAX_RANK_CLASSES (MAX_RULE_NODES + MAX_RULE_VARIABLES)

// Classes of terms that have one rank, where the nodes of one set must all be well-typed.
struct rank_classes {
    node_set nodes;
    uint8_t class_of_node[MAX_RULE_NODES], class_of_variable[MAX_RULE_VARIABLES];
};
// The ranks that are left to each class: bit n stands for rank n.
struct ranks_left {
    uint16_t of_class[MAX_RANK_CLASSES];
};
void rank_classes_make(struct rank_classes *ret_classes, struct ranks_left *ret_left, const struct pattern *p,
                       node_set nodes);
// Nodes of `nodes` that are in the set have lists of windows for `axes` spatial axes.
void ranks_left_restrict(struct ranks_left *left, const struct rank_classes *classes, node_set nodes, uint32_t axes);
// Restricts ranks as the node's lists of windows ask, with these attributes.
void ranks_left_restrict_node(struct ranks_left *left, const struct rank_classes *classes, const struct pattern *p,
                              uint32_t node, const struct attribute_value *attributes);
// False: some class has no rank left, so that some node of the set is ill-typed.
bool ranks_left_are_any(const struct ranks_left *left, const struct rank_classes *classes);
