// Steps take turns: the next batch of trials is of the step whose seconds in a run of the model, less for each
// batch that gained nothing, are the most. A step that is to reuse what is found of another one, or of a bridge, waits
// for it, and adds to its urgency.
#include "tuning/tune_plan.h"

#include "backends/backend.h"
#include "backends/costs/step_cost.h"
#include "backends/planning/plan_text.h"
#include "core/memory/hash.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/text.h"
#include "tuning/bridges.h"
#include "tuning/former_steps.h"
#include "tuning/limits.def"
#include "tuning/saving.h"
#include "tuning/timings.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_BRIDGES 32

struct item {   // a space of a step
    struct step_tuner *tuner;
    const struct step *step;
    size_t n_times;   // that it runs in the plan
    uint64_t step_key;
    int parent;   // whose best schedule it reuses, TUNED_FROM_NOTHING, or NOT_TUNED
    bool is_first_done;
    struct bridge *bridge;    // that the step is of; NULL: the plan
    const char *former_key;   // of the step of another model that the bridge stands for; NULL: there is none
};
struct model_of_family {
    char family[16];
    struct cost_model *model;
};
struct plan_tuning {
    struct backend *backend;
    const struct plan *plan;
    struct tuning_options options;
    double start;
    struct saving saving;
    VEC(struct item) items;
    VEC(struct model_of_family) models;
    struct arena arena;   // keys of former steps
};

static double now(const struct plan_tuning *t)
{
    return t->options.clock ? t->options.clock(t->options.context) : clock_seconds();
}

// --- what there is to tune -------------------------------------------------------------------------------------------

static struct cost_model *model_of(struct plan_tuning *t, const char *family)
{
    struct model_of_family own = {.model = NULL};
    for (size_t i = 0; i < t->models.count; i++)
        if (strcmp(t->models.items[i].family, family) == 0)
            return t->models.items[i].model;
    own.model = cost_model_new(true);
    snprintf(own.family, sizeof own.family, "%s", family);
    vec_push(&t->models, own);
    return own.model;
}

static bool add_repetition(struct plan_tuning *t, uint64_t step_key)
{
    bool is_repeated = false;
    for (size_t i = 0; i < t->items.count; i++)
        if (t->items.items[i].step_key == step_key) {
            t->items.items[i].n_times++;
            is_repeated = true;
        }
    return is_repeated;
}

static size_t trials_from_nothing(const struct step_tuner *t)
{
    size_t n = step_tuner_state(t)->n_suitable;
    return n < TRIALS_FROM_NOTHING ? n : TRIALS_FROM_NOTHING;
}

static size_t trials_done(const struct step_tuner *t)
{
    return step_tuner_state(t)->n_tried + step_tuner_state(t)->n_recalled;
}

static bool is_tuned(const struct step_tuner *t)
{
    return trials_done(t) >= trials_from_nothing(t);
}

static bool add_item(struct plan_tuning *t, struct item item, const struct plan *plan,
                     const struct schedule_space *space)
{
    item.step_key = timings_step_key(t->backend, plan, item.step);
    item.tuner = step_tuner_new(&(struct step_tuning){
        .backend = t->backend,
        .plan = plan,
        .step = item.step,
        .space = space,
        .seed = hash_mix(t->options.seed, item.step_key),
        .model = t->options.learns ? model_of(t, space->family) : NULL,
        .command = t->options.command,
        .is_bridge = item.bridge,
        .former_key = item.former_key,
    });
    if (item.tuner && item.former_key && !is_tuned(item.tuner)) {   // nobody else tries schedules of it
        step_tuner_free(item.tuner);
        return false;
    }
    if (item.tuner && !item.bridge)
        former_step_note(t->backend, plan, item.step, space);
    if (item.tuner)
        vec_push(&t->items, item);
    return item.tuner;
}

static void add_step(struct plan_tuning *t, const struct step *step)
{
    LOCAL_LIST(schedule_spaces, spaces);
    uint64_t step_key = timings_step_key(t->backend, t->plan, step);
    bool is_ours = t->options.parts <= 1 || step_key % (uint64_t)t->options.parts == (uint64_t)t->options.part;
    if (!is_ours || add_repetition(t, step_key))
        return;
    t->backend->methods->list_spaces(t->backend, t->plan, step, &spaces);
    for (size_t i = 0; i < spaces.count; i++)
        if (spaces.items[i].precision == PRECISION_EXACT || t->backend->options.error_budget > 0)
            add_item(t, (struct item){.step = step, .n_times = 1, .parent = TUNED_FROM_NOTHING}, t->plan,
                     &spaces.items[i]);
}

