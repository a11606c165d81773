// Layouts by the policy; the standard ones are what planning takes without any.
#include "backends/costs/layout_policy.h"

#include "backends/costs/step_cost.h"
#include "backends/layouts/choose_layouts.h"
#include "backends/layouts/layout.h"
#include "core/memory/arena.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include <string.h>

const char *const layout_policy_names[] = {"standard", "best", "plain", NULL};

bool backend_find_layouts(struct backend *b, const struct graph *g, struct arena *arena, const uint8_t **ret_layouts,
                          struct error *error)
{
    uint8_t *layouts = NULL;
    if (b->policy == LAYOUTS_BEST && b->target.layouts &&
        !layouts_find(b, backend_step_cost, g, arena, &layouts, NULL, error)) {
        if (!interrupt_requested())
            return false;
        layouts = NULL;
        *error = (struct error){0};
    }
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
