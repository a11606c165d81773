// All assignments of an equation's attribute variables, from their domains (domain.h), depth first.
#pragma once
#include "instances/domain.h"

struct attribute_walk {
    const struct equation *equation;
    int max_rank;
    enum domain_extent extent;
    struct arena *scratch;
    bool (*visit)(void *context, const struct attribute_value *attributes);   // all are bound. False: stop
    void *context;
};
// Every assignment at which one side may be well-typed: left out are those at which something of each side is ill-typed
// for all tensors, as lists of windows are that speak of different numbers of spatial axes. False when `visit` returned
// false.
bool enumerate_attributes(const struct attribute_walk *walk);
