// An extraction problem: an e-graph reduced to what extraction needs. Nodes have a cost and child classes, classes have
// nodes, and some classes are roots. A selection takes one node of each root and of each child of a node it takes,
// without a cycle; its cost is the sum over the nodes it takes, each counted once however often it is read.
//
//   struct extraction_problem p = {0};
//   uint32_t a = extraction_add_class(&p), b = extraction_add_class(&p);
//   extraction_add_node(&p, a, 0.0, 0, NULL);
//   extraction_add_node(&p, b, 1.5, 1, &a);
//   extraction_add_root(&p, b);
//   extraction_finish(&p);
#pragma once
#include "core/memory/vec.h"
#include <stdbool.h>
#include <stdint.h>

#define EXTRACTION_NONE UINT32_MAX

struct extraction_node {
    double cost;   // 0 to 1e100; INFINITY: may not be taken (a filtered node)
    uint32_t class_id;
    uint32_t first_child;   // in `children`; its children end where those of the next node begin
};
struct extraction_problem {
    VEC(struct extraction_node) nodes;   // by id; extraction_finish adds one more as an end mark
    VEC(uint32_t) children;              // classes; one may stand several times, or be the node's own
    VEC(uint32_t) roots;                 // classes
    VEC(uint32_t) first;                 // [n_classes + 1] where the nodes of a class begin in members
    VEC(uint32_t) members;               // [n_nodes] node ids by class, ascending within a class
    uint32_t n_nodes, n_classes;
};

uint32_t extraction_add_class(struct extraction_problem *p);
// The class must exist; children may be classes that are added later. The id is the number of nodes added before.
uint32_t extraction_add_node(struct extraction_problem *p, uint32_t class_id, double cost, uint32_t n_children,
                             const uint32_t *children);
void extraction_add_root(struct extraction_problem *p, uint32_t class_id);
void extraction_finish(struct extraction_problem *p);   // nothing is added afterwards; all else reads finished ones
void extraction_free(struct extraction_problem *p);     // as {0} again

static inline const uint32_t *extraction_children(const struct extraction_problem *p, uint32_t node)
{
    return p->children.items + p->nodes.items[node].first_child;
}
static inline uint32_t extraction_n_children(const struct extraction_problem *p, uint32_t node)
{
    return p->nodes.items[node + 1].first_child - p->nodes.items[node].first_child;
}

// A selection is an array `choice` of n_classes node ids, EXTRACTION_NONE where no node is taken.

// Forgets what the roots do not need, and gives the cost: the sum over the classes in ascending order, so that equal
// selections have equal costs. False, with `choice` as it was: a class that is needed has no node of its own, or a node
// that may not be taken, or the needed nodes have a cycle.
bool extraction_settle(const struct extraction_problem *p, uint32_t *choice, double *ret_cost);