// --- reuse -----------------------------------------------------------------------------------------------------------

static struct reuse_node *list_nodes(const struct plan_tuning *t)
{
    struct reuse_node *nodes = mem_new_array(struct reuse_node, t->items.count + 1);
    for (size_t i = 0; i < t->items.count; i++) {
        struct step_tuner *tuner = t->items.items[i].tuner;
        nodes[i] = step_tuner_node(tuner);
        nodes[i].from_nothing = is_tuned(tuner) ? 0 : (double)(trials_from_nothing(tuner) - trials_done(tuner));
        nodes[i].is_bridge = nodes[i].is_bridge && !is_tuned(tuner);
    }
    return nodes;
}

// False: no plan has such loops.
static bool add_bridge(struct plan_tuning *t, const char *family, const struct reuse_loops *loops,
                       const char *former_key)
{
    struct bridge *bridge = bridge_new(t->backend, family, loops);
    struct item item = {.bridge = bridge, .step = bridge ? bridge->step : NULL, .former_key = former_key};
    if (!bridge)
        return false;
    if (!add_item(t, item, &bridge->plan, &bridge->space))
        bridge_free(bridge);
    return true;
}

// Bridges between those that are searched without. False: there are none.
static bool add_bridges(struct plan_tuning *t, const struct reuse_node *nodes, const int *parents)
{
    struct reuse_bridge bridges[MOST_BRIDGES];
    bool has_time = t->options.seconds >= SECONDS_FOR_BRIDGES && !t->options.command;   // which knows no bridges
    size_t n = t->items.count, n_bridges = reuse_plan_list_bridges(nodes, n, parents, MOST_BRIDGES, bridges);
    for (size_t i = 0; has_time && i < n_bridges; i++)
        add_bridge(t, bridges[i].family, &bridges[i].loops, NULL);
    return t->items.count > n;
}

// Does the plan lack the step, and may one of its steps reuse it?
static bool is_wanted(const struct plan_tuning *t, const struct former_step *step, const struct reuse_node *nodes,
                      size_t n)
{
    bool has_it = ANY(size_t, i, n, t->items.items[i].step_key == hash_string(step->key));
    return !has_it && ANY(size_t, i, n,
                          nodes[i].from_nothing > 0 && strcmp(nodes[i].family, step->family) == 0 &&
                              reuse_is_possible(&nodes[i].loops, &step->loops));
}

// Steps of other models are planned as bridges are, but tuned already: so many are looked at.
static void add_former_steps(struct plan_tuning *t)
{
    LOCAL_LIST(former_step_list, steps);
    size_t n = t->items.count, n_seen = 0;
    struct reuse_node *nodes = list_nodes(t);
    former_steps_list(t->backend, &t->arena, &steps);
    for (size_t i = 0; i < steps.count && n_seen < MOST_FORMER_STEPS && !interrupt_requested(); i++)
        n_seen += is_wanted(t, &steps.items[i], nodes, n) &&
                  add_bridge(t, steps.items[i].family, &steps.items[i].loops, steps.items[i].key);
    mem_free_array(nodes, n + 1);
}

static void plan_reuse(struct plan_tuning *t)
{
    if (t->options.reuses_former && t->options.parts <= 1)   // a part knows nothing of others
        add_former_steps(t);
    for (bool is_over = false, has_bridges = false; !is_over; has_bridges = true) {
        size_t n = t->items.count;
        struct reuse_node *nodes = list_nodes(t);
        LOCAL_ARRAY(int, parents, n + 1);
        reuse_plan_find(nodes, n, t->options.seed, parents);
        for (size_t i = 0; i < n; i++)
            t->items.items[i].parent = parents[i];
        is_over = has_bridges || !add_bridges(t, nodes, parents);
        mem_free_array(nodes, n + 1);
    }
}

// --- turns -----------------------------------------------------------------------------------------------------------

