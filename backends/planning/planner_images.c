// Which tensors stand between operators on images: those that such operators read and write, and what is made of them
// at the same places or with the same channels. Only these have layouts of images; and only matrices that a product
// reads have layouts of matrices.
#include "backends/planning/planner_images.h"

#include "core/memory/arena.h"
#include <string.h>

// Tensors of which one is made from the other at the same places, as sets: each knows another one of its set, or
// itself.
static tensor_id first_of_set(tensor_id *sets, tensor_id t)
{
    while (sets[t] != t)
        t = sets[t] = sets[sets[t]];
    return t;
}

// The same places, or the same channels of other places: a part of an image, or images side by side.
static bool are_alike(const struct type *a, const struct type *b)
{
    if (a->rank != b->rank || a->rank < 3 || a->dim[0] != b->dim[0])
        return false;
    return a->dim[1] == b->dim[1] || memcmp(&a->dim[2], &b->dim[2], sizeof a->dim[0] * (size_t)(a->rank - 2)) == 0;
}

static void join_tensors(const struct planner *p, node_id id, tensor_id *sets)
{
    const struct node *n = &p->g->nodes.items[id];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            tensor_id x = graph_inputs(p->g, id)[i], z = n->first_output + k;
            if (are_alike(graph_type(p->g, x), graph_type(p->g, z)))
                sets[first_of_set(sets, x)] = first_of_set(sets, z);
        }
}

static void mark_operands(struct planner *p, node_id id)
{
    const struct node *n = &p->g->nodes.items[id];
    unsigned mask = p->target->layouts->of_operator[n->op->id];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (mask & LAYOUT_BIT(LAYOUT_COLUMNS))
            p->tensors[graph_inputs(p->g, id)[i]].is_matrix = true;
    if (mask & LAYOUT_BIT(LAYOUT_CHANNELS_LAST))
        p->tensors[n->first_output].is_image = p->tensors[graph_inputs(p->g, id)[0]].is_image = true;
}

void planner_mark_images(struct planner *p, const bool *live)
{
    if (!p->target->layouts)
        return;
    tensor_id *sets = arena_array(p->arena, tensor_id, p->g->tensors.count + 1);
    bool *has_image = arena_array(p->arena, bool, p->g->tensors.count + 1);
    for (tensor_id t = 0; t < p->g->tensors.count; t++)
        sets[t] = t;
    for (node_id id = 0; id < p->g->nodes.count; id++) {
        if (!live[id] || (p->g->nodes.items[id].op->flags & OPERATOR_IS_LEAF))
            continue;
        join_tensors(p, id, sets);
        mark_operands(p, id);
    }
    for (tensor_id t = 0; t < p->g->tensors.count; t++)
        has_image[first_of_set(sets, t)] |= p->tensors[t].is_image;
    for (tensor_id t = 0; t < p->g->tensors.count; t++)
        p->tensors[t].is_image = has_image[first_of_set(sets, t)];
}
