// Instances of an equation within a box, at one assignment of its attributes: types are tried for one variable after
// another, depth first, and every node is typed as soon as its inputs are known.
#pragma once
#include "instances/assignment.h"
#include "instances/instance.h"
#include "instances/size_ranges.h"

struct enumeration {
    const struct equation *equation;
    struct typing *typing;
    struct arena *scratch;
    const struct box *box;
    enum wanted_sides wanted;                   // must be well-typed
    const struct attribute_value *attributes;   // of the attribute variables
    uint64_t step_limit;                        // types tried
    struct random *random;   // types are tried in an order that it draws, f32 first; NULL: small ones first
    // Called with every node typed (NULL: ill-typed). False: stop.
    bool (*visit)(void *context, struct instance *in);
    void *context;
    // results
    uint64_t steps, instances;
    bool was_cut_short;   // the limit was reached
};
// False when the visitor stopped it.
bool enumerate_instances(struct enumeration *e);
