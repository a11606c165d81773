// The model is loaded twice, once with a choice in place of another at each step, and both run by turns.
#include "optimizer/measure/choices_in_place.h"

#include "backends/backend.h"
#include "core/memory/arena.h"
#include "core/system/clock.h"
#include "core/system/interrupt.h"
#include "core/system/progress.h"
#include "core/text/error.h"
#include "core/text/log.h"
#include "optimizer/limits.def"
#include "optimizer/measure/contenders.h"
#include "optimizer/run/contest.h"
#include "tuning/places.h"

static struct contender *find_cheapest(struct contenders *f)
{
    struct contender *cheapest = NULL;
    for (size_t i = 0; i < f->all.count; i++) {
        struct contender *c = &f->all.items[i];
        c->estimate = contender_estimate(f->o, c);   // by what costs are now
        if (c->estimate > 0 && (!cheapest || c->estimate < cheapest->estimate))
            cheapest = c;
    }
    return cheapest;
}

// Runs the pair once, by turns. The first run of a load is not told.
static bool run_pair(struct contenders *f, struct places *p, bool is_told, struct error *error)
{
    bool is_done = true;
    for (size_t i = 0; is_done && i < 2 && !interrupt_requested(); i++) {
        struct contender *c = &f->all.items[i];
        const struct plan *plan = model_plan(c->model);
        LOCAL_ARRAY(double, seconds, plan->steps.count + 1);
        is_done = model_profile(c->model, f->inputs.values, c->outputs, seconds, error);
        if (is_done && is_told)
            places_tell(p, plan, i, seconds);
    }
    return is_done && !interrupt_requested();
}

static bool run_pair_loaded(struct contenders *f, struct places *p, struct error *error)
{
    bool is_done = contenders_load(f, 0, error);
    if (!is_done)
        return false;
    if (contenders_load(f, 1, error)) {
        double start = clock_seconds();
        is_done = run_pair(f, p, false, error);
        for (size_t n = 0; is_done && n < PROFILE_MOST_RUNS; n++) {
            if (n > PROFILE_LEAST_RUNS && clock_seconds() - start > PROFILE_SECONDS)
                break;
            is_done = run_pair(f, p, true, error);
        }
        contenders_unload(f, 1);
    } else {
        is_done = false;
    }
    contenders_unload(f, 0);
    return is_done;
}

// False: there is nothing to run, or it cannot be run.
static bool hold_round(struct contenders *f, struct places *p, bool is_last)
{
    ARENA(arena);
    LOCAL_LIST(step_choices, now);
    LOCAL_LIST(step_choices, next);
    struct error ignored = {0};
    if (!places_list(p, is_last, &arena, &now, &next))
        return false;
    f->all.items[0].choices = &now;
    f->all.items[1].choices = &next;
    bool is_done = run_pair_loaded(f, p, &ignored);
    if (is_done)
        places_judge(p);
    return is_done;
}

// Rounds end with the last one, which has time of its own.
static void hold_rounds(struct contenders *f, struct places *p, double seconds)
{
    struct progress progress;
    double start = clock_seconds();
    progress_start(&progress, f->o->options->progress, "choosing within the model", 100);
    for (bool goes_on = true; goes_on && clock_seconds() - start < seconds;) {
        goes_on = hold_round(f, p, false);
        progress_update(&progress, (uint64_t)(100 * (clock_seconds() - start) / seconds), "%zu steps", places_count(p));
    }
    if (!interrupt_requested())
        hold_round(f, p, true);
    progress_end(&progress);
}

void optimizing_choose_in_place(struct optimizing *o, const struct former_choices *former, double seconds)
{
    struct contenders f FREED_BY(contenders_close);
    contenders_open(&f, o);
    const struct contender *cheapest = find_cheapest(&f);
    struct places *p = NULL;
    if (cheapest && cheapest->bytes < mem_available() / 4 && !interrupt_requested())
        p = places_new(o->backend, cheapest->graph, cheapest->policy, former);
    if (!p)
        return;
    const struct contender way = *cheapest;
    vec_clear(&f.all);
    vec_push(&f.all, way);
    vec_push(&f.all, way);
    hold_rounds(&f, p, seconds);
    o->report.tuned.in_place = places_adopt(p);
    places_free(p);
    log_info(o->options->log, "%zu steps run by another choice in the model than alone: %.3f -> %.3f ms",
             o->report.tuned.in_place.n_changed, 1e3 * o->report.tuned.in_place.before,
             1e3 * o->report.tuned.in_place.now);
}
