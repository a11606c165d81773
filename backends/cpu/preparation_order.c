// While a step packs its weights they are there twice. So those with the largest weights are prepared first, when least
// else is there: what a model takes at the peak is what it takes in the end.
//
//     constant, constant, step | constant, step | step | ...      groups: a step, and what is done once right before it
//      \___________________________/                               a set: groups that touch the same constants
//
// Sets move as a whole, and within one the order of the plan stays.
#include "backends/cpu/preparation_order.h"

#include "backends/planning/plan_memory.h"
#include "core/memory/arena.h"
#include "core/memory/union_find.h"
#include <stdlib.h>

#define WORTH_MOVING ((size_t)1 << 20)   // bytes that a set touches of what is kept
#define NO_GROUP UINT32_MAX

struct group {
    uint32_t first_step, n_steps;
    uint32_t of_set;   // the first group of its set
    size_t bytes;      // that it touches of what is kept; then those of the set
};
struct groups {
    const struct plan *plan;
    struct group *items;
    uint32_t count, *sets;
    uint32_t *of_constant;   // by memory: the last group that touches it, or NO_GROUP
};

static void touch(struct groups *groups, memory_id m)
{
    const struct plan_memory *memory = &groups->plan->memory.items[m];
    struct group *own = &groups->items[groups->count];
    if (!plan_keeps(groups->plan, m))
        return;
    own->bytes = mem_sum(own->bytes, mem_product((size_t)memory->elements, dtype_size(memory->dtype)));
    if (memory->place == MEMORY_CONSTANT && groups->of_constant[m] != NO_GROUP)
        union_find_join(groups->sets, groups->count, groups->of_constant[m]);
    groups->of_constant[m] = groups->count;
}

static void find_groups(struct groups *groups, const struct plan *plan, struct arena *arena)
{
    *groups = (struct groups){.plan = plan};
    groups->items = arena_array(arena, struct group, plan->steps.count + 1);
    groups->sets = arena_array(arena, uint32_t, plan->steps.count + 1);
    union_find_init(groups->sets, (uint32_t)plan->steps.count + 1);
    groups->of_constant = arena_array(arena, uint32_t, plan->memory.count + 1);
    for (memory_id m = 0; m < plan->memory.count; m++)
        groups->of_constant[m] = NO_GROUP;
    for (uint32_t i = 0; i < plan->steps.count; i++) {
        struct group *g = &groups->items[groups->count];
        if (g->n_steps++ == 0)
            g->first_step = i;
        for (struct touched_memory t = {0}; step_next_memory(&plan->steps.items[i], &t);)
            touch(groups, t.memory);
        groups->count += !plan->steps.items[i].is_constant || i + 1 == plan->steps.count;
    }
}

// Every group knows its set, and how large it is.
static void settle_sets(struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        struct group *g = &groups->items[i], *first = &groups->items[union_find_root(groups->sets, i)];
        g->of_set = (uint32_t)(first - groups->items);
        first->bytes = first == g ? g->bytes : mem_sum(first->bytes, g->bytes);
    }
    for (uint32_t i = 0; i < groups->count; i++)
        groups->items[i].bytes = groups->items[groups->items[i].of_set].bytes;
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    size_t of_x = x->bytes < WORTH_MOVING ? 0 : x->bytes, of_y = y->bytes < WORTH_MOVING ? 0 : y->bytes;
    if (of_x != of_y)
        return ORDER(of_y, of_x);
    return of_x > 0 && x->of_set != y->of_set ? ORDER(x->of_set, y->of_set) : ORDER(x->first_step, y->first_step);
}

const uint32_t *preparation_order(const struct plan *plan, struct arena *arena)
{
    uint32_t *order = arena_array(arena, uint32_t, plan->steps.count + 1), n = 0;
    struct groups groups;
    find_groups(&groups, plan, arena);
    settle_sets(&groups);
    if (groups.count)
        qsort(groups.items, groups.count, sizeof *groups.items, compare_groups);
    for (uint32_t i = 0; i < groups.count; i++)
        for (uint32_t k = 0; k < groups.items[i].n_steps; k++)
            order[n++] = groups.items[i].first_step + k;
    return order;
}
