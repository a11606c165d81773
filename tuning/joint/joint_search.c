// The main loop. Time is only asked whether it is over.
#include "tuning/joint/joint_search.h"

#include "core/memory/hash.h"
#include "core/system/interrupt.h"
#include "tuning/joint/pass_turns.h"
#include "tuning/joint/strategies.h"
#include <math.h>

#define MOST_KNOWN 512

struct joint {
    const struct joint_problem *problem;
    struct joint_candidate best;
    struct joint_candidate *known;   // evaluated last of those with equal hashes; costs 0: none
    struct joint_report *report;
    size_t n_steps, most_steps;
    bool is_ended;   // by the problem
};

// --- fixing and evaluating -------------------------------------------------------------------------------------------

static void fit_from(struct joint *j, struct joint_candidate *c, size_t pass, recall_value_fn *recall)
{
    const struct joint_problem *p = j->problem;
    LOCAL_LIST(pass_nodes, nodes);
    for (; pass < p->n_passes; pass++) {
        vec_clear(&nodes);
        p->list_nodes(p->context, c, pass, &nodes);
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

// Annealing comes back to candidates that it knows.
static void evaluate(struct joint *j, struct joint_candidate *c)
{
    struct joint_candidate *known = &j->known[joint_candidate_hash(c, MOST_PASSES - 1) % MOST_KNOWN];
    if (known->cost > 0 && joint_candidate_equal(known, c)) {
        c->cost = known->cost;
        j->is_ended = interrupt_requested();
        return;
    }
    j->is_ended = !j->problem->evaluate(j->problem->context, c, &c->cost);
    c->cost = j->is_ended ? INFINITY : c->cost;
    if (!j->is_ended)
        joint_candidate_copy(known, c);
}

static void forget_costs(struct joint *j)
{
    for (size_t i = 0; i < MOST_KNOWN; i++)
        j->known[i].cost = 0;
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
    struct joint_candidate c FREED_BY(joint_candidate_free) = {0};
    bool is_any = draw(j, s, pass, &c);
    if (is_any)
        evaluate(j, &c);
    if (is_any && !j->is_ended) {
        strategy_select(s, &c);
        keep_if_best(j, &c);
    }
    return is_any;
}

// The best costs something else since; of the others the strategy takes that they gained as much.
static bool work_on_pass(struct joint *j, struct strategy *s, size_t pass)
{
    const struct joint_problem *p = j->problem;
    double former = j->best.cost;
    bool is_any = p->work && p->work(p->context, &j->best, pass);
    forget_costs(j);
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
    LOCAL_ZEROS(struct joint_candidate, known, MOST_KNOWN);
    struct joint j = {.problem = problem, .known = known, .report = ret_report, .most_steps = most_steps};
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
    for (size_t i = 0; i < MOST_KNOWN; i++)
        joint_candidate_free(&known[i]);
    ret_report->after = j.best.cost;
    *ret_best = j.best;
}