// A bridge has served when others can reuse it.
static bool has_served(const struct item *bridge)
{
    bool is_reusing = step_tuner_state(bridge->tuner)->is_reusing;
    return bridge->parent < 0 ? is_tuned(bridge->tuner) : bridge->is_first_done && !is_reusing;
}

static bool is_left(const struct plan_tuning *t, const struct item *item)
{
    const struct step_tuner_state *s = step_tuner_state(item->tuner);
    if (item->parent == NOT_TUNED || (item->bridge && has_served(item)))
        return true;
    return s->is_over || s->n_fruitless >= MOST_FRUITLESS ||
           (t->options.most_trials && s->n_tried >= t->options.most_trials);
}

// The seconds of the step by the best of all its spaces, now or before.
static double seconds_of(const struct plan_tuning *t, const struct item *item, bool is_now)
{
    double least = INFINITY;
    for (size_t i = 0; i < t->items.count; i++) {
        const struct step_tuner_state *s = step_tuner_state(t->items.items[i].tuner);
        if (t->items.items[i].step_key == item->step_key)
            least = fmin(least, is_now ? s->now : s->before);
    }
    return least;
}

// A space that is far behind another one of its step hardly gains.
static double own_urgency(const struct plan_tuning *t, const struct item *item)
{
    const struct step_tuner_state *s = step_tuner_state(item->tuner);
    if (item->bridge)
        return 0;
    double least = seconds_of(t, item, true), seconds = (double)item->n_times * least * pow(least / s->now, 4);
    return seconds * pow(SHARE_AFTER_FRUITLESS, (double)s->n_fruitless);
}

// An item waits until the step that it reuses is tuned.
static bool is_waiting(const struct plan_tuning *t, const struct item *item)
{
    const struct item *parent = item->parent < 0 ? NULL : &t->items.items[item->parent];
    return parent && !is_left(t, parent) &&
           (is_waiting(t, parent) || step_tuner_state(parent->tuner)->is_reusing ||
            (parent->parent < 0 ? !is_tuned(parent->tuner) : !parent->is_first_done));
}

static bool waits_for(const struct plan_tuning *t, const struct item *item, const struct item *other)
{
    while (item->parent >= 0 && is_waiting(t, item)) {
        item = &t->items.items[item->parent];
        if (item == other)
            return true;
    }
    return false;
}

// The urgency includes that of all who wait for it.
static double urgency(const struct plan_tuning *t, const struct item *item)
{
    double sum = own_urgency(t, item);
    for (size_t i = 0; i < t->items.count; i++)
        if (waits_for(t, &t->items.items[i], item))
            sum += own_urgency(t, &t->items.items[i]);
    return sum;
}

// NULL: all are left.
static struct item *pick(struct plan_tuning *t)
{
    struct item *best = NULL;
    vec_each(&t->items, item)
        if (!is_left(t, item) && !is_waiting(t, item) && (!best || urgency(t, item) > urgency(t, best)))
            best = item;
    return best;
}

// A step with several spaces runs by the best of them.
struct tuning_progress plan_tuning_progress(const struct plan_tuning *t)
{
    struct tuning_progress p = {.seconds = now(t) - t->start, .budget = t->options.seconds};
    for (size_t i = 0; i < t->items.count; i++) {
        const struct item *item = &t->items.items[i];
        p.n_tried += step_tuner_state(item->tuner)->n_tried;
        p.n_recalled += item->former_key ? 0 : step_tuner_state(item->tuner)->n_recalled;
        if (item->bridge || (i && item->step_key == item[-1].step_key))
            continue;
        double before = seconds_of(t, item, false);
        p.n_steps++;
        p.before += (double)item->n_times * before;
        p.now += (double)item->n_times * fmin(before, seconds_of(t, item, true));
    }
    for (size_t i = 0; i < t->models.count; i++)
        p.r = fmax(p.r, cost_model_r(t->models.items[i].model));
    return p;
}

static void tell_and_save(struct plan_tuning *t)
{
    struct tuning_progress p = plan_tuning_progress(t);
    if (t->options.progress)
        t->options.progress(t->options.context, &p);
    saving_consider(&t->saving, t->backend);
}

static bool try_batch(struct plan_tuning *t, struct item *item, struct error *error)
{
    if (!item->is_first_done && item->parent >= 0)
        step_tuner_reuse(item->tuner, t->items.items[item->parent].tuner);
    item->is_first_done = true;
    if (!step_tuner_advance(item->tuner, t->options.command ? BATCH_OF_COMMAND : BATCH, error))
        return false;
    tell_and_save(t);
    return true;
}

