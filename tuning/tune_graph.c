// Layouts stay those of the plan while its steps are tuned: a tuned step costs less, so they stay good.
#include "tuning/tune_graph.h"

#include "backends/costs/layout_policy.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/text/error.h"

bool tune_graph(struct backend *b, const struct graph *g, enum layout_policy policy,
                const struct tuning_options *options, struct tuning_report *ret_report)
{
    struct arena arena;
    struct plan plan = {0};
    struct error ignored = {0};
    const uint8_t *layouts;
    enum layout_policy former = b->policy;
    arena_init(&arena);
    *ret_report = (struct tuning_report){0};
    b->policy = policy;
    bool is_planned = backend_find_layouts(b, g, &arena, &layouts, &ignored);
    if (is_planned) {
        struct plan_request request = backend_plan_request(b, g, layouts, &arena);
        is_planned = plan_make(&plan, &request, &ignored);
    }
    if (is_planned)
        tune_plan(b, &plan, options, ret_report);
    b->policy = former;
    for (size_t i = 0; i < ret_report->steps.count; i++)
        ret_report->steps.items[i].step = NULL;   // they go with the plan
    plan_free(&plan);
    arena_free(&arena);
    return is_planned;
}
