// Steps are put into groups of equal work, groups are sorted by what they gain, and taken while there is budget.
#include "backends/costs/error_budget.h"

#include "backends/costs/chains.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/step_key.h"
#include "backends/planning/plan_text.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <stdlib.h>
#include <string.h>

struct group {
    uint32_t id, first_step, n_steps;
    double gain;   // of all its steps, by their fast choices
    enum precision taken;
};
struct choosing {
    struct backend *b;
    struct plan *plan;
    struct step_prices *prices;   // of every step; id UINT32_MAX: none are known
    VEC(struct group) groups;
};

static bool prefers_inexact(const struct choosing *c, size_t step)
{
    return c->prices[step].id != UINT32_MAX && step_prices_prefer(c->b, &c->prices[step], PRECISION_FAST);
}

static struct group *group_of(struct choosing *c, uint32_t id)
{
    for (size_t i = 0; i < c->groups.count; i++)
        if (c->groups.items[i].id == id)
            return &c->groups.items[i];
    return NULL;
}

static void add_to_group(struct choosing *c, uint32_t step)
{
    const struct step_prices *p = &c->prices[step];
    if (!group_of(c, p->id))
        vec_push(&c->groups, ((struct group){.id = p->id, .first_step = step}));
    struct group *g = group_of(c, p->id);
    g->n_steps++;
    g->gain += p->of[PRECISION_EXACT].seconds - p->of[PRECISION_FAST].seconds;
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    if (x->gain != y->gain)
        return x->gain > y->gain ? -1 : 1;
    return (x->first_step > y->first_step) - (x->first_step < y->first_step);
}

static bool fits(const struct choosing *c, const struct group *g, enum precision precision, double left)
{
    const struct step_prices *p = &c->prices[g->first_step];
    return step_prices_prefer(c->b, p, precision) && g->n_steps * p->of[precision].error <= left;
}

// Careful choices are asked for, and measured, only where fast ones do not fit.
static bool take_group(struct choosing *c, struct group *g, double *left, struct error *error)
{
    struct step_prices *p = &c->prices[g->first_step];
    g->taken = fits(c, g, PRECISION_FAST, *left) ? PRECISION_FAST : PRECISION_EXACT;
    if (!g->taken && !step_prices_find_careful(c->b, c->plan, &c->plan->steps.items[g->first_step], p, error))
        return false;
    if (!g->taken && fits(c, g, PRECISION_CAREFUL, *left))
        g->taken = PRECISION_CAREFUL;
    *left -= g->n_steps * p->of[g->taken].error;
    return true;
}

// False: a price is not known and cannot be.
static bool take_groups(struct choosing *c, struct error *error)
{
    double left = c->b->options.error_budget;
    bool is_done = true;
    for (uint32_t i = 0; i < c->plan->steps.count; i++)
        if (!c->plan->steps.items[i].is_constant && prefers_inexact(c, i))
            add_to_group(c, i);
    if (c->groups.count)
        qsort(c->groups.items, c->groups.count, sizeof *c->groups.items, compare_groups);
    for (size_t i = 0; i < c->groups.count; i++)
        is_done = take_group(c, &c->groups.items[i], &left, error) && is_done;
    return is_done;
}

static const struct step_cost *price_of(struct choosing *c, size_t step)
{
    const struct step_prices *p = &c->prices[step];
    const struct group *g = group_of(c, p->id);
    return g ? &c->prices[g->first_step].of[g->taken] : &p->of[PRECISION_EXACT];
}

static void set_choice(struct choosing *c, size_t number)
{
    struct step *step = &c->plan->steps.items[number];
    const struct step_cost *cost = price_of(c, number);
    bool is_known = c->prices[number].id != UINT32_MAX && !cost->is_guessed;
    step->choice = is_known ? arena_string(c->plan->arena, cost->choice) : "";
    step->error = is_known ? cost->error : 0;
}

static void set_choices(struct choosing *c)
{
    for (size_t i = 0; i < c->plan->steps.count; i++)
        if (!c->plan->steps.items[i].is_constant)
            set_choice(c, i);
}
static void add_to_estimate(struct estimate *sum, const struct step_cost *cost)
{
    sum->seconds += cost->seconds;
    sum->n_steps++;
    sum->n_guessed += cost->is_guessed;
}

