// Chains are found by who touches the memories of a plan.
#include "backends/planning/plan_chains.h"

#include "backends/planning/plan_memory.h"
#include "backends/planning/planner.h"
#include "core/memory/arena.h"
#include <string.h>

static bool touches(const struct step *s, memory_id memory)
{
    for (struct touched_memory t = {0}; step_next_memory(s, &t);)
        if (t.memory == memory)
            return true;
    return false;
}

// The memory of a step's only result, of loops that of the last of them; NO_MEMORY: there are several.
static memory_id made_by(const struct step *s)
{
    const struct loop *last = s->n_loops ? &s->loops[s->n_loops - 1] : NULL;
    if (s->n_results)
        return s->n_results == 1 ? s->results[0].memory : NO_MEMORY;
    return last && last->n_results == 1 ? last->results[0].to.memory : NO_MEMORY;
}

static memory_id read_first(const struct step *s)
{
    if (s->n_operands)
        return s->operands[0].memory;
    return s->n_loops && s->loops[0].n_operands ? s->loops[0].operands[0].memory : NO_MEMORY;
}

// The only step that reads what a step makes: NO_STEP, where there are more. Lives are those of before any steps were
// joined, which moves others to the front alone.
static uint32_t find_other(const struct plan *plan, uint32_t step)
{
    memory_id memory = made_by(&plan->steps.items[step]);
    uint32_t found = NO_STEP, last = plan->memory.items[memory].last_step;
    for (uint32_t i = step + 1; i <= last && i < plan->steps.count; i++) {
        if (!touches(&plan->steps.items[i], memory))
            continue;
        if (found != NO_STEP)
            return NO_STEP;
        found = i;
    }
    return found;
}

static bool is_same_view(const struct view *a, const struct view *b)
{
    size_t bytes = (size_t)a->rank * sizeof *a->dim;
    return a->memory == b->memory && a->offset == b->offset && a->rank == b->rank && a->block == b->block &&
           memcmp(a->dim, b->dim, bytes) == 0 && memcmp(a->stride, b->stride, bytes) == 0;
}

// A step with operands reads the memory by its first one, and neither by others nor in its loops.
static bool reads_once(const struct step *s, memory_id memory)
{
    if (!s->n_operands)
        return read_first(s) == memory;
    return s->operands[0].memory == memory && !step_reads_in_loops(s, memory) &&
           !ANY(int, i, s->n_operands, i > 0 && s->operands[i].memory == memory);
}

// How loops read is for the device to see.
static bool reads_as_it_stands(const struct step *first, const struct step *second)
{
    bool has_views = first->n_results && second->n_operands;
    return reads_once(second, made_by(first)) && (!has_views || is_same_view(&first->results[0], &second->operands[0]));
}

static bool may_join(const struct plan *plan, const struct plan_target *target, uint32_t maker, uint32_t reader)
{
    const struct step *first = &plan->steps.items[maker], *second = &plan->steps.items[reader];
    if (maker >= reader || first->notes.is_apart || first->is_constant || second->is_constant || first->n_parts ||
        second->n_parts || made_by(second) == NO_MEMORY)
        return false;
    const struct plan_memory *memory = &plan->memory.items[made_by(first)];
    return memory->place == MEMORY_ARENA && !memory->has_parts && reads_as_it_stands(first, second) &&
           target->may_chain(plan, first, second);
}

uint32_t plan_find_behind(const struct plan *plan, const struct plan_target *target, uint32_t maker)
{
    if (made_by(&plan->steps.items[maker]) == NO_MEMORY)
        return NO_STEP;
    uint32_t reader = find_other(plan, maker);
    return reader != NO_STEP && may_join(plan, target, maker, reader) ? reader : NO_STEP;
}

uint32_t plan_find_before(const struct plan *plan, const struct plan_target *target, uint32_t reader)
{
    memory_id memory = read_first(&plan->steps.items[reader]);
    for (uint32_t i = reader; memory != NO_MEMORY && i-- > 0;)
        if (made_by(&plan->steps.items[i]) == memory)
            return plan_find_behind(plan, target, i) == reader ? i : NO_STEP;
    return NO_STEP;
}

