// A small graph, and the composition of what its nodes compute.
#include "optimizer/derive/part.h"

#include "core/memory/arena.h"
#include "graph/compose.h"

void part_init(struct part *p, struct arena *a)
{
    *p = (struct part){0};
    graph_init(&p->graph, a);
}

void part_free(struct part *p)
{
    graph_free(&p->graph);
}

tensor_id part_add_leaf(struct part *p, const struct type *type, bool is_weight)
{
    p->leaves[p->n_leaves] = *type;
    p->weights |= (uint32_t)is_weight << p->n_leaves;
    return graph_add_leaf(&p->graph, operators[OP_INPUT], p->n_leaves++, type);
}

bool part_define(const struct part *p, struct arena *a, struct definition *ret_definition)
{
    struct composition all FREED_BY(composition_free);
    LOCAL_ARRAY(int, tensors, p->graph.tensors.count + 1);
    composition_init(&all, a, p->n_leaves, p->leaves);
    all.pool.keeps_conditions = true;
    bool is_composed = graph_compose(&p->graph, &all, tensors);
    if (is_composed)
        composition_extract(&all, tensors[p->result], ret_definition);
    return is_composed;
}
