// The form of a problem that is being reduced: nodes with their own sorted lists of children, which may die.
#pragma once
#include "core/memory/arena.h"
#include "egraph/extraction/problem.h"

struct draft_node {
    double cost;
    uint32_t class_id, n_children;
    const uint32_t *children;   // ascending, each once
    bool is_alive;
};
struct draft {
    const struct extraction_problem *origin;
    struct arena arena;         // of all that follows, and of lists of children
    struct draft_node *nodes;   // by the origin's ids
    uint32_t *n_alive;          // [n_classes] nodes of the class
    uint32_t *single;           // [n_classes] the node of a class that was put into its readers; EXTRACTION_NONE
    bool *is_needed;            // [n_classes] every selection has this class
    double fixed_cost;
    bool has_changed;
};

void draft_init(struct draft *d, const struct extraction_problem *origin);
void draft_free(struct draft *d);
bool draft_has_child(const struct draft_node *n, uint32_t class_id);
void draft_kill(struct draft *d, uint32_t node);
// Replaces one child by the children of `by` (EXTRACTION_NONE: by nothing). A node that so reads its own class dies.
void draft_replace_child(struct draft *d, uint32_t node, uint32_t child, uint32_t by);
// The living nodes as a problem, with the needed classes as roots. Class ids become dense: ret_class_of and ret_node_of
// are the original ids (n_classes and n_nodes items at most).
void draft_compile(const struct draft *d, struct extraction_problem *ret_problem, uint32_t *ret_class_of,
                   uint32_t *ret_node_of);

// The living nodes that read each class: those of class c stand from first[c] to first[c + 1].
struct draft_readers {
    uint32_t *first, *list;
};
struct draft_readers draft_list_readers(const struct draft *d, struct arena *arena);

#define DRAFT_EACH_MEMBER(d, class_id, node)                                                                           \
    for (const uint32_t *node = (d)->origin->members.items + (d)->origin->first.items[class_id];                       \
         node < (d)->origin->members.items + (d)->origin->first.items[(class_id) + 1]; node++)                         \
        if ((d)->nodes[*node].is_alive)
