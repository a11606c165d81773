// Words that tell what something is.
#include "backends/instructions/words.h"

void words_add(struct words *w, uint32_t n, const int64_t *numbers)
{
    for (uint32_t i = 0; i < n; i++)
        vec_push(&w->list, numbers[i]);
}

void words_add_type(struct words *w, const struct type *t)
{
    vec_push(&w->list, t->dtype << 8 | t->rank);
    words_add(w, (uint32_t)t->rank, t->dim);
}

void words_add_operation(struct words *w, const struct node *n)
{
    vec_push(&w->list, n->op->id);
    for (int i = 0; i < operator_n_attributes(n->op); i++) {
        vec_push(&w->list, n->attributes[i].count);
        words_add(w, n->attributes[i].count, n->attributes[i].ints);
    }
}

void words_add_application(struct words *w, const struct graph *g, node_id node)
{
    words_add_operation(w, &g->nodes.items[node]);
    for (uint32_t i = 0; i < g->nodes.items[node].n_inputs; i++)
        words_add_type(w, graph_type(g, graph_inputs(g, node)[i]));
}
