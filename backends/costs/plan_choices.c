// Steps choose one by one, by their prices (costs/step_cost.h).
#include "backends/costs/plan_choices.h"

#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/limits.def"
#include "backends/planning/plan_chains.h"
#include "backends/planning/plan_text.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <string.h>

// --- steps that run as one -------------------------------------------------------------------------------------------
// From the last step to the first: of chains that end with a step the longest is tried first.

#define NO_STEP UINT32_MAX

// Is it better to join them?
typedef bool judge_fn(void *context, struct backend *b, const struct plan *plan, const struct plan_chain *chain);

// Neighbours that end with a step, in the last places. Gives how many they are.
static int find_neighbours(const struct backend *b, const struct plan *plan, uint32_t last,
                           uint32_t ret_steps[CHAIN_MOST])
{
    int n = 0;
    for (uint32_t step = last; step != NO_STEP && n < CHAIN_MOST; step = plan_find_before(plan, &b->target, step))
        ret_steps[CHAIN_MOST - ++n] = step;
    return n;
}

static bool find_chain(struct backend *b, struct plan *plan, uint32_t last, judge_fn *judge, void *context,
                       struct plan_chain *ret_chain)
{
    uint32_t steps[CHAIN_MOST];
    for (int n = find_neighbours(b, plan, last, steps); n > 1; n--) {
        plan_chain_make(plan, &b->target, n, steps + CHAIN_MOST - n, ret_chain);
        if (b->target.is_chain(&ret_chain->joined) && judge(context, b, plan, ret_chain))
            return true;
    }
    return false;
}

static void join_by(struct backend *b, struct plan *plan, judge_fn *judge, void *context)
{
    size_t n = plan->steps.count;
    if (!b->target.chain)
        return;
    for (size_t i = n; i-- > 0;) {
        struct plan_chain chain;
        if (!find_chain(b, plan, (uint32_t)i, judge, context, &chain))
            continue;
        plan_join_chain(plan, &chain);
        i -= (size_t)chain.n - 1;
    }
    if (plan->steps.count < n)
        plan_note_lives(plan);
}

// --- by costs --------------------------------------------------------------------------------------------------------

struct costing {
    bool has_failed;
    struct error *error;
};

static bool find_seconds(struct costing *c, struct backend *b, const struct plan *plan, const struct step *step,
                         double *ret_seconds)
{
    struct step_prices p;
    bool is_known = step_prices_find(b, plan, step, &p, c->error);
    c->has_failed = c->has_failed || (!is_known && !b->measuring.only_recalls && !interrupt_requested());
    const struct step_cost *least =
        &p.of[is_known && step_prices_prefer_inexact(b, &p) ? PRECISION_INEXACT : PRECISION_EXACT];
    *ret_seconds = is_known ? least->seconds : 0;
    return is_known && !least->is_guessed;
}

static bool takes_less(void *context, struct backend *b, const struct plan *plan, const struct plan_chain *chain)
{
    double apart = 0, joined, seconds;
    for (int i = 0; i < chain->n; i++) {
        if (!find_seconds(context, b, plan, &plan->steps.items[chain->steps[i]], &seconds))
            return false;
        apart += seconds;
    }
    return find_seconds(context, b, plan, &chain->joined, &joined) && joined < WORTH_JOINING * apart;
}

static bool expect(void *context, struct backend *b, const struct plan *plan, const struct plan_chain *chain)
{
    step_prices_expect(b, plan, &chain->joined);
    return false;
}

// Unknown costs are measured, unless the backend only recalls or the user interrupts: then such steps stay as they are.
// False: as of backend_step_cost.
static bool chains_join(struct backend *b, struct plan *plan, struct error *error)
{
    struct costing c = {.error = error};
    join_by(b, plan, takes_less, &c);
    return !c.has_failed;
}

// --- by what is given ------------------------------------------------------------------------------------------------

static bool is_given(void *context, struct backend *b, const struct plan *plan, const struct plan_chain *chain)
{
    const step_choices *given = context;
    TEXT(text);
    bool is_found = false;
    step_print(&text, plan, &chain->joined);
    for (size_t i = 0; i < given->count && !is_found; i++)
        is_found = strcmp(given->items[i].step, text.chars) == 0;
    return is_found;
}

// --- ways of steps ---------------------------------------------------------------------------------------------------

static const struct step_cost *least_price(const struct backend *b, const struct step_prices *p)
{
    return &p->of[step_prices_prefer_inexact(b, p) ? PRECISION_INEXACT : PRECISION_EXACT];
}

static void set_choice(struct step *step, struct arena *arena, const struct step_cost *cost)
{
    bool is_known = cost && !cost->is_guessed;
    step->way.choice = is_known ? arena_string(arena, cost->choice) : "";
    step->way.error = is_known && *cost->choice ? cost->error : 0;
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
        join_by(b, plan, expect, NULL);   // of all that may be joined
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
        estimate->seconds += least_price(b, &p)->seconds;
        estimate->n_steps++;
        estimate->n_guessed += least_price(b, &p)->is_guessed;
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
    vec_each(&plan->steps, step) {
        struct step_prices p;
        if (!step->is_constant)
            choose_step(b, plan, step, step_prices_recall(b, plan, step, &p) ? &p : NULL);
    }
}

// --- choices that are given ------------------------------------------------------------------------------------------

static const struct step_choice *find_given(const step_choices *given, const char *step)
{
    return vec_find(given, x, strcmp(x->step, step) == 0);
}

void backend_choose_given(struct backend *b, struct plan *plan, const step_choices *given)
{
    TEXT(text);
    if (!given) {
        backend_choose(b, plan);
        return;
    }
    join_by(b, plan, is_given, (void *)given);
    vec_each(&plan->steps, step) {
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
    vec_each(&plan->steps, step) {
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

// Gains are those at all places of a step.
static void add_gains(struct backend *b, const struct plan *plan, step_choices *list)
{
    TEXT(text);
    vec_each(&plan->steps, step) {
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
    if (!make_chosen(b, g, layouts, arena, &plan, error))
        return false;
    plan_list_choices(&plan, arena, list);
    add_gains(b, &plan, list);
    return true;
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
