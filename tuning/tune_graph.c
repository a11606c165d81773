// Layouts stay those of the plan while its steps are tuned: a tuned step costs less, so they stay good.
#include "tuning/tune_graph.h"

#include "backends/costs/layout_policy.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include <string.h>

struct planned {
    const struct graph *graph;
    const uint8_t *layouts;
    struct arena arena;
    struct plan plan;
};
struct graph_tuning {
    struct planned planned;
    struct plan_tuning *of_plan;
};

static bool find_layouts(struct backend *b, const struct graph *g, enum layout_policy policy, struct arena *arena,
                         const uint8_t **ret_layouts)
{
    struct error ignored = {0};
    enum layout_policy former = b->policy;
    b->policy = policy;
    bool is_found = backend_find_layouts(b, g, arena, ret_layouts, &ignored);
    b->policy = former;
    return is_found;
}

static bool plan_graph(struct planned *ret, struct backend *b, const struct graph *g, enum layout_policy policy)
{
    struct error ignored = {0};
    *ret = (struct planned){.graph = g};
    if (!find_layouts(b, g, policy, &ret->arena, &ret->layouts))
        return false;
    struct plan_request request = backend_plan_request(b, g, ret->layouts, &ret->arena);
    return plan_make(&ret->plan, &request, &ignored);
}

static void forget_plan(struct planned *p)
{
    plan_free(&p->plan);
    arena_free(&p->arena);
}

bool tune_graph(struct backend *b, const struct graph *g, enum layout_policy policy,
                const struct tuning_options *options, struct tuning_report *ret_report)
{
    struct planned planned;
    *ret_report = (struct tuning_report){0};
    bool is_planned = plan_graph(&planned, b, g, policy);
    if (is_planned)
        tune_plan(b, &planned.plan, options, ret_report);
    for (size_t i = 0; i < ret_report->steps.count; i++)
        ret_report->steps.items[i].step = NULL;   // they go with the plan
    forget_plan(&planned);
    return is_planned;
}

struct graph_tuning *graph_tuning_new(struct backend *b, const struct graph *g, enum layout_policy policy,
                                      const struct tuning_options *options)
{
    struct graph_tuning *t = mem_alloc_zero(sizeof *t);
    if (plan_graph(&t->planned, b, g, policy))
        t->of_plan = plan_tuning_new(b, &t->planned.plan, options);
    else
        forget_plan(&t->planned);
    if (t->of_plan)
        return t;
    mem_free(t, sizeof *t);
    return NULL;
}

struct plan_tuning *graph_tuning_of_plan(struct graph_tuning *t)
{
    return t->of_plan;
}

void graph_tuning_free(struct graph_tuning *t)
{
    plan_tuning_free(t->of_plan);
    forget_plan(&t->planned);
    mem_free(t, sizeof *t);
}

bool graph_tuning_holds(const struct graph_tuning *t, struct backend *b, const struct graph *g,
                        enum layout_policy policy)
{
    ARENA(arena);
    const uint8_t *layouts = NULL, *own = t->planned.layouts;
    return g == t->planned.graph && find_layouts(b, g, policy, &arena, &layouts) && !layouts == !own &&
           (!own || memcmp(layouts, own, g->tensors.count) == 0);
}
