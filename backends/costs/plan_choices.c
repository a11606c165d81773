// Steps choose one by one, by their prices (costs/step_cost.h).
#include "backends/costs/plan_choices.h"

#include "backends/costs/chains.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/step_key.h"
#include "backends/planning/plan_text.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <string.h>

static const struct step_cost *least_price(const struct backend *b, const struct step_prices *p)
{
    return &p->of[step_prices_prefer_inexact(b, p) ? PRECISION_INEXACT : PRECISION_EXACT];
}

static void set_choice(struct step *step, struct arena *arena, const struct step_cost *cost)
{
    bool is_known = cost && !cost->is_guessed;
    step->way.choice = is_known ? arena_string(arena, cost->choice) : "";
    step->way.error = is_known ? cost->error : 0;
}

static void add_to_estimate(struct estimate *sum, const struct step_cost *cost)
{
    sum->seconds += cost->seconds;
    sum->n_steps++;
    sum->n_guessed += cost->is_guessed;
}

// NULL, where nothing is known: the standard way.
static void choose_step(struct backend *b, struct plan *plan, struct step *step, const struct step_prices *known)
{
    set_choice(step, plan->arena, known ? least_price(b, known) : NULL);
}

void backend_expect_steps(struct backend *b, const struct plan *plan)
{
    for (size_t i = 0; i < plan->steps.count; i++)
        if (!plan->steps.items[i].is_constant)
            step_prices_expect(b, plan, &plan->steps.items[i]);
}

bool backend_choose_priced(struct backend *b, struct plan *plan, struct estimate *estimate, struct error *error)
{
    if (!b->measuring.only_recalls) {
        backend_expect_steps(b, plan);
        chains_expect(b, plan);
    }
    bool is_done = chains_join(b, plan, error);
    for (size_t i = 0; is_done && i < plan->steps.count; i++) {
        struct step *step = &plan->steps.items[i];
        struct step_prices p;
        if (step->is_constant)
            continue;
        is_done = step_prices_find(b, plan, step, &p, error);
        if (!is_done)
            break;
        choose_step(b, plan, step, &p);
        add_to_estimate(estimate, least_price(b, &p));
    }
    return is_done;
}

void backend_choose(struct backend *b, struct plan *plan)
{
    struct error ignored;
    bool only_recalls = b->measuring.only_recalls;
    b->measuring.only_recalls = true;
    chains_join(b, plan, &ignored);
    b->measuring.only_recalls = only_recalls;
    for (size_t i = 0; i < plan->steps.count; i++) {
        struct step *step = &plan->steps.items[i];
        struct step_prices p;
        if (!step->is_constant)
            choose_step(b, plan, step, step_prices_recall(b, plan, step, &p) ? &p : NULL);
    }
}

// --- choices that are given ------------------------------------------------------------------------------------------

static const struct step_choice *find_given(const step_choices *given, const char *step)
{
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->items[i].step, step) == 0)
            return &given->items[i];
    return NULL;
}

void backend_choose_given(struct backend *b, struct plan *plan, const step_choices *given)
{
    TEXT(text);
    if (!given) {
        backend_choose(b, plan);
        return;
    }
    chains_join_given(b, plan, given);
    for (size_t i = 0; i < plan->steps.count; i++) {
        struct step *step = &plan->steps.items[i];
        text_clear(&text);
        step_print(&text, plan, step);
        const struct step_choice *c = step->is_constant ? NULL : find_given(given, text.chars);
        if (c && c->error > 0 && b->options.error_budget == 0)
            c = NULL;
        step->way.choice = c ? arena_string(plan->arena, c->choice) : "";
        step->way.error = c ? c->error : 0;
    }
}

void plan_list_choices(const struct plan *plan, struct arena *arena, step_choices *list)
{
    TEXT(text);
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *step = &plan->steps.items[i];
        if (step->is_constant || !step->way.choice || !*step->way.choice)
            continue;
        text_clear(&text);
        step_print(&text, plan, step);
        if (!find_given(list, text.chars))
            vec_push(list, ((struct step_choice){.step = arena_string(arena, text.chars),
                                                 .choice = arena_string(arena, step->way.choice),
                                                 .error = step->way.error}));
    }
}

// --- what they come to -----------------------------------------------------------------------------------------------

struct inexact_steps plan_inexact_steps(struct backend *b, const struct plan *plan)
{
    struct inexact_steps sum = {0};
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *step = &plan->steps.items[i];
        struct step_prices p = {0};
        bool is_known = !step->is_constant && step_prices_recall(b, plan, step, &p);
        sum.n_taken += step->way.error > 0;
        sum.n_taken_back +=
            is_known && p.is_taken_back && p.of[PRECISION_INEXACT].seconds < p.of[PRECISION_EXACT].seconds;
        if (step->way.error > 0 && is_known && step_prices_prefer_inexact(b, &p))
            sum.gain += p.of[PRECISION_EXACT].seconds - p.of[PRECISION_INEXACT].seconds;
    }
    return sum;
}

static bool make_chosen(struct backend *b, const struct graph *g, const uint8_t *layouts, struct arena *arena,
                        struct plan *ret_plan, struct error *error)
{
    struct plan_request request = backend_plan_request(b, g, layouts, arena);
    bool is_made = plan_make(ret_plan, &request, error);
    if (is_made)
        backend_choose(b, ret_plan);
    return is_made;
}

// At all places of a step.
static void add_gains(struct backend *b, const struct plan *plan, step_choices *list)
{
    TEXT(text);
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *step = &plan->steps.items[i];
        struct step_prices p;
        if (step->is_constant || !(step->way.error > 0) || !step_prices_recall(b, plan, step, &p))
            continue;
        text_clear(&text);
        step_print(&text, plan, step);
        struct step_choice *c = (struct step_choice *)(uintptr_t)find_given(list, text.chars);
        c->gain += p.of[PRECISION_EXACT].seconds - p.of[PRECISION_INEXACT].seconds;
    }
}

bool backend_list_choices(struct backend *b, const struct graph *g, const uint8_t *layouts, struct arena *arena,
                          step_choices *list, struct error *error)
{
    struct plan plan FREED_BY(plan_free) = {0};
    bool is_done = make_chosen(b, g, layouts, arena, &plan, error);
    if (is_done) {
        plan_list_choices(&plan, arena, list);
        add_gains(b, &plan, list);
    }
    return is_done;
}

bool backend_inexact_steps(struct backend *b, const struct graph *g, struct inexact_steps *ret, struct error *error)
{
    ARENA(arena);
    struct plan plan FREED_BY(plan_free) = {0};
    const uint8_t *layouts = NULL;
    bool is_done =
        backend_find_layouts(b, g, &arena, &layouts, error) && make_chosen(b, g, layouts, &arena, &plan, error);
    if (is_done)
        *ret = plan_inexact_steps(b, &plan);
    return is_done;
}
