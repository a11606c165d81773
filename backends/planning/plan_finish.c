// The end of planning: steps in their order, constants apart, and when memories live.
#include "backends/planning/planner.h"

#include "core/memory/arena.h"
#include <stdlib.h>
#include <string.h>

static int compare_orders(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

static bool does_nothing(const struct step *s)
{
    return s->node == NO_NODE && s->n_loops == 0;
}

static void drop_empty_steps(struct plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->steps.count; i++)
        if (!does_nothing(&plan->steps.items[i]))
            plan->steps.items[n++] = plan->steps.items[i];
    plan->steps.count = n;
}

static void keep_results_of_constants(struct planner *p)
{
    for (memory_id m = 0; m < p->plan->memory.count; m++)
        if (p->writers[m] != NO_STEP && p->plan->memory.items[m].place == MEMORY_ARENA &&
            p->plan->steps.items[p->writers[m]].is_constant)
            p->plan->memory.items[m].place = MEMORY_CONSTANT;
}

static void note_use(struct plan *plan, memory_id memory, uint32_t step)
{
    struct plan_memory *m = &plan->memory.items[memory];
    if (m->first_step == UINT32_MAX)
        m->first_step = step;
    m->last_step = step;
}

static void note_uses_of_step(struct plan *plan, uint32_t step)
{
    const struct step *s = &plan->steps.items[step];
    for (int i = 0; i < s->n_operands; i++)
        note_use(plan, s->operands[i].memory, step);
    for (int i = 0; i < s->n_results; i++)
        note_use(plan, s->results[i].memory, step);
    for (int l = 0; l < s->n_loops; l++) {
        for (int i = 0; i < s->loops[l].n_operands; i++)
            note_use(plan, s->loops[l].operands[i].memory, step);
        for (int i = 0; i < s->loops[l].n_results; i++)
            note_use(plan, s->loops[l].results[i].to.memory, step);
    }
}

void planner_finish(struct planner *p)
{
    struct plan *plan = p->plan;
    keep_results_of_constants(p);
    if (plan->steps.count)
        vec_sort(&plan->steps, compare_orders);
    drop_empty_steps(plan);
    for (size_t i = 0; i < plan->steps.count; i++)
        for (int k = 0; plan->steps.items[i].kernel == p->target->loops && k < plan->steps.items[i].n_loops; k++)
            loop_split_blocks(&plan->steps.items[i].loops[k]);
    for (memory_id m = 0; m < plan->memory.count; m++)
        plan->memory.items[m].first_step = plan->memory.items[m].last_step = UINT32_MAX;
    for (uint32_t i = 0; i < plan->steps.count; i++)
        note_uses_of_step(plan, i);
}
