// Every tensor that graphs of one family below the largest size compute, once each: a node is an application of an
// instance to tensors, hash-consed by construction, evaluated once, and known by its value's fingerprint.
//
// The *closure* of a tensor is the set of nodes that it needs; its *level* is the size of that set. All tensors of
// levels 0 (the leaves) to max_ops - 1 are stored; those of the last level are only visited (classes.h).
//
//     tensors  | leaves ... | of level 1 ... | of level 2 ... | ...          numbers ascend with levels
//     nodes    |              level 1 ...    | level 2 ...    | ...
//
// Two tensors of equal value never stand in one graph: a node one of whose outputs has the value of a leaf, of another
// tensor of its closure or of its other output is *final*: it is a term (and so may be half of a substitution), but
// nothing is built on it; and closures with a value in common are not joined. Final is a node without inputs too: what
// only constants make is a constant.
//
// The *support* of a value is the set of inputs that it depends on: those that all terms of this value need, as a term
// with x - x in it stands there with y - y too.
#pragma once
#include "core/memory/key_set.h"
#include "generator/enumerate/family_types.h"

#define NO_TENSOR UINT32_MAX
#define NO_NODE UINT32_MAX

struct tensor {
    const struct gen_type *type;
    const uint64_t *data;
    struct hash128 fingerprint;
    uint32_t value;     // tensors of equal value have one number
    uint32_t node;      // NO_NODE: a leaf
    uint32_t leaves;    // set of the leaves that it needs
    uint32_t support;   // of its value: a subset of these leaves
    uint8_t output, level;
    bool is_final, repeats_input;   // an input stands in its term twice
};
struct node {
    uint32_t first_tensor;
    uint32_t arguments[2];       // NO_TENSOR: none
    uint32_t closure[MAX_OPS];   // ascending; closure[level - 1] is the node itself
    uint16_t instance;
    uint8_t n_outputs, level;
};
// The nodes that stand on one ground, ascending. The ground of nodes of levels up to max_ops - 2 is their closures but
// for themselves.
typedef VEC(uint32_t) nodes_above;
struct tensor_store {
    struct family_types *family_types;
    const struct family *family;
    int max_ops;
    VEC(struct tensor) tensors;
    VEC(struct node) nodes;
    uint32_t first_tensor[MAX_OPS + 1];   // of each level; [level + 1] ends it
    uint32_t first_node[MAX_OPS + 2];
    VEC(nodes_above) grounds;   // by the number of the ground's key, its nodes
    struct key_set by_ground;
    struct table by_value;
    VEC(uint32_t) supports;   // of each value
    struct arena data;
};

// An application that may be a node: arguments[1] is NO_TENSOR for one argument.
struct combination {
    uint32_t instance, arguments[2];
    const struct signature *signature;
    const struct applications *all;   // to these arguments: visited one after the other, this one ...
    uint32_t place;                   // ... at this place
};
typedef void combination_fn(void *context, const struct combination *c);

void tensor_store_init(struct tensor_store *s, struct family_types *u, int max_ops);   // levels 0 .. max_ops - 1
void tensor_store_free(struct tensor_store *s);
// Visits every well-typed application of level `level` whose larger argument (by level, then by number) is `tensor`.
// Each application of the level is visited for exactly one tensor. Allowed for levels up to max_ops. Of level max_ops
// only those whose arguments' supports together are first (inputs.h): the others are renamings of these.
void tensor_store_visit(const struct tensor_store *s, struct lookup *l, int level, uint32_t tensor,
                        combination_fn *visit, void *context);
// The set of inputs that the values of an application's arguments depend on.
uint32_t tensor_store_support_of(const struct tensor_store *s, const uint32_t *arguments);
// Does every application with one output depend on them too? False: maybe not, as they stand there more than once.
bool tensor_store_keeps_support(const struct tensor_store *s, const uint32_t *arguments);
// The nodes below an application, ascending; returns their number, at most MAX_OPS - 1.
int tensor_store_closure_of(const struct tensor_store *s, const uint32_t *arguments, uint32_t *ret_nodes);
