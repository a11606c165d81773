// A plan is run a few times, and each step's time is the lower quartile of its times: what other programs add is added
// to some runs only. Plans all of whose steps are known from running models are not run again, so that a full database
// leads to the same result each time.
#include "optimizer/measure/calibration.h"

#include "backends/backend.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/planning/planner.h"

#include "backends/costs/in_model.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "optimizer/limits.def"
#include "optimizer/run/contest.h"
#include <math.h>

struct profile {
    const struct plan *plan;
    size_t n_runs;
    double *seconds;   // of step i in run k at i * PROFILE_MOST_RUNS + k
    double sums[PROFILE_MOST_RUNS];
    bool is_disturbed[PROFILE_MOST_RUNS], is_doubtful;   // other programs came between: in a run, in some that count
};

static bool is_known_in_model(struct optimizing *o, const struct plan *plan)
{
    for (size_t i = 0; i < plan->steps.count; i++) {
        struct step_cost cost;
        const struct step *step = &plan->steps.items[i];
        if (!step->is_constant &&
            !(backend_recall_cost(o->backend, plan, step, &cost) && cost.is_in_model && !cost.is_doubtful))
            return false;
    }
    return true;
}

static double sum_of(const double *seconds, size_t n)
{
    return SUM_ALL(double, size_t, i, n, seconds[i]);
}

// Whether other programs took processors away is only known of the run as a whole, when several threads wait for
// another. In tenths of a second somebody always does for a moment: a run that is hardly longer than the shortest one
// of all counts all the same.
size_t calibration_choose_runs(size_t n_runs, const double *sums, const bool *is_disturbed, size_t *ret_runs)
{
    double shortest = SMALLEST(double, INFINITY, size_t, k, n_runs, sums[k]);
    size_t n = 0;
    for (size_t k = 0; k < n_runs; k++)
        if (!is_disturbed[k] || sums[k] <= NEAR_SHORTEST * shortest)
            ret_runs[n++] = k;
    return n;
}

// With too few that count, all have to do.
static void keep_chosen_runs(struct profile *p)
{
    size_t runs[PROFILE_MOST_RUNS], n = calibration_choose_runs(p->n_runs, p->sums, p->is_disturbed, runs);
    p->is_doubtful = n < PROFILE_LEAST_RUNS;
    if (p->is_doubtful)
        return;
    for (size_t i = 0; i < p->plan->steps.count; i++)
        for (size_t k = 0; k < n; k++)
            p->seconds[i * PROFILE_MOST_RUNS + k] = p->seconds[i * PROFILE_MOST_RUNS + runs[k]];
    p->n_runs = n;
}

static bool run_profiled(struct contenders *f, struct contender *c, struct profile *p, double *once,
                         struct error *error)
{
    bool is_alone = f->o->options->threads == 1;
    struct stopwatch watch;
    stopwatch_start(&watch, is_alone);
    if (!model_profile(c->model, f->inputs.values, c->outputs, once, error))
        return false;
    p->is_disturbed[p->n_runs] = stopwatch_stop(&watch, is_alone).is_disturbed && !is_alone;
    p->sums[p->n_runs] = sum_of(once, p->plan->steps.count);
    for (size_t i = 0; i < p->plan->steps.count; i++)
        p->seconds[i * PROFILE_MOST_RUNS + p->n_runs] = once[i];
    p->n_runs++;
    return true;
}

static bool are_enough(const struct profile *p)
{
    size_t runs[PROFILE_MOST_RUNS];
    return calibration_choose_runs(p->n_runs, p->sums, p->is_disturbed, runs) >= PROFILE_LEAST_RUNS ||
           p->n_runs >= (size_t)MOST_DISTURBED * PROFILE_LEAST_RUNS;
}

static bool is_warm(double started)
{
    return clock_seconds() - started > WARM_UP_SECONDS;
}

static bool run_plan(struct contenders *f, struct contender *c, struct profile *p, struct error *error)
{
    double started = clock_seconds();
    LOCAL_ARRAY(double, once, p->plan->steps.count + 1);
    double n_warm_up = contest_runs_to_warm_up(c->estimate);
    bool is_done = true;
    for (int i = 0; is_done && i < n_warm_up && !is_warm(started) && !interrupt_requested(); i++)
        is_done = model_run(c->model, f->inputs.values, c->outputs, error);
    while (is_done && p->n_runs < PROFILE_MOST_RUNS && !interrupt_requested()) {
        if (are_enough(p) && clock_seconds() - started > PROFILE_SECONDS)
            break;
        is_done = run_profiled(f, c, p, once, error);
    }
    keep_chosen_runs(p);
    return is_done;
}

