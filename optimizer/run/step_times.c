// Each step's lower quartile of several runs, as costs are, and the times of all steps in each run.
#include "optimizer/run/step_times.h"

#include "backends/costs/step_cost.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"
#include "core/memory/arena.h"
#include "core/numbers/statistics.h"
#include "core/text/text.h"
#include <math.h>

struct times {
    size_t n_steps, n_runs;
    double *once, *all, *steps, *runs;
};

static void init_times(struct times *t, const struct plan *plan, size_t n_runs, struct arena *arena)
{
    *t = (struct times){.n_steps = plan->steps.count, .n_runs = n_runs};
    t->once = arena_array(arena, double, t->n_steps);
    t->steps = arena_array(arena, double, t->n_steps);
    t->runs = arena_array(arena, double, t->n_runs);
    t->all = arena_array(arena, double, t->n_steps * t->n_runs);
}

static bool time_steps(struct model *model, const struct tensor_value *inputs, struct tensor_value *outputs,
                       struct times *t, struct error *error)
{
    for (size_t run = 0; run < t->n_runs; run++) {
        if (!model_profile(model, inputs, outputs, t->once, error))
            return false;
        t->runs[run] = 0;
        for (size_t i = 0; i < t->n_steps; i++) {
            t->all[i * t->n_runs + run] = t->once[i];
            t->runs[run] += t->once[i];
        }
    }
    for (size_t i = 0; i < t->n_steps; i++)
        t->steps[i] = sample_summarize(t->all + i * t->n_runs, t->n_runs).quartile1;
    return true;
}

// Seconds that the bytes take at least: those that are both read and written at the speed of a copy.
static double seconds_of_bytes(const struct step_work *w, const struct roofline *roofline)
{
    double both = fmin(w->bytes_read, w->bytes_written);
    return (2 * both + w->bytes_written - both) / roofline->copied + (w->bytes_read - both) / roofline->read;
}

// The work of a step, and its share of the most that the device can do: above 100 % for bytes that caches hold.
static void add_work(struct text *out, const struct plan *plan, const struct step *step, double seconds,
                     const struct roofline *roofline)
{
    struct step_work w = step_work(plan, step);
    text_printf(out, "%9.3f Mop %5.1f %%  %8.3f MB %5.1f %%  ", 1e-6 * w.operations,
                1e2 * w.operations / roofline->operations / seconds, 1e-6 * (w.bytes_read + w.bytes_written),
                1e2 * seconds_of_bytes(&w, roofline) / seconds);
}

static void add_roofline(struct text *out, const struct roofline *roofline)
{
    text_printf(out,
                "shares are of %.1f Gop/s in products of matrices, and of %.1f GB/s copied and %.1f GB/s read of what "
                "no cache holds; of Winograd's convolutions the products that they do are counted\n",
                1e-9 * roofline->operations, 1e-9 * roofline->copied, 1e-9 * roofline->read);
}

// The time that other programs add to a step of each run is in none of the steps' quartiles, but in every run.
static bool add_times(struct text *out, struct backend *b, const struct plan *plan, const struct times *t,
                      struct error *error)
{
    double sum = 0, estimated = 0;
    struct roofline roofline;
    bool has_roofline = b->methods->roofline && b->methods->roofline(b, &roofline);
    for (size_t i = 0; i < t->n_steps; i++) {
        struct step_cost cost;
        if (plan->steps.items[i].is_constant)
            continue;
        if (!backend_step_cost(b, plan, &plan->steps.items[i], &cost, error))
            return false;
        text_printf(out, "%10.2f us  cost %10.2f us  ", t->steps[i] * 1e6, cost.seconds * 1e6);
        if (has_roofline && t->steps[i] > 0)
            add_work(out, plan, &plan->steps.items[i], t->steps[i], &roofline);
        step_print_line(out, plan, &plan->steps.items[i]);
        sum += t->steps[i];
        estimated += cost.seconds;
    }
    if (has_roofline)
        add_roofline(out, &roofline);
    struct sample_summary runs = sample_summarize(t->runs, t->n_runs);
    text_printf(out,
                "%10.2f us  cost %10.2f us  in all; of the runs themselves the lower quartile %.2f us, the shortest "
                "%.2f\n",
                sum * 1e6, estimated * 1e6, runs.quartile1 * 1e6, runs.minimum * 1e6);
    return true;
}

bool step_times_add(struct text *out, struct backend *b, struct model *model, const struct tensor_value *inputs,
                    struct tensor_value *outputs, size_t n_runs, struct error *error)
{
    const struct plan *plan = model_plan(model);
    struct times t;
    ARENA(arena);
    init_times(&t, plan, n_runs, &arena);
    return time_steps(model, inputs, outputs, &t, error) && add_times(out, b, plan, &t, error);
}
