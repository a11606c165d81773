// Each step's lower quartile of several runs, as costs are, and the times of all steps in each run.
#include "optimizer/run/step_times.h"

#include "core/memory/memory.h"
#include "core/numbers/statistics.h"
#include "core/text/text.h"

struct times {
    size_t n_steps, n_runs;
    double *once, *all, *steps, *runs;
};

static void init_times(struct times *t, const struct plan *plan, size_t n_runs)
{
    *t = (struct times){.n_steps = plan->steps.count, .n_runs = n_runs};
    t->once = mem_new_array(double, t->n_steps);
    t->steps = mem_new_array(double, t->n_steps);
    t->runs = mem_new_array(double, t->n_runs);
    t->all = mem_new_array(double, t->n_steps * t->n_runs);
}

static void free_times(struct times *t)
{
    mem_free_array(t->once, t->n_steps);
    mem_free_array(t->steps, t->n_steps);
    mem_free_array(t->runs, t->n_runs);
    mem_free_array(t->all, t->n_steps * t->n_runs);
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

// What other programs add to a step of each run is in none of the steps' quartiles, but in every run.
static bool add_times(struct text *out, struct backend *b, const struct plan *plan, const struct times *t,
                      struct error *error)
{
    double sum = 0, estimated = 0;
    for (size_t i = 0; i < t->n_steps; i++) {
        struct step_cost cost;
        if (plan->steps.items[i].is_constant)
            continue;
        if (!backend_step_cost(b, plan, &plan->steps.items[i], &cost, error))
            return false;
        text_printf(out, "%10.2f us  cost %10.2f us  ", t->steps[i] * 1e6, cost.seconds * 1e6);
        step_print(out, plan, &plan->steps.items[i]);
        text_add(out, "\n");
        sum += t->steps[i];
        estimated += cost.seconds;
    }
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
    init_times(&t, plan, n_runs);
    bool is_done = time_steps(model, inputs, outputs, &t, error) && add_times(out, b, plan, &t, error);
    free_times(&t);
    return is_done;
}
