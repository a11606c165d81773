// What typing says of the sizes of a kind of instances, as linear equations.
#pragma once
#include "verifier/instances/equation.h"
#include "verifier/kinds/axis_forms.h"
#include "verifier/kinds/size_equations.h"

struct sizes_of_node {
    bool is_known;   // how many axes there are, too
    int rank;
    struct size_sum dim[MAX_RANK];
    uint32_t n_parts;   // of a split; 0: not known
    struct size_sum part[MAX_RULE_OUTPUTS];
    int axis;   // of a split or a join
    bool has_forms;
    uint32_t forms;   // learned of its definition
};
// Who asks sets the equation, the nodes, the arena, types, attributes and what was learned of operators.
struct kind {
    const struct equation *eq;
    node_set typed;   // the nodes that are well-typed in its instances
    struct arena *arena;
    int max_rank;
    struct type types[MAX_RULE_VARIABLES];
    const struct type *type_of[MAX_RULE_VARIABLES];
    struct attribute_value attributes[MAX_RULE_VARIABLES];
    uint32_t with_end;
    node_set repeating;                 // nodes of which is known which axes of size 1 are repeated
    uint32_t repeats[MAX_RULE_NODES];   // these, a bit for each axis of the input
    bool is_impossible;
    bool has_ends[MAX_RULE_VARIABLES];
    struct size_sum ends[MAX_RULE_VARIABLES][MAX_RANK];   // of shapes that are variables, the last size first
    struct size_sum sizes[MAX_RULE_VARIABLES][MAX_RANK];
    struct sizes_of_node nodes[MAX_RULE_NODES];
    struct size_equations equations;
    struct learned_forms *learned;
};

// May there be instances of it, for all that is known?
bool kind_may_have_instances(struct kind *k);
