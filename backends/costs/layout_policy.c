// Layouts by the policy; the standard ones are what planning takes without any.
#include "backends/costs/layout_policy.h"

#include "backends/costs/step_cost.h"
#include "backends/layouts/choose_layouts.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include <string.h>

const char *const layout_policy_names[] = {"standard", "best", "plain", "tuned", NULL};

// Layouts are chosen by costs.
static bool solve(struct backend *b, const struct graph *g, const uint8_t *apart, struct arena *arena,
                  uint8_t **ret_layouts, struct error *error)
{
    *ret_layouts = NULL;
    return !b->target.layouts || layouts_find(b, backend_step_cost, g, apart, arena, ret_layouts, NULL, error);
}

// A tensor that is stored only because it is apart stands as its reader's result does.
static void lay_out_apart(const struct graph *g, uint8_t *layouts)
{
    for (node_id i = (node_id)g->nodes.count; i-- > 0;) {
        const struct node *n = &g->nodes.items[i];
        const uint8_t *z = &layouts[n->first_output];
        for (uint32_t k = 0; k < n->n_inputs; k++) {
            tensor_id t = graph_inputs(g, i)[k];
            if (layouts[t] == (PLAN_APART | LAYOUT_ANY) && (*z & ~PLAN_APART) != LAYOUT_ANY &&
                type_equal(graph_type(g, t), graph_type(g, n->first_output)))
                layouts[t] = PLAN_APART | (*z & ~PLAN_APART);
        }
    }
}

// The best layouts with what tuning decided of some tensors.
static bool find_tuned(struct backend *b, const struct graph *g, struct arena *arena, const uint8_t **ret_layouts,
                       struct error *error)
{
    uint8_t *layouts = arena_array(arena, uint8_t, g->tensors.count + 1), *best;
    memset(layouts, LAYOUT_ANY, g->tensors.count);
    bool is_solved_anew = b->tuned->decide(b->tuned->context, g, layouts);
    if (!solve(b, g, is_solved_anew ? layouts : NULL, arena, &best, error))
        return false;
    for (size_t t = 0; best && t < g->tensors.count; t++)
        if ((layouts[t] & ~PLAN_APART) == LAYOUT_ANY)
            layouts[t] = (layouts[t] & PLAN_APART) | (best[t] & ~PLAN_APART);
    lay_out_apart(g, layouts);
    *ret_layouts = layouts;
    return true;
}

bool backend_find_layouts(struct backend *b, const struct graph *g, struct arena *arena, const uint8_t **ret_layouts,
                          struct error *error)
{
    uint8_t *layouts = NULL;
    if (b->policy == LAYOUTS_TUNED && b->tuned)
        return find_tuned(b, g, arena, ret_layouts, error);
    if ((b->policy == LAYOUTS_BEST || b->policy == LAYOUTS_TUNED) && !solve(b, g, NULL, arena, &layouts, error))
        return false;
    if (b->policy == LAYOUTS_PLAIN) {
        layouts = arena_array(arena, uint8_t, g->tensors.count + 1);
        memset(layouts, LAYOUT_ROWS, g->tensors.count);
    }
    *ret_layouts = layouts;
    return true;
}

struct plan_request backend_plan_request(const struct backend *b, const struct graph *g, const uint8_t *layouts,
                                         struct arena *arena)
{
    return (struct plan_request){g, &b->target, b->codes, layouts, arena};
}
