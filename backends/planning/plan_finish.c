// The order of steps, and lifetimes of memories.
#include "backends/planning/plan_finish.h"

#include "backends/planning/plan_blocks.h"
#include "backends/planning/plan_chains.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/planner_state.h"

#include "core/memory/arena.h"
#include <string.h>

static int compare_orders(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return (x->notes.order > y->notes.order) - (x->notes.order < y->notes.order);
}

static int compare_needs(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return x->notes.needed_at != y->notes.needed_at
               ? (x->notes.needed_at > y->notes.needed_at) - (x->notes.needed_at < y->notes.needed_at)
               : compare_orders(a, b);
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

static void note_apart(struct planner *p)
{
    for (size_t i = 0; i < p->plan->steps.count; i++) {
        struct step *s = &p->plan->steps.items[i];
        s->notes.is_apart =
            s->origin.last_node != NO_NODE && planner_is_apart(p, p->g->nodes.items[s->origin.last_node].first_output);
    }
}

static void keep_results_of_constants(struct planner *p)
{
    for (memory_id m = 0; m < p->plan->memory.count; m++)
        if (p->plan->memory.items[m].writer != NO_STEP && p->plan->memory.items[m].place == MEMORY_ARENA &&
            p->plan->steps.items[p->plan->memory.items[m].writer].is_constant)
            p->plan->memory.items[m].place = MEMORY_CONSTANT;
}

static uint32_t earlier(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Steps stand in their order: whoever reads a memory stands behind who writes it. Of what nobody needs: the end.
static void find_needs(struct planner *p)
{
    uint32_t *needed_at = arena_array(p->plan->arena, uint32_t, p->plan->memory.count + 1);
    memset(needed_at, 0xff, p->plan->memory.count * sizeof *needed_at);
    for (size_t i = p->plan->steps.count; i-- > 0;) {
        struct step *s = &p->plan->steps.items[i];
        s->notes.needed_at = s->is_constant ? UINT32_MAX : s->notes.order;
        for (struct touched_memory t = {0}; s->is_constant && step_next_memory(s, &t);)
            if (t.is_written)
                s->notes.needed_at = earlier(s->notes.needed_at, needed_at[t.memory]);
        for (struct touched_memory t = {0}; step_next_memory(s, &t);)
            needed_at[t.memory] = earlier(needed_at[t.memory], s->notes.needed_at);
    }
}

void planner_finish(struct planner *p)
{
    struct plan *plan = p->plan;
    keep_results_of_constants(p);
    note_apart(p);
    vec_sort(&plan->steps, compare_orders);
    drop_empty_steps(plan);
    find_needs(p);
    vec_sort(&plan->steps, compare_needs);
    for (size_t i = 0; i < plan->steps.count; i++)
        for (int k = 0; plan->steps.items[i].kernel == p->target->loops && k < plan->steps.items[i].n_loops; k++)
            loop_split_blocks(&plan->steps.items[i].loops[k]);
    plan_note_lives(plan);
}