bool backend_choose_priced(struct backend *b, struct plan *plan, struct estimate *estimate, struct error *error)
{
    struct choosing c = {.b = b, .plan = plan};
    bool is_done = chains_join(b, plan, error);
    c.prices = arena_array(plan->arena, struct step_prices, plan->steps.count + 1);
    for (size_t i = 0; is_done && i < plan->steps.count; i++)
        is_done =
            plan->steps.items[i].is_constant || step_prices_find(b, plan, &plan->steps.items[i], &c.prices[i], error);
    is_done = is_done && take_groups(&c, error);
    if (is_done)
        set_choices(&c);
    for (size_t i = 0; is_done && i < plan->steps.count; i++)
        if (!plan->steps.items[i].is_constant)
            add_to_estimate(estimate, price_of(&c, i));
    vec_free(&c.groups);
    return is_done;
}

void backend_choose(struct backend *b, struct plan *plan)
{
    struct choosing c = {.b = b, .plan = plan};
    struct error ignored;
    bool only_recalls = b->measuring.only_recalls;
    b->measuring.only_recalls = true;
    chains_join(b, plan, &ignored);
    c.prices = arena_array(plan->arena, struct step_prices, plan->steps.count + 1);
    for (size_t i = 0; i < plan->steps.count; i++)
        if (plan->steps.items[i].is_constant ||
            !step_prices_find(b, plan, &plan->steps.items[i], &c.prices[i], &ignored))
            c.prices[i] = (struct step_prices){.id = UINT32_MAX};
    take_groups(&c, &ignored);
    b->measuring.only_recalls = only_recalls;
    set_choices(&c);
    vec_free(&c.groups);
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
    struct text text = {0};
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
        step->choice = c ? arena_string(plan->arena, c->choice) : "";
        step->error = c ? c->error : 0;
    }
    text_free(&text);
}

void plan_list_choices(const struct plan *plan, struct arena *arena, step_choices *list)
{
    struct text text = {0};
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *step = &plan->steps.items[i];
        if (step->is_constant || !step->choice || !*step->choice)
            continue;
        text_clear(&text);
        step_print(&text, plan, step);
        if (!find_given(list, text.chars))
            vec_push(list, ((struct step_choice){arena_string(arena, text.chars), arena_string(arena, step->choice),
                                                 step->error}));
    }
    text_free(&text);
}

// --- what they come to -----------------------------------------------------------------------------------------------

static void add_inexact(struct backend *b, const struct plan *plan, const struct step *step, double exact_seconds,
                        struct error_budget *sum)
{
    struct step_cost cost;
    sum->n_inexact++;
    sum->error += step->error;
    if (exact_seconds > 0 && backend_recall_cost(b, plan, step, &cost))
        sum->gain += exact_seconds - cost.seconds;
}

struct error_budget plan_error_budget(struct backend *b, const struct plan *plan)
{
    struct error_budget sum = {0};
    bool only_recalls = b->measuring.only_recalls;
    b->measuring.only_recalls = true;
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *step = &plan->steps.items[i];
        struct step_prices p = {0};
        struct error ignored;
        bool is_known = !step->is_constant && step_prices_find(b, plan, step, &p, &ignored);
        if (step->error > 0)
            add_inexact(b, plan, step, is_known ? p.of[PRECISION_EXACT].seconds : 0, &sum);
        else
            sum.n_refused += is_known && step_prices_prefer(b, &p, PRECISION_FAST);
    }
    b->measuring.only_recalls = only_recalls;
    return sum;
}

bool backend_error_budget(struct backend *b, const struct graph *g, struct error_budget *ret, struct error *error)
{
    struct arena arena;
    struct plan plan = {0};
    const uint8_t *layouts = NULL;
    arena_init(&arena);
    bool is_done = backend_find_layouts(b, g, &arena, &layouts, error);
    struct plan_request request = backend_plan_request(b, g, layouts, &arena);
    is_done = is_done && plan_make(&plan, &request, error);
    if (is_done) {
        backend_choose(b, &plan);
        *ret = plan_error_budget(b, &plan);
    }
    plan_free(&plan);
    arena_free(&arena);
    return is_done;
}
