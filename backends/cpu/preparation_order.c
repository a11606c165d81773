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
#include <stdlib.h>

#define WORTH_MOVING ((size_t)1 << 20)   // bytes that a set touches of what is kept
#define NO_GROUP UINT32_MAX

struct group {
    uint32_t first_step, n_steps;
    uint32_t of_set;   // the first group of its set, when all are found; before that one that leads there
    size_t bytes;      // of the set, in its first group
};
struct groups {
    const struct plan *plan;
    struct group *items;
    uint32_t count;
    uint32_t *of_constant;   // by memory: the last group that touches it, or NO_GROUP
};

static uint32_t set_of(struct groups *groups, uint32_t group)
{
    struct group *items = groups->items;
    for (; items[group].of_set != group; group = items[group].of_set)
        items[group].of_set = items[items[group].of_set].of_set;
    return group;
}

static void join_sets(struct groups *groups, uint32_t a, uint32_t b)
{
    uint32_t x = set_of(groups, a), y = set_of(groups, b), first = x < y ? x : y, second = x < y ? y : x;
    groups->items[second].of_set = first;
    if (first != second)
        groups->items[first].bytes = mem_sum(groups->items[first].bytes, groups->items[second].bytes);
}

static void touch(struct groups *groups, memory_id m)
{
    const struct plan_memory *memory = &groups->plan->memory.items[m];
    uint32_t own = groups->count, set = set_of(groups, own);
    if (!plan_keeps(groups->plan, m))
        return;
    groups->items[set].bytes =
        mem_sum(groups->items[set].bytes, mem_product((size_t)memory->elements, dtype_size(memory->dtype)));
    if (memory->place == MEMORY_CONSTANT && groups->of_constant[m] != NO_GROUP)
        join_sets(groups, own, groups->of_constant[m]);
    groups->of_constant[m] = own;
}

static void find_groups(struct groups *groups, const struct plan *plan, struct arena *arena)
{
    *groups = (struct groups){.plan = plan};
    groups->items = arena_array(arena, struct group, plan->steps.count + 1);
    groups->of_constant = arena_array(arena, uint32_t, plan->memory.count + 1);
    for (memory_id m = 0; m < plan->memory.count; m++)
        groups->of_constant[m] = NO_GROUP;
    for (uint32_t i = 0; i < plan->steps.count; i++) {
        struct group *g = &groups->items[groups->count];
        if (g->n_steps++ == 0)
            *g = (struct group){.first_step = i, .n_steps = 1, .of_set = groups->count};
        for (struct touched_memory t = {0}; step_next_memory(&plan->steps.items[i], &t);)
            touch(groups, t.memory);
        groups->count += !plan->steps.items[i].is_constant || i + 1 == plan->steps.count;
    }
}

// Every group knows its set, and how large it is.
static void settle_sets(struct groups *groups)
{
    for (uint32_t i = 0; i < groups->count; i++) {
        groups->items[i].of_set = set_of(groups, i);
        groups->items[i].bytes = groups->items[groups->items[i].of_set].bytes;
    }
}

static int compare_groups(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    size_t of_x = x->bytes < WORTH_MOVING ? 0 : x->bytes, of_y = y->bytes < WORTH_MOVING ? 0 : y->bytes;
    if (of_x != of_y)
        return of_x > of_y ? -1 : 1;
    if (of_x > 0 && x->of_set != y->of_set)
        return x->of_set < y->of_set ? -1 : 1;
    return x->first_step < y->first_step ? -1 : x->first_step > y->first_step;
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
