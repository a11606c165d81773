// The cost of a graph on a device: it is planned, and its steps are added up.
#include "backends/costs/graph_cost.h"

#include "backends/costs/layout_policy.h"
#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "backends/layouts/choose_layouts.h"
#include "backends/planning/plan_text.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <stdlib.h>
#include <string.h>

static bool make_plan(struct backend *b, const struct graph *g, const uint8_t *layouts, struct arena *arena,
                      struct plan *ret_plan, struct error *error)
{
    struct plan_request request = backend_plan_request(b, g, layouts, arena);
    return plan_make(ret_plan, &request, error);
}

bool backend_estimate_with(struct backend *b, const struct graph *g, const uint8_t *layouts,
                           struct estimate *ret_estimate, struct error *error)
{
    ARENA_MARK(mark, b->scratch);
    struct plan plan = {0};
    struct estimate sum = {0};
    bool is_done = make_plan(b, g, layouts, b->scratch, &plan, error) && backend_choose_priced(b, &plan, &sum, error);
    if (is_done)
        *ret_estimate = sum;
    plan_free(&plan);
    return is_done;
}

// Layouts are found step by step; chains are joined in the plan.
static bool estimate_best_layouts(struct backend *b, const struct graph *g, struct estimate *ret_estimate,
                                  struct error *error)
{
    uint8_t *best;
    struct estimate chosen;
    if (!layouts_find(b, backend_step_cost, g, NULL, b->scratch, &best, ret_estimate, error))
        return false;
    if (!b->target.chain)
        return true;
    if (!backend_estimate_with(b, g, best, &chosen, error))
        return false;
    ret_estimate->seconds = chosen.seconds;
    return true;
}

bool backend_estimate(struct backend *b, const struct graph *g, struct estimate *ret_estimate, struct error *error)
{
    ARENA_MARK(mark, b->scratch);
    const uint8_t *layouts;
    bool is_done, is_searched = b->policy == LAYOUTS_BEST && b->target.layouts;
    if (is_searched)
        is_done = estimate_best_layouts(b, g, ret_estimate, error);
    else
        is_done = backend_find_layouts(b, g, b->scratch, &layouts, error) &&
                  backend_estimate_with(b, g, layouts, ret_estimate, error);
    return is_done;
}

// The plans that are priced first, which have most of what is measured.
void backend_expect(struct backend *b, const struct graph *g)
{
    ARENA_MARK(mark, b->scratch);
    struct error ignored = {0};
    uint8_t *layouts = arena_array(b->scratch, uint8_t, g->tensors.count + 1);
    int first = b->policy == LAYOUTS_STANDARD ? LAYOUT_ANY : 0, last = b->policy == LAYOUTS_PLAIN ? first : LAYOUT_ANY;
    for (int l = first; l <= last; l++) {
        struct plan plan FREED_BY(plan_free) = {0};
        memset(layouts, l, g->tensors.count);
        if (make_plan(b, g, layouts, b->scratch, &plan, &ignored))
            backend_expect_steps(b, &plan);
    }
}

// A plan with its layouts by the policy, and the memory of both.
struct planned {
    struct arena arena;
    struct plan plan;
};

static bool planned_make(struct planned *ret_planned, struct backend *b, const struct graph *g, struct error *error)
{
    const uint8_t *layouts;
    *ret_planned = (struct planned){0};
    return backend_find_layouts(b, g, &ret_planned->arena, &layouts, error) &&
           make_plan(b, g, layouts, &ret_planned->arena, &ret_planned->plan, error);
}

static void planned_free(struct planned *p)
{
    plan_free(&p->plan);
    arena_free(&p->arena);
}

// Steps whose costs are not known are measured.
static bool planned_choose(struct planned *p, struct backend *b, struct error *error)
{
    struct estimate ignored = {0};
    return backend_choose_priced(b, &p->plan, &ignored, error);
}

bool backend_visit_steps(struct backend *b, const struct graph *g, visit_step_fn *visit, void *context,
                         struct error *error)
{
    struct planned p FREED_BY(planned_free);
    bool is_done = planned_make(&p, b, g, error) && planned_choose(&p, b, error);
    for (size_t i = 0; is_done && i < p.plan.steps.count; i++) {
        struct step_cost cost;
        if (p.plan.steps.items[i].is_constant)
            continue;
        is_done = backend_step_cost(b, &p.plan, &p.plan.steps.items[i], &cost, error);
        if (is_done)
            visit(context, &p.plan, &p.plan.steps.items[i], &cost);
    }
    return is_done;
}

bool backend_hash_plan(struct backend *b, const struct graph *g, uint64_t *ret_hash, struct error *error)
{
    struct planned p FREED_BY(planned_free);
    struct words words = {0};
    bool is_done = planned_make(&p, b, g, error);
    *ret_hash = 0;
    if (is_done)
        backend_choose(b, &p.plan);
    for (size_t i = 0; is_done && i < p.plan.steps.count; i++) {
        const struct step *step = &p.plan.steps.items[i];
        step_encode(&p.plan, step, &words);
        *ret_hash = hash_bytes(words.list.items, words.list.count * sizeof *words.list.items, *ret_hash);
        *ret_hash = hash_mix(*ret_hash, step->way.choice ? hash_string(step->way.choice) : 0);
    }
    vec_free(&words.list);
    return is_done;
}

// --- explaining ------------------------------------------------------------------------------------------------------

struct priced_step {
    const struct step *step;
    struct step_cost cost;
};

COMPARISON(compare_prices, struct priced_step, ORDER(y->cost.seconds, x->cost.seconds) ?: ORDER(x->step, y->step))

bool backend_explain(struct backend *b, const struct graph *g, bool only_guesses, struct text *out, struct error *error)
{
    struct planned p FREED_BY(planned_free);
    bool is_done = planned_make(&p, b, g, error) && planned_choose(&p, b, error);
    struct priced_step *priced = is_done ? arena_array(&p.arena, struct priced_step, p.plan.steps.count + 1) : NULL;
    size_t n = 0;
    for (size_t i = 0; is_done && i < p.plan.steps.count; i++) {
        if (p.plan.steps.items[i].is_constant)
            continue;
        priced[n].step = &p.plan.steps.items[i];
        is_done = backend_step_cost(b, &p.plan, priced[n].step, &priced[n].cost, error);
        n += !only_guesses || priced[n].cost.is_guessed;
    }
    if (is_done && n)
        qsort(priced, n, sizeof *priced, compare_prices);
    for (size_t i = 0; is_done && i < n; i++) {
        text_printf(out, "%10.2f us ", priced[i].cost.seconds * 1e6);
        if (priced[i].cost.is_guessed)
            text_add(out, "guessed ");
        else
            text_printf(out, "%5.1f%%  ", priced[i].cost.spread * 100);
        step_print_line(out, &p.plan, priced[i].step);
    }
    return is_done;
}
