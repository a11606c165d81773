// The place where two models that are not found to be equal begin to differ.
#pragma once
#include "compare/common_graph.h"

// The first layer of a model that makes what the other has not, of what both have; NO_NODE: there is none. Where its
// tensor has no name, the name is that of the next one that has; NULL: none has.
struct first_difference {
    node_id layer;
    const char *name;
};
struct first_difference common_graph_find_difference(const struct common_graph *c, const struct shared_classes *shared,
                                                     int side);
