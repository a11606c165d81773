// Words that tell what something is: equal things have equal words.
#pragma once
#include "graph/graph.h"

struct words {
    VEC(int64_t) list;
};
void words_add(struct words *w, uint32_t n, const int64_t *numbers);
void words_add_type(struct words *w, const struct type *t);
void words_add_operation(struct words *w, const struct node *n);                    // the operator and its attributes
void words_add_application(struct words *w, const struct graph *g, node_id node);   // and the types of its inputs
