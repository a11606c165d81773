// The values that are tried for an attribute variable: all choices, all axes and permutations up to a rank, small
// integers for the rest.
#pragma once
#include "instances/equation.h"

// Which lists are tried for the attributes of windows (strides, pads, dilations, kernels).
enum domain_extent {
    DOMAIN_SOME,    // a few, which tell windows that are used alike on both sides from others
    DOMAIN_ALIKE,   // two for each number of axes, the same for all attributes
    DOMAIN_SMALL,   // all of a small range
};

struct domain {
    const struct attribute *attribute;   // that the variable stands for, where it first stands alone; NULL: nowhere
    bool is_whole;                       // all of the attribute, and not one entry of it
    size_t count;
    const struct attribute_value *values;
    uint32_t per_axis;    // of lists of windows: entries for each spatial axis; 0: no such list
    bool goes_together;   // with the others of this kind only values of one place, counted modulo 2, are to be tried
    bool goes_alone;      // of the others of this kind all but one are to have the first value of its length
    node_set nodes;       // the nodes that have the variable as a whole attribute
};
// The attribute that the variable stands for, where it first stands alone, and whether it is all of it. NULL: nowhere.
const struct attribute *domain_attribute(const struct pattern *p, uint32_t variable, bool *ret_is_whole);
// The domain of the attribute variable `variable` of `p`, for tensors of ranks up to max_rank. Allocated in `a`.
struct domain domain_of_variable(const struct pattern *p, uint32_t variable, int max_rank, enum domain_extent extent,
                                 struct arena *a);
int64_t largest_integer_of_term(const struct attribute_term *t);   // that stands in it; 0: none
