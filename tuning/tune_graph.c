// Layouts stay those of the plan while its steps are tuned: a tuned step costs less, so they stay good.
#include "tuning/tune_graph.h"

#include "backends/costs/layout_policy.h"
#include "backends/costs/plan_choices.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include <string.h>

struct graph_tuning {
    const struct graph *graph;
    const uint8_t *layouts;
    struct arena arena;
    struct plan plan;
    struct plan_tuning *of_plan;   // NULL: there is no plan
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

static bool plan_graph(struct graph_tuning *t, struct backend *b, enum layout_policy policy)
{
    struct error ignored = {0};
    if (!find_layouts(b, t->graph, policy, &t->arena, &t->layouts))
        return false;
    struct plan_request request = backend_plan_request(b, t->graph, t->layouts, &t->arena);
    bool is_planned = plan_make(&t->plan, &request, &ignored);
    if (is_planned)
        backend_choose(b, &t->plan);   // which steps run as one
    return is_planned;
}

struct graph_tuning *graph_tuning_new(struct backend *b, const struct graph *g, enum layout_policy policy,
                                      const struct tuning_options *options)
{
    struct graph_tuning *t = mem_alloc_zero(sizeof *t);
    t->graph = g;
    if (plan_graph(t, b, policy))
        t->of_plan = plan_tuning_new(b, &t->plan, options);
    if (t->of_plan)
        return t;
    graph_tuning_free(t);
    return NULL;
}

struct plan_tuning *graph_tuning_of_plan(struct graph_tuning *t)
{
    return t->of_plan;
}

const struct plan *graph_tuning_plan(const struct graph_tuning *t)
{
    return &t->plan;
}

void graph_tuning_free(struct graph_tuning *t)
{
    if (t->of_plan)
        plan_tuning_free(t->of_plan);
    plan_free(&t->plan);
    arena_free(&t->arena);
    mem_free(t, sizeof *t);
}

bool graph_tuning_holds(const struct graph_tuning *t, struct backend *b, const struct graph *g,
                        enum layout_policy policy)
{
    ARENA(arena);
    const uint8_t *layouts = NULL, *own = t->layouts;
    return g == t->graph && find_layouts(b, g, policy, &arena, &layouts) && !layouts == !own &&
           (!own || memcmp(layouts, own, g->tensors.count) == 0);
}
