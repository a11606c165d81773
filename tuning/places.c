// A round compares two runs by turns, so that both have the same machine: lower quartiles of what a step took, at all
// of its places together.
#include "tuning/places.h"

#include "backends/costs/plan_choices.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/trials.h"
#include "backends/planning/plan_text.h"
#include "core/memory/arena.h"
#include "core/numbers/statistics.h"
#include "core/text/text.h"
#include "tuning/limits.def"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_CHOICES 12
#define MOST_RUNS 15   // of each, in a round

struct candidate {
    struct listed_choice choice;
    double alone;   // seconds
    bool was_run;   // in the model
};
struct place {
    const struct step *step;
    const char *text;   // of the step
    VEC(struct candidate) all;
    size_t now, next;       // `next` is `now` where none is left
    double before, after;   // seconds of all its runs, by the first choice and by that of now
    size_t n_met;           // in the plan that is told of
    size_t n_told[2];       // runs of this round
    double told[2][MOST_RUNS];
};
struct places {
    struct backend *backend;
    struct graph_tuning *tuning;
    bool is_last;   // the round
    struct arena arena;
    step_choices choices;   // of the plan
    VEC(struct place) all;
};

// --- what there is to choose from ------------------------------------------------------------------------------------

static void add_candidate(struct place *p, const char *choice, enum precision precision, double alone)
{
    struct candidate c = {.choice = {.precision = precision}, .alone = alone};
    if (vec_find(&p->all, x, strcmp(x->choice.text, choice) == 0))
        return;
    snprintf(c.choice.text, sizeof c.choice.text, "%s", choice);
    vec_push(&p->all, c);
}

static void add_former(const struct places *p, struct place *place, const struct former_choices *former)
{
    const struct plan *plan = graph_tuning_plan(p->tuning);
    for (enum precision precision = 0; former && precision < N_PRECISIONS; precision++) {
        struct step_key key FREED_BY(step_key_free) = step_key_of(p->backend, plan, place->step, precision);
        struct step_cost cost;
        bool may_err = p->backend->options.error_budget > 0 || precision == PRECISION_EXACT;
        if (may_err && former_choices_find(former, key.text.chars, &cost) && isfinite(cost.seconds))
            add_candidate(place, cost.choice, precision, cost.seconds * key.n_parts);
    }
}

static void add_trials(const struct places *p, struct place *place)
{
    const struct plan *plan = graph_tuning_plan(p->tuning);
    LOCAL_LIST(choice_list, listed);
    plan_tuning_list_best(graph_tuning_of_plan(p->tuning), place->step, MOST_CHOICES, &listed);
    for (size_t i = 0; i < listed.count; i++) {
        struct step_cost cost;
        if (backend_recall_trial(p->backend, plan, place->step, listed.items[i].text, &cost))
            add_candidate(place, listed.items[i].text, listed.items[i].precision, cost.seconds);
    }
}

// The choice so far stays the first.
static int compare_candidates(const void *a, const void *b)
{
    return ORDER(((const struct candidate *)a)->alone, ((const struct candidate *)b)->alone);
}

static void keep_near_ones(struct place *p)
{
    size_t n = p->all.count ? 1 : 0;
    if (p->all.count > 1)
        vec_sort_items(p->all.items + 1, p->all.count - 1, sizeof *p->all.items, compare_candidates);
    double least = p->all.count > 1 ? fmin(p->all.items[0].alone, p->all.items[1].alone) : 0;
    while (n < p->all.count && n < MOST_CHOICES && p->all.items[n].alone <= NEAR_IN_PLACE * least)
        n++;
    p->all.count = n;
}

static void add_place(struct places *p, const struct step *step, const struct former_choices *former)
{
    const struct plan *plan = graph_tuning_plan(p->tuning);
    TEXT(text);
    struct step_cost cost;
    step_print(&text, plan, step);
    struct place *same = (struct place *)vec_find(&p->all, x, strcmp(x->text, text.chars) == 0);
    if (same || !backend_recall_cost(p->backend, plan, step, &cost))
        return;
    struct place place = {.step = step, .text = arena_string(&p->arena, text.chars)};
    add_candidate(&place, step->way.choice ? step->way.choice : "", step_precision(step), cost.seconds);
    add_former(p, &place, former);
    add_trials(p, &place);
    keep_near_ones(&place);
    if (place.all.count > 1)
        vec_push(&p->all, place);
    else
        vec_free(&place.all);
}

struct places *places_new(struct backend *b, const struct graph *g, enum layout_policy policy,
                          const struct former_choices *former)
{
    const struct tuning_options options = {.seconds = 0};
    struct places *p = mem_alloc_zero(sizeof *p);
    p->backend = b;
    p->tuning = graph_tuning_new(b, g, policy, &options);
    const struct plan *plan = p->tuning ? graph_tuning_plan(p->tuning) : NULL;
    if (plan)
        plan_list_choices(plan, &p->arena, &p->choices);
    for (size_t i = 0; plan && i < plan->steps.count; i++)
        if (!plan->steps.items[i].is_constant)
            add_place(p, &plan->steps.items[i], former);
    if (p->all.count)
        return p;
    places_free(p);
    return NULL;
}

