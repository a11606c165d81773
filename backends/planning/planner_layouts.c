// In which layouts a tensor may be written, and in which it is.
#include "backends/planning/planner_layouts.h"

#include "backends/planning/planner.h"
#include "backends/planning/planner_parts.h"
#include "backends/planning/planner_state.h"

static bool are_alike(const struct view *a, const struct view *b)
{
    for (int i = 0; i < a->rank; i++)
        if (a->dim[i] != 1 && a->stride[i] != b->stride[i])
            return false;
    return a->block == b->block;
}

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
        bool is_new = true;
        for (int i = 0; i < n && is_new; i++)
            is_new = !are_alike(&kept[i], &kept[n]);
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
