// The values that are tried for an attribute variable: all choices, all axes and permutations up to a rank, small
// integers for the rest.
#ifndef VERIFIER_DOMAIN_H
#define VERIFIER_DOMAIN_H
#include "verifier/equation.h"

struct arena;

// Which lists are tried for the attributes of windows (strides, pads, dilations, kernels).
enum domain_extent {
    DOMAIN_SOME,       // a few, for windows that are used alike on both sides, where one would do
    DOMAIN_ONE_AXIS,   // all for one spatial axis, a few for two: spatial axes do not meet
    DOMAIN_ALL,
};

struct domain {
    size_t count;
    const struct attribute_value *values;
    uint32_t per_axis;   // of lists of windows: entries for each spatial axis; 0: no such list
    uint32_t nodes;      // one bit for each node that has the variable as a whole attribute
    bool is_complete;    // no other value can matter at the ranks considered (axes, permutations, choices)
};
// Of the attribute variable `variable` of `p`, for tensors of ranks up to max_rank. Allocated in `a`.
struct domain domain_of_variable(const struct pattern *p, uint32_t variable, int max_rank, enum domain_extent extent,
                                 struct arena *a);
#endif
