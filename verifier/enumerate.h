// All instances of an equation within a box: a depth-first search over attribute values, then over the types of the
// variables, each node being typed as soon as its inputs are known, so that an ill-typed beginning is dropped at once.
#ifndef VERIFIER_ENUMERATE_H
#define VERIFIER_ENUMERATE_H
#include "verifier/domain.h"
#include "verifier/instance.h"

// Sizes from 1 to a bound for each axis of each variable at each rank.
struct box {
    int min_rank, max_rank;
    uint8_t bound[MAX_RULE_VARIABLES][MAX_RANK + 1][MAX_RANK];   // 0: no type of that rank
    bool has_split_trees;        // variables with split trees too: a cut at every place of one axis
    enum domain_extent extent;   // which values of the attributes of windows
    bool has_other_dtypes;       // bool and 64-bit integers too, not only f32
};
struct box box_uniform(int max_rank, int bound);

// Which sides must be well-typed for an instance to be visited.
enum wanted_sides { WANTED_LEFT = 1, WANTED_RIGHT = 2, WANTED_BOTH = 3 };

struct enumeration {
    const struct equation *equation;
    struct typing *typing;
    struct arena *scratch;
    const struct box *box;
    enum wanted_sides wanted;
    const struct attribute_value *attributes;   // of the attribute variables; NULL: all of their domains
    uint64_t step_limit;                        // types tried, over the whole enumeration
    // Called with every node typed (NULL: ill-typed). False: stop.
    bool (*visit)(void *context, struct instance *in);
    void *context;
    // results
    uint64_t steps, instances;
    bool was_cut_short;   // the limit was reached
};
// Every assignment of the attribute variables' domains; false when `visit` returned false.
bool enumerate_attributes(const struct equation *eq, int max_rank, enum domain_extent extent, struct arena *scratch,
                          bool (*visit)(void *context, const struct attribute_value *attributes), void *context);
// False when the visitor stopped it.
bool enumerate_instances(struct enumeration *e);
#endif
