// Copies of operands that do not stand in their part yet.
#include "backends/planning/planner_concat.h"

#include "backends/planning/loop_builder.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_parts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"

static bool is_same_place(const struct view *a, const struct view *b)
{
    return a->memory == b->memory && a->offset == b->offset && view_stands_like(a, b);
}

enum layout planner_layout_like_inputs(const struct planner *p, node_id node)
{
    const struct node *n = &p->g->nodes.items[node];
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        struct view v;
        if (planner_peek(p, graph_inputs(p->g, node)[i], &v) && v.rank >= 3 && !view_has_layout(&v, LAYOUT_ROWS) &&
            view_has_layout(&v, LAYOUT_CHANNELS_LAST))
            return LAYOUT_CHANNELS_LAST;
    }
    return LAYOUT_ROWS;
}

// The first step of a concatenation, or the next one.
static struct step *add_step_of_copies(struct planner *p, node_id node, const struct view *result, uint32_t *n_pieces)
{
    uint32_t piece = (*n_pieces)++;
    return piece ? planner_add_piece(p, node, result, piece) : planner_add_loops_step(p, node, result);
}

bool planner_claim_concat(struct planner *p, node_id node, enum layout standard, bool in_pieces)
{
    const struct node *n = &p->g->nodes.items[node];
    const tensor_id *inputs = graph_inputs(p->g, node);
    struct view views[PLANNER_MOST_CONCATENATED], places[PLANNER_MOST_CONCATENATED];
    int64_t start[MAX_RANK] = {0};
    uint32_t n_copies = 0, n_pieces = 0;
    if (n->n_inputs > PLANNER_MOST_CONCATENATED)
        return false;
    enum layout layout = planner_choose(p, n->first_output, planner_layouts_of_concat(p, node), standard);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        views[i] = planner_view(p, inputs[i], layout);
    struct view result = planner_allocate_chosen(p, n->first_output, graph_type(p->g, n->first_output), layout);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        places[n_copies] = view_part(&result, graph_type(p->g, inputs[i]), start);
        start[planner_concat_axis(p, node)] += views[i].dim[planner_concat_axis(p, node)];
        views[n_copies] = views[i];
        n_copies += view_elements(&views[i]) > 0 && !is_same_place(&views[i], &places[n_copies]);
    }
    if (n_copies == 0)
        planner_bind(p, n->first_output, &result, NO_STEP);
    struct step *step = NULL;
    for (uint32_t i = 0; i < n_copies; i++) {
        if (!step || in_pieces)
            step = add_step_of_copies(p, node, &result, &n_pieces);
        step->origin.n_pieces = in_pieces ? n_copies : 1;
        planner_add_copy(p, step, &views[i], &places[i]);
    }
    return true;
}