// A step has no array where it has none of something, as a product has no loops.
static void append(void *to, const void *from, size_t count, size_t size)
{
    if (count)
        memcpy(to, from, count * size);
}

static void add_part(struct step *joined, const struct step *part)
{
    append(joined->operands + joined->n_operands, part->operands, (size_t)part->n_operands, sizeof *part->operands);
    append(joined->results + joined->n_results, part->results, (size_t)part->n_results, sizeof *part->results);
    append(joined->loops + joined->n_loops, part->loops, (size_t)part->n_loops, sizeof *part->loops);
    joined->n_operands += part->n_operands;
    joined->n_results += part->n_results;
    joined->n_loops += part->n_loops;
}

// Copies compute no nodes.
static void find_nodes(struct step *joined, int n, const struct step *parts)
{
    joined->node = joined->origin.first_node = joined->origin.last_node = NO_NODE;
    for (int i = 0; i < n; i++) {
        if (parts[i].origin.first_node == NO_NODE)
            continue;
        joined->node = parts[i].node;
        joined->origin.first_node =
            joined->origin.first_node == NO_NODE ? parts[i].origin.first_node : joined->origin.first_node;
        joined->origin.last_node = parts[i].origin.last_node;
    }
}

static void link_nodes(struct plan *plan, const struct step *joined)
{
    node_id last = NO_NODE;
    EACH(joined->parts, joined->n_parts, part) {
        if (part->origin.first_node == NO_NODE)
            continue;
        if (last != NO_NODE)
            plan->next_node[last] = part->origin.first_node;
        last = part->origin.last_node;
    }
}

void plan_chain_make(struct plan *plan, const struct plan_target *target, int n, const uint32_t *steps,
                     struct plan_chain *ret_chain)
{
    size_t operands = 0, results = 0, loops = 0;
    struct step *parts = arena_array(plan->arena, struct step, (size_t)n);
    for (int i = 0; i < n; i++) {
        parts[i] = plan->steps.items[steps[i]];
        operands += (size_t)parts[i].n_operands;
        results += (size_t)parts[i].n_results;
        loops += (size_t)parts[i].n_loops;
        ret_chain->steps[i] = steps[i];
    }
    struct step joined = parts[n - 1];
    joined.kernel = target->chain;
    find_nodes(&joined, n, parts);
    joined.operands = arena_array(plan->arena, struct view, operands);
    joined.results = arena_array(plan->arena, struct view, results);
    joined.loops = arena_array(plan->arena, struct loop, loops + 1);
    joined.n_operands = joined.n_results = joined.n_loops = 0;
    joined.parts = parts;
    joined.n_parts = n;
    for (int i = 0; i < n; i++)
        add_part(&joined, &parts[i]);
    ret_chain->n = n;
    ret_chain->joined = joined;
}

static void remove_step(struct plan *plan, uint32_t number)
{
    size_t behind = --plan->steps.count - number;
    memmove(&plan->steps.items[number], &plan->steps.items[number + 1], behind * sizeof *plan->steps.items);
}

void plan_join_chain(struct plan *plan, const struct plan_chain *chain)
{
    link_nodes(plan, &chain->joined);
    plan->steps.items[chain->steps[chain->n - 1]] = chain->joined;
    for (int i = chain->n - 1; i-- > 0;)
        remove_step(plan, chain->steps[i]);
}

void plan_note_lives(struct plan *plan)
{
    for (memory_id m = 0; m < plan->memory.count; m++)
        plan->memory.items[m].first_step = plan->memory.items[m].last_step = UINT32_MAX;
    for (uint32_t i = 0; i < plan->steps.count; i++)
        for (struct touched_memory t = {0}; step_next_memory(&plan->steps.items[i], &t);) {
            struct plan_memory *m = &plan->memory.items[t.memory];
            m->first_step = m->first_step == UINT32_MAX ? i : m->first_step;
            m->last_step = i;
        }
}
