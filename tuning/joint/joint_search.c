// The main loop. Time is only asked whether it is over.
#include "tuning/joint/joint_search.h"

#include "core/memory/hash.h"
#include "tuning/joint/joint_memory.h"
#include "tuning/joint/pass_turns.h"
#include "tuning/joint/strategies.h"
#include <math.h>

struct joint {
    const struct joint_problem *problem;
    struct joint_candidate best;
    struct joint_memory *memory;
    struct joint_report *report;
    size_t n_steps, most_steps;
    bool is_ended;   // by the problem
};

// --- fixing and evaluating -------------------------------------------------------------------------------------------

static void list_nodes(struct joint *j, const struct joint_candidate *c, size_t pass, pass_nodes *ret_nodes)
{
    vec_clear(ret_nodes);
    if (joint_memory_find_nodes(j->memory, c, pass, ret_nodes))
        return;
    j->problem->list_nodes(j->problem->context, c, pass, ret_nodes);
    joint_memory_keep_nodes(j->memory, c, pass, ret_nodes);
}

static void fit_from(struct joint *j, struct joint_candidate *c, size_t pass, recall_value_fn *recall)
{
    const struct joint_problem *p = j->problem;
    LOCAL_LIST(pass_nodes, nodes);
    for (; pass < p->n_passes; pass++) {
        list_nodes(j, c, pass, &nodes);
        configuration_fit(&c->of[pass], &nodes, recall, p->context, pass);
    }
}

static void keep_in_store(struct joint *j)
{
    const struct joint_problem *p = j->problem;
    for (size_t pass = 0; p->keep && pass < p->n_passes; pass++)
        for (size_t i = 0; i < j->best.of[pass].settings.count; i++)
            p->keep(p->context, pass, &j->best.of[pass].settings.items[i]);
}

static void evaluate(struct joint *j, struct joint_candidate *c)
{
    if (joint_memory_find_cost(j->memory, c, &c->cost))
        return;
    if (j->problem->evaluate(j->problem->context, c, &c->cost)) {
        joint_memory_keep_cost(j->memory, c);
        return;
    }
    c->cost = INFINITY;
    j->is_ended = true;
}

static bool keep_if_best(struct joint *j, const struct joint_candidate *c)
{
    if (!(c->cost < j->best.cost))
        return false;
    joint_candidate_copy(&j->best, c);
    keep_in_store(j);
    return true;
}

// The standard candidate, or what the store makes of it: the store has what is better from here on.
static void begin(struct joint *j)
{
    struct joint_candidate stored FREED_BY(joint_candidate_free) = {0};
    fit_from(j, &j->best, 0, NULL);
    evaluate(j, &j->best);
    j->report->before = j->best.cost;
    fit_from(j, &stored, 0, j->problem->recall);
    if (!j->is_ended && !joint_candidate_equal(&stored, &j->best)) {
        evaluate(j, &stored);
        if (stored.cost < j->best.cost)
            joint_candidate_copy(&j->best, &stored);
        keep_in_store(j);
    }
    j->report->at_start = j->best.cost;
}

// --- steps -----------------------------------------------------------------------------------------------------------

static bool draw(struct joint *j, struct strategy *s, size_t pass, struct joint_candidate *ret)
{
    if (!strategy_generate(s, &j->best, pass, ret))
        return false;
    fit_from(j, ret, pass, j->problem->recall);
    return true;
}

// False: all was tried.
static bool search_pass(struct joint *j, struct strategy *s, size_t pass)
{
    struct joint_candidate c = {0};
    bool is_any = draw(j, s, pass, &c);
    if (is_any)
        evaluate(j, &c);
    if (is_any && !j->is_ended) {
        strategy_select(s, &c);
        keep_if_best(j, &c);
    }
    joint_candidate_free(&c);
    return is_any;
}

// The best costs something else since; of the others the strategy takes that they gained as much.
static bool work_on_pass(struct joint *j, struct strategy *s, size_t pass)
{
    const struct joint_problem *p = j->problem;
    double former = j->best.cost;
    bool is_any = p->work && p->work(p->context, &j->best, pass);
    joint_memory_forget_costs(j->memory);
    evaluate(j, &j->best);
    if (isfinite(j->best.cost) && isfinite(former))
        strategy_rescale(s, j->best.cost / former);
    return is_any;
}

static void take_step(struct joint *j, struct strategy *s, struct pass_turns *turns, size_t pass)
{
    const struct joint_problem *p = j->problem;
    struct pass_report *report = &j->report->of[pass];
    double former = j->best.cost, started = p->clock(p->context);
    bool has_nodes = j->best.of[pass].settings.count > 0;
    bool is_any = has_nodes ? search_pass(j, s, pass) : work_on_pass(j, s, pass);
    bool is_gain = isfinite(j->best.cost) && j->best.cost < former;
    if (p->tell)
        p->tell(p->context, j->report->before, &j->best);
    double gain = is_gain ? former / j->best.cost : 1, spent = p->clock(p->context) - started;
    report->spent += spent;
    report->n_steps += is_any;
    report->gain *= gain;
    report->n_gains += is_gain;
    j->n_steps += is_any;
    pass_turns_note(turns, is_any, spent, gain);
}

static bool has_time(const struct joint *j, double end)
{
    bool has_steps = !j->most_steps || j->n_steps < j->most_steps;
    return has_steps && !j->is_ended && j->problem->clock(j->problem->context) < end;
}

static void run_stage(struct joint *j, const struct tuning_stage *stage, double end)
{
    const struct joint_problem *p = j->problem;
    struct strategy *s = strategy_new(stage->strategy, &j->best, hash_mix(p->seed, j->n_steps));
    struct pass_turns turns;
    size_t pass;
    pass_turns_begin(&turns, stage, end - p->clock(p->context));
    while (has_time(j, end) && pass_turns_next(&turns, &pass))
        take_step(j, s, &turns, pass);
    strategy_free(s);
}

void joint_search(const struct joint_problem *problem, const struct pass_schedule *schedule, double budget,
                  size_t most_steps, struct joint_candidate *ret_best, struct joint_report *ret_report)
{
    struct joint j = {.problem = problem, .memory = joint_memory_new(), .report = ret_report, .most_steps = most_steps};
    *ret_report = (struct joint_report){0};
    for (size_t i = 0; i < MOST_PASSES; i++)
        ret_report->of[i].gain = 1;
    begin(&j);
    double start = problem->clock(problem->context), end = start;
    ret_report->started = start;
    for (size_t i = 0; i < schedule->n_stages && !j.is_ended; i++) {
        end = fmin(end + schedule->stages[i].share * budget, start + budget);
        run_stage(&j, &schedule->stages[i], end);
    }
    joint_memory_free(j.memory);
    ret_report->after = j.best.cost;
    *ret_best = j.best;
}
