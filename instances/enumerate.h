// All instances of an equation within a box: for each assignment of the attributes the relations of the nodes
// (relation.h) are joined by a depth-first search, the smallest ones first, and every other node is typed as soon as
// its inputs are known.
#pragma once
#include "instances/assignment.h"
#include "instances/instance.h"
#include "instances/size_ranges.h"

// Which sides must be well-typed for an instance to be visited.
enum wanted_sides { WANTED_LEFT = 1, WANTED_RIGHT = 2, WANTED_BOTH = 3 };

struct enumeration {
    const struct equation *equation;
    struct typing *typing;
    struct arena *scratch;
    const struct box *box;
    enum wanted_sides wanted;
    const struct attribute_value *attributes;   // of the attribute variables; NULL: all of their domains
    uint64_t step_limit;                        // rows and types tried, over the whole enumeration
    // Called with every node typed (NULL: ill-typed). False: stop.
    bool (*visit)(void *context, struct instance *in);
    void *context;
    // results
    uint64_t steps, instances;
    bool was_cut_short;   // the limit was reached
};
// The nodes that are well-typed in every instance that is visited.
node_set enumerate_required_nodes(const struct equation *eq, enum wanted_sides wanted);
// Every assignment of the attribute variables' domains at which one side may be well-typed. False when `visit` of the
// walk returned false.
bool enumerate_attributes(const struct attribute_walk *walk);
// False when the visitor stopped it.
bool enumerate_instances(struct enumeration *e);