bool plan_tuning_advance(struct plan_tuning *t, double seconds, struct error *error)
{
    double start = now(t);
    struct item *item = pick(t);
    bool goes_on = item != NULL;
    for (; goes_on && item; item = now(t) - start < seconds ? pick(t) : NULL)
        goes_on = try_batch(t, item, error);
    backend_forget_costs(t->backend);
    return goes_on;
}

void plan_tuning_list_best(const struct plan_tuning *t, const struct step *step, size_t most, choice_list *list)
{
    uint64_t step_key = timings_step_key(t->backend, t->plan, step);
    for (size_t i = 0; i < t->items.count; i++)
        if (t->items.items[i].step_key == step_key && !t->items.items[i].bridge)
            step_tuner_list_best(t->items.items[i].tuner, most, list);
}

struct plan_tuning *plan_tuning_new(struct backend *b, const struct plan *plan, const struct tuning_options *options)
{
    struct plan_tuning *t = mem_alloc_zero(sizeof *t);
    t->backend = b;
    t->plan = plan;
    t->options = *options;
    t->start = now(t);
    for (size_t i = 0; b->methods->list_spaces && i < plan->steps.count; i++)
        if (!plan->steps.items[i].is_constant)
            add_step(t, &plan->steps.items[i]);
    if (t->options.reuses)
        plan_reuse(t);
    return t;
}

void plan_tuning_free(struct plan_tuning *t)
{
    for (size_t i = 0; i < t->items.count; i++) {
        step_tuner_free(t->items.items[i].tuner);
        if (t->items.items[i].bridge)
            bridge_free(t->items.items[i].bridge);
    }
    for (size_t i = 0; i < t->models.count; i++)
        cost_model_free(t->models.items[i].model);
    vecs_free(t, items, models);
    arena_free(&t->arena);
    mem_free(t, sizeof *t);
}

void tune_plan(struct backend *b, const struct plan *plan, const struct tuning_options *options,
               struct tuning_report *ret_report)
{
    struct error ignored = {0};
    struct plan_tuning *t = plan_tuning_new(b, plan, options);
    *ret_report = (struct tuning_report){.error = {.message = ""}};
    double left = options->seconds - (now(t) - t->start);
    if (left > 0)
        plan_tuning_advance(t, left, &ret_report->error);
    backend_save_costs(b, &ignored);
    ret_report->total = plan_tuning_progress(t);
    vec_each(&t->items, item)
        if (!item->bridge)
            vec_push(&ret_report->steps,
                     ((struct tuned_step){item->step, item->n_times, *step_tuner_state(item->tuner)}));
    plan_tuning_free(t);
}

// --- the report ------------------------------------------------------------------------------------------------------

void tuning_report_free(struct tuning_report *report)
{
    vec_free(&report->steps);
}

static void print_step(struct text *text, const struct tuned_step *tuned, const struct plan *plan)
{
    const struct step_tuner_state *s = &tuned->state;
    text_printf(text, "%10.2f us -> %8.2f us  %5.3f x, %2zu %s, %zu of %zu tried", s->before * 1e6, s->now * 1e6,
                s->before / s->now, tuned->n_times, tuned->n_times == 1 ? "run " : "runs", s->n_tried + s->n_recalled,
                s->n_suitable);
    text_printf(text, "  %s  ", *s->choice ? s->choice : "library");
    step_print(text, plan, tuned->step);
    text_add(text, "\n");
}

void tuning_report_print(struct text *text, const struct tuning_report *report, const struct plan *plan)
{
    const struct tuning_progress *p = &report->total;
    for (size_t i = 0; i < report->steps.count; i++)
        print_step(text, &report->steps.items[i], plan);
    text_printf(text, "tuned %zu step%s in %.0f s by %zu trial%s, and %zu known before: %.3f ms -> %.3f ms", p->n_steps,
                plural_ending(p->n_steps), p->seconds, p->n_tried, plural_ending(p->n_tried), p->n_recalled,
                p->before * 1e3, p->now * 1e3);
    if (p->r > 0)
        text_printf(text, "; the model's R is %.2f", p->r);
    text_add(text, "\n");
}
