// All assignments of an equation's attribute variables, from their domains (domain.h), depth first: who has something
// to share between assignments that begin alike is told of each variable that is bound.
#pragma once
#include "instances/domain.h"

struct attribute_walk {
    const struct equation *equation;
    int max_rank;
    enum domain_extent extent;
    struct arena *scratch;
    // `depth` variables of the order are bound; the others are undefined. False: no assignment begins like this.
    // NULL: nobody asks. Whatever `begin` gave, `end` follows.
    bool (*begin)(void *context, const struct attribute_value *values, uint32_t depth);
    void (*end)(void *context, uint32_t depth);
    bool (*visit)(void *context, const struct attribute_value *attributes);   // all are bound. False: stop
    void *context;
};
// Which variable is bound when: a permutation of all of them.
struct assignment_order {
    uint32_t n, variables[MAX_RULE_VARIABLES];
};
struct assignment_order assignment_order_by_number(const struct pattern *p);
// Those of nodes that others read first.
struct assignment_order assignment_order_by_node(const struct pattern *p);
// Left out are assignments at which something of each set of nodes is ill-typed for all tensors, as lists of windows
// are that speak of different numbers of spatial axes. False when `visit` returned false.
bool assignment_visit_all(const struct attribute_walk *walk, uint32_t n_sets, const node_set *sets,
                          const struct assignment_order *order);