void places_free(struct places *p)
{
    for (size_t i = 0; i < p->all.count; i++)
        vec_free(&p->all.items[i].all);
    vec_free(&p->all);
    vec_free(&p->choices);
    if (p->tuning)
        graph_tuning_free(p->tuning);
    arena_free(&p->arena);
    mem_free(p, sizeof *p);
}

size_t places_count(const struct places *p)
{
    return p->all.count;
}

// --- rounds ----------------------------------------------------------------------------------------------------------

static struct place *find_place(struct places *p, const char *step)
{
    return (struct place *)vec_find(&p->all, x, strcmp(x->text, step) == 0);
}

static void push_choice(struct arena *arena, step_choices *list, const struct place *p, size_t candidate)
{
    const char *choice = p->all.items[candidate].choice.text;
    vec_push(list, ((struct step_choice){.step = p->text, .choice = arena_string(arena, choice)}));
}

static size_t find_next(const struct place *p, bool is_last)
{
    size_t k = 0;
    while (!is_last && k < p->all.count && (k == p->now || p->all.items[k].was_run))
        k++;
    return k < p->all.count ? k : p->now;
}

bool places_list(struct places *p, bool is_last, struct arena *arena, step_choices *ret_now, step_choices *ret_next)
{
    bool is_any = false;
    p->is_last = is_last;
    for (size_t i = 0; i < p->choices.count; i++)
        if (!find_place(p, p->choices.items[i].step)) {
            vec_push(ret_now, p->choices.items[i]);
            vec_push(ret_next, p->choices.items[i]);
        }
    for (size_t i = 0; i < p->all.count; i++) {
        struct place *place = &p->all.items[i];
        place->next = find_next(place, is_last);
        is_any = is_any || place->next != place->now;
        place->n_told[0] = place->n_told[1] = 0;
        push_choice(arena, ret_now, place, place->now);
        push_choice(arena, ret_next, place, place->next);
    }
    return is_any;
}

void places_tell(struct places *p, const struct plan *plan, bool is_next, const double *seconds)
{
    TEXT(text);
    for (size_t i = 0; i < p->all.count; i++)
        p->all.items[i].n_met = 0;
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *step = &plan->steps.items[i];
        text_clear(&text);
        step_print(&text, plan, step);
        struct place *place = step->is_constant ? NULL : find_place(p, text.chars);
        size_t run = place ? place->n_told[is_next] : MOST_RUNS;
        if (run >= MOST_RUNS)
            continue;
        place->told[is_next][run] = (place->n_met++ ? place->told[is_next][run] : 0) + seconds[i];
    }
    for (size_t i = 0; i < p->all.count; i++)
        p->all.items[i].n_told[is_next] += p->all.items[i].n_met > 0;
}

static bool find_seconds(struct place *p, double ret_seconds[2])
{
    if (p->next == p->now || !p->n_told[0] || !p->n_told[1])
        return false;
    for (int i = 0; i < 2; i++)
        ret_seconds[i] = sample_summarize(p->told[i], p->n_told[i]).quartile1;
    return true;
}

static void judge(struct place *p)
{
    double seconds[2];
    if (!find_seconds(p, seconds))
        return;
    p->all.items[p->now].was_run = p->all.items[p->next].was_run = true;
    if (seconds[1] < (1 - LEAST_GAIN_IN_PLACE) * seconds[0])
        p->now = p->next;
}

// The fastest of many was lucky, too: only this round says by how much it is faster.
static void judge_last(struct place *p)
{
    double seconds[2];
    bool is_known = find_seconds(p, seconds);
    if (is_known && seconds[0] < (1 - LEAST_GAIN_IN_PLACE) * seconds[1]) {
        p->before = seconds[1];
        p->after = seconds[0];
    } else {
        p->now = 0;
    }
}

void places_judge(struct places *p)
{
    for (size_t i = 0; i < p->all.count; i++)
        (p->is_last ? judge_last : judge)(&p->all.items[i]);
}

// --- the outcome -----------------------------------------------------------------------------------------------------

// It costs as many times less than the first as it did in the model: what the database knows of other choices compares
// with that.
static bool adopt(struct places *p, const struct place *place)
{
    const struct plan *plan = graph_tuning_plan(p->tuning);
    const struct listed_choice *choice = &place->all.items[place->now].choice;
    struct step_cost cost = {.seconds = 0};
    bool is_had = choice->precision == PRECISION_EXACT ||
                  backend_time_choice(p->backend, plan, place->step, choice->text, choice->precision, INFINITY, &cost);
    cost.seconds = place->all.items[0].alone * place->after / place->before;
    snprintf(cost.choice, sizeof cost.choice, "%s", choice->text);
    if (is_had)
        backend_adopt_choice(p->backend, plan, place->step, choice->precision, &cost);
    return is_had;
}

struct places_outcome places_adopt(struct places *p)
{
    struct places_outcome sum = {0};
    for (size_t i = 0; i < p->all.count; i++) {
        const struct place *place = &p->all.items[i];
        if (place->now == 0 || !(place->before > 0) || !adopt(p, place))
            continue;
        sum.n_changed++;
        sum.before += place->before;
        sum.now += place->after;
    }
    backend_forget_costs(p->backend);
    return sum;
}
