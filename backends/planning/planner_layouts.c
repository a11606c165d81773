// In which layouts a tensor may be written, and in which it is. Only tensors that stand between operators on images
// have layouts of images: those that such operators read and write, and what is made of them at the same places or with
// the same channels; and only matrices that a product reads have layouts of matrices.
#include "backends/planning/planner_layouts.h"

#include "backends/planning/planner.h"
#include "backends/planning/planner_parts.h"
#include "backends/planning/planner_state.h"
#include "core/memory/arena.h"
#include "core/memory/union_find.h"
#include <string.h>

// --- images ----------------------------------------------------------------------------------------------------------

// The same places, or the same channels of other places: a part of an image, or images side by side.
static bool hold_like_images(const struct type *a, const struct type *b)
{
    return a->rank == b->rank && a->rank >= 3 && a->dim[0] == b->dim[0] &&
           (a->dim[1] == b->dim[1] || memcmp(&a->dim[2], &b->dim[2], sizeof a->dim[0] * (size_t)(a->rank - 2)) == 0);
}

// Tensors of which one is made from the other at the same places are one set.
static void join_tensors(const struct planner *p, node_id id, tensor_id *sets)
{
    const struct node *n = &p->g->nodes.items[id];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        for (uint32_t k = 0; k < n->n_outputs; k++) {
            tensor_id x = graph_inputs(p->g, id)[i], z = n->first_output + k;
            if (hold_like_images(graph_type(p->g, x), graph_type(p->g, z)))
                union_find_join(sets, x, z);
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
    union_find_init(sets, (uint32_t)p->g->tensors.count);
    for (node_id id = 0; id < p->g->nodes.count; id++) {
        if (!live[id] || (p->g->nodes.items[id].op->flags & OPERATOR_IS_LEAF))
            continue;
        join_tensors(p, id, sets);
        mark_operands(p, id);
    }
    for (tensor_id t = 0; t < p->g->tensors.count; t++)
        has_image[union_find_root(sets, t)] |= p->tensors[t].is_image;
    for (tensor_id t = 0; t < p->g->tensors.count; t++)
        p->tensors[t].is_image = has_image[union_find_root(sets, t)];
}

// --- choices ---------------------------------------------------------------------------------------------------------

// Layouts of the mask that suit the type and differ from each other and from the standard, and the standard.
static unsigned distinct_layouts(unsigned mask, enum layout standard, const struct type *type)
{
    struct view kept[LAYOUT_COUNT];
    int n = 0;
    kept[n++] = view_dense(NO_MEMORY, type, standard);
    unsigned distinct = LAYOUT_BIT(standard);
    for (enum layout l = 0; l < LAYOUT_COUNT; l++) {
        if (l == standard || !(mask & LAYOUT_BIT(l)) || !layout_suits(l, type))
            continue;
        kept[n] = view_dense(NO_MEMORY, type, l);
        bool is_new = ALL(int, i, n, !view_stands_like(&kept[i], &kept[n]));
        n += is_new;
        distinct |= is_new ? LAYOUT_BIT(l) : 0;
    }
    return distinct;
}

static enum layout choose(struct planner *p, tensor_id t, unsigned mask, enum layout standard)
{
    const struct type *type = graph_type(p->g, t);
    mask |= LAYOUT_BIT(LAYOUT_ROWS);
    enum layout layout = (mask & LAYOUT_BIT(standard)) && layout_suits(standard, type) ? standard : LAYOUT_ROWS;
    if (p->tensors[t].is_constant || (mask & (mask - 1)) == 0)
        return layout;
    mask = distinct_layouts(mask, layout, type);
    if ((mask & (mask - 1)) == 0)
        return layout;
    enum layout wanted = p->layouts ? (enum layout)(p->layouts[t] & ~PLAN_APART) : LAYOUT_ANY;
    if (wanted != LAYOUT_ANY && (mask & LAYOUT_BIT(wanted)))
        layout = wanted;
    vec_push(&p->plan->choices, ((struct layout_choice){t, mask, layout}));
    return layout;
}

// When the first of its parts is about to be written.
static void open_whole(struct planner *p, struct tensor_whole *whole, enum layout standard)
{
    tensor_id z = whole->tensor;
    whole->is_open = true;
    whole->layout = choose(p, z, planner_layouts(p, p->g->tensors.items[z].producer), standard);
    whole->view = planner_allocate(p, graph_type(p->g, z), whole->layout);
    p->plan->memory.items[whole->view.memory].chooser = z;
    p->plan->memory.items[whole->view.memory].has_parts = true;
}

enum layout planner_choose(struct planner *p, tensor_id t, unsigned mask, enum layout standard)
{
    struct tensor_whole *whole = planner_whole_of(p, t);
    if (!whole)
        return choose(p, t, mask, standard);
    if (!whole->is_open)
        open_whole(p, whole, standard);
    return whole->layout;
}

struct view planner_allocate_chosen(struct planner *p, tensor_id t, const struct type *type, enum layout layout)
{
    const struct tensor_whole *whole = planner_whole_of(p, t);
    if (p->tensors[t].part && type->dtype == graph_type(p->g, t)->dtype)
        return planner_part(p, t);
    struct view v = planner_allocate(p, type, layout);
    p->plan->memory.items[v.memory].chooser = p->tensors[t].is_constant ? NO_TENSOR : whole ? whole->tensor : t;
    return v;
}