static void note_steps(struct optimizing *o, const struct profile *p)
{
    for (size_t i = 0; i < p->plan->steps.count; i++) {
        const struct step *step = &p->plan->steps.items[i];
        if (step->is_constant)
            continue;
        struct sample_summary s = sample_summarize(p->seconds + i * PROFILE_MOST_RUNS, p->n_runs);
        backend_note_in_model(o->backend, p->plan, step, s.quartile1, s.spread, p->is_doubtful);
    }
}

static void keep_whole_runs(struct optimizing *o, const struct contender *c, const struct profile *p)
{
    LOCAL_ARRAY(double, whole, PROFILE_MOST_RUNS);
    for (size_t k = 0; k < p->n_runs; k++)
        for (size_t i = 0; i < p->plan->steps.count; i++)
            whole[k] = (i ? whole[k] : 0) + p->seconds[i * PROFILE_MOST_RUNS + k];
    vec_push(&o->results.profiled, ((struct profiled_plan){c->plan_hash, sample_summarize(whole, p->n_runs)}));
}

// A contender that is known is not even loaded.
static bool is_contender_known(struct optimizing *o, const struct contender *c)
{
    ARENA(arena);
    struct plan plan FREED_BY(plan_free) = {0};
    struct error ignored = {0};
    struct plan_request request = backend_plan_request(o->backend, c->graph, c->layouts, &arena);
    bool is_known = plan_make(&plan, &request, &ignored);
    if (is_known)
        backend_choose(o->backend, &plan);
    return is_known && is_known_in_model(o, &plan);
}

static bool profile_contender(struct contenders *f, size_t number, bool *ret_is_profiled, struct error *error)
{
    if (is_contender_known(f->o, &f->all.items[number]))
        return true;
    if (!contenders_load(f, number, error))
        return false;
    struct contender *c = &f->all.items[number];
    struct profile p = {.plan = model_plan(c->model)};
    size_t n = p.plan->steps.count * PROFILE_MOST_RUNS + 1;
    p.seconds = mem_new_array(double, n);
    bool is_done = run_plan(f, c, &p, error);
    if (is_done && p.n_runs >= PROFILE_LEAST_RUNS) {
        keep_whole_runs(f->o, c, &p);
        note_steps(f->o, &p);
    }
    mem_free_array(p.seconds, n);
    *ret_is_profiled = true;
    contenders_unload(f, number);
    backend_forget_code(f->o->backend);
    return is_done;
}

bool calibration_keeps_costs(double change, bool may_search_again)
{
    return change < (may_search_again ? ENOUGH_AGREEMENT : ENOUGH_IN_THE_END);
}

// Gives the largest change of an estimate, as a share of it.
static double adopt_notes(struct contenders *f, bool may_search_again)
{
    struct optimizing *o = f->o;
    size_t n = f->all.count, n_corrections = o->report.costs.corrections.count;
    double *before = arena_array(&f->arena, double, n + 1), most = 0;
    for (size_t i = 0; i < n; i++)
        before[i] = contender_estimate(o, &f->all.items[i]);
    backend_adopt_in_model(o->backend, &o->report.costs.corrections);
    for (size_t i = 0; i < n; i++)
        if (before[i] > 0)
            most = fmax(most, fabs(contender_estimate(o, &f->all.items[i]) / before[i] - 1));
    if (calibration_keeps_costs(most, may_search_again)) {
        backend_keep_former_costs(o->backend);
        o->report.costs.corrections.count = n_corrections;
    }
    return most;
}

bool optimizing_calibrate(struct optimizing *o, bool may_search_again, double *ret_change)
{
    struct contenders f FREED_BY(contenders_close);
    bool is_any = false, is_done = true;
    phases_enter(&o->time.phases, PHASE_PROFILING);
    vec_clear(&o->results.profiled);
    contenders_open(&f, o);
    *ret_change = 0;
    struct progress progress;
    progress_start(&progress, o->options->progress, "costs within the models", f.all.count);
    progress.countdown = &o->time.remaining.countdown;
    o->time.remaining.n_contenders = f.all.count;
    for (size_t i = 0; is_done && i < f.all.count && !interrupt_requested(); i++) {
        is_done = profile_contender(&f, i, &is_any, o->error);
        progress.later = remaining_time_after_calibration(&o->time.remaining);
        progress_update(&progress, i + 1, NULL);
    }
    progress_end(&progress);
    is_done = is_done || optimizing_is_cut(o) || contenders_lacks_room(&f);
    if (is_done && is_any) {
        *ret_change = adopt_notes(&f, may_search_again);
        log_info(o->options->log, "%zu costs differ in the models; estimates change by up to %.1f %%",
                 o->report.costs.corrections.count, 1e2 * *ret_change);
    }
    return is_done;
}
