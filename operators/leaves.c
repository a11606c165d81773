// Nodes that are no computation known to the project: a graph's inputs, its weights, and nodes kept verbatim.
#include "operators/operator.h"

// The meaning of a leaf's index is up to the graph's owner (the importer numbers weights and opaque nodes).
#define INDEX_ATTRIBUTE                                                                                                \
    {                                                                                                                  \
        .name = "index", .kind = ATTRIBUTE_INT, .is_required = true                                                    \
    }

const struct operator operator_input = {
    .id = OP_INPUT,
    .name = "input",
    .summary = "an input of the graph",
    .flags = OPERATOR_IS_LEAF,
    .attributes = {INDEX_ATTRIBUTE},
};

const struct operator operator_weight = {
    .id = OP_WEIGHT,
    .name = "weight",
    .summary = "a tensor known before the graph runs",
    .flags = OPERATOR_IS_LEAF,
    .attributes = {INDEX_ATTRIBUTE},
};

const struct operator operator_opaque = {
    .id = OP_OPAQUE,
    .name = "opaque",
    .summary = "a node kept as it is: an operator that the project does not know",
    .min_inputs = 0,
    .max_inputs = VARIADIC,
    .flags = OPERATOR_IS_OPAQUE,
    .attributes = {INDEX_ATTRIBUTE},
};
