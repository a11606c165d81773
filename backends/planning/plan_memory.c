// Orders in which memories are placed: the largest first is often as little as can be, but not always. Those below are
// tried until one is, and the best one stays.
#include "backends/planning/plan_memory.h"

#include "core/memory/arena.h"
#include "core/text/error.h"
#include "graph/graph_whole.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MEMORY_ALIGNMENT 64

struct placed {
    size_t bytes, offset;
    uint32_t first_step, last_step;
    memory_id memory;
    double rank;   // in the order that is tried
};

// --- in which order they are placed ----------------------------------------------------------------------------------

enum order { BY_SIZE, BY_AREA, BY_LIFE, BY_END, BY_BEGINNING, N_ORDERS };

static double rank_in(enum order order, const struct placed *x)
{
    double n_steps = x->last_step - x->first_step + 1;
    return order == BY_AREA        ? (double)x->bytes * n_steps
           : order == BY_LIFE      ? n_steps
           : order == BY_END       ? x->last_step
           : order == BY_BEGINNING ? -(double)x->first_step
                                   : 0;
}

// The highest rank first, of equal ones the largest.
COMPARISON(compare_ranks, struct placed,
           ORDER(y->rank, x->rank) ?: ORDER(y->bytes, x->bytes) ?: ORDER(x->memory, y->memory))

static void sort_in_order(enum order order, size_t n, struct placed *wanted)
{
    for (size_t i = 0; i < n; i++)
        wanted[i].rank = rank_in(order, &wanted[i]);
    qsort(wanted, n, sizeof *wanted, compare_ranks);
}

// --- placing ---------------------------------------------------------------------------------------------------------

static bool live_together(const struct placed *a, const struct placed *b)
{
    return a->first_step <= b->last_step && b->first_step <= a->last_step;
}

// `placed[0 .. n)` in order of offset.
static size_t lowest_room(const struct placed *placed, size_t n, const struct placed *wanted)
{
    size_t offset = 0;
    for (size_t i = 0; i < n; i++) {
        if (!live_together(&placed[i], wanted))
            continue;
        if (placed[i].offset >= mem_sum(offset, wanted->bytes))
            return offset;
        size_t end = mem_sum(placed[i].offset, placed[i].bytes);
        offset = end > offset ? end : offset;
    }
    return offset;
}

static size_t insert_by_offset(struct placed *placed, size_t n, struct placed item)
{
    size_t at = n;
    for (; at > 0 && placed[at - 1].offset > item.offset; at--)
        placed[at] = placed[at - 1];
    placed[at] = item;
    return n + 1;
}

static size_t rounded_bytes(const struct plan_memory *m)
{
    size_t bytes = mem_product((size_t)m->elements, dtype_size(m->dtype));
    return (bytes + MEMORY_ALIGNMENT) / MEMORY_ALIGNMENT * MEMORY_ALIGNMENT;
}

static size_t place_all(struct placed *wanted, size_t n, struct placed *placed)
{
    size_t bytes = 0, n_placed = 0;
    for (size_t i = 0; i < n; i++) {
        wanted[i].offset = lowest_room(placed, n_placed, &wanted[i]);
        n_placed = insert_by_offset(placed, n_placed, wanted[i]);
        size_t end = mem_sum(wanted[i].offset, wanted[i].bytes);
        bytes = end > bytes ? end : bytes;
    }
    return bytes;
}

// No order does with less than what lives at the same time.
static size_t most_at_once(const struct placed *wanted, size_t n)
{
    size_t most = 0;
    for (size_t i = 0; i < n; i++) {
        size_t bytes = 0;   // that live when this one begins
        for (size_t k = 0; k < n; k++)
            if (wanted[k].first_step <= wanted[i].first_step && wanted[i].first_step <= wanted[k].last_step)
                bytes = mem_sum(bytes, wanted[k].bytes);
        most = bytes > most ? bytes : most;
    }
    return most;
}

static size_t list_wanted(const struct plan *plan, struct placed *ret_wanted)
{
    size_t n = 0;
    for (memory_id m = 0; m < plan->memory.count; m++) {
        const struct plan_memory *memory = &plan->memory.items[m];
        if (memory->place == MEMORY_ARENA && memory->first_step != UINT32_MAX)
            ret_wanted[n++] = (struct placed){rounded_bytes(memory), 0, memory->first_step, memory->last_step, m, 0};
    }
    return n;
}

void plan_lay_out_memory(struct plan *plan)
{
    LOCAL_ARRAY(struct placed, wanted, plan->memory.count + 1);
    LOCAL_ARRAY(struct placed, placed, plan->memory.count + 1);
    size_t n = list_wanted(plan, wanted), least = most_at_once(wanted, n);
    plan->arena_bytes = n ? SIZE_MAX : 0;
    for (int k = 0; k < N_ORDERS && plan->arena_bytes > least; k++) {
        sort_in_order((enum order)k, n, wanted);
        size_t bytes = place_all(wanted, n, placed);
        for (size_t i = 0; i < n && bytes < plan->arena_bytes; i++)
            plan->memory.items[wanted[i].memory].offset = wanted[i].offset;
        plan->arena_bytes = bytes < plan->arena_bytes ? bytes : plan->arena_bytes;
    }
}

double loop_places(const struct loop *l)
{
    return PRODUCT_ALL(double, int, i, l->rank + l->n_reduced, (double)l->dim[i]);
}

static double distinct_bytes(enum dtype dtype, int rank, const int64_t *dim, const int64_t *stride)
{
    return (double)dtype_size(dtype) * PRODUCT_ALL(double, int, i, rank, stride[i] ? (double)dim[i] : 1);
}

static void add_bytes(struct step_work *work, const struct step *s, bool has_epilogue)
{
    for (int i = 0; i < s->n_operands; i++)
        work->bytes_read +=
            distinct_bytes(s->operands[i].dtype, s->operands[i].rank, s->operands[i].dim, s->operands[i].stride);
    for (int i = 0; i < s->n_results; i++)
        work->bytes_written +=
            distinct_bytes(s->results[i].dtype, s->results[i].rank, s->results[i].dim, s->results[i].stride);
    for (const struct loop *l = s->loops; l < s->loops + s->n_loops; l++) {
        for (int i = has_epilogue; i < l->n_operands; i++)
            work->bytes_read +=
                distinct_bytes(l->operands[i].dtype, l->rank + l->n_reduced, l->dim, l->operands[i].stride);
        for (int i = 0; !has_epilogue && i < l->n_results; i++)
            work->bytes_written += distinct_bytes(l->results[i].to.dtype, l->rank, l->dim, l->results[i].to.stride);
    }
}

double step_distinct_bytes(const struct step *s, bool has_epilogue)
{
    struct step_work work = {0};
    add_bytes(&work, s, has_epilogue);
    return work.bytes_read + work.bytes_written;
}

// Winograd's convolutions have m + r - 1 products for m results of r places on each axis where the window has several.
// The library's are with m = 4. Windows of one place, and products, have Strassen's.
static double share_of_products(const struct step *step)
{
    const char *found = step->way.choice ? strstr(step->way.choice, "winograd") : NULL;
    const struct view *weights = &step->operands[1];
    int m = 4;
    double share = 1;
    if (!found)
        return 1;
    sscanf(found, "winograd m:%2d", &m);
    for (int i = 2; m > 0 && i < weights->rank; i++)
        share *= weights->dim[i] == 1 ? 1 : ((double)m + (double)weights->dim[i] - 1) / (double)(m * weights->dim[i]);
    return share < 1 ? share : 7.0 / 8;
}

struct step_work step_work(const struct plan *plan, const struct step *s)
{
    struct step_work work = {0};
    bool has_kernel = s->n_results > 0;
    for (int i = 0; i < s->n_parts; i++)
        if (s->parts[i].node != NO_NODE)
            work.operations += graph_node_least_flops(plan->graph, s->parts[i].node);
    if (has_kernel && s->node != NO_NODE && !s->n_parts)
        work.operations = graph_node_least_flops(plan->graph, s->node) * share_of_products(s);
    for (int i = 0; i < s->n_loops; i++)
        work.operations += loop_places(&s->loops[i]) * s->loops[i].n_instructions;
    add_bytes(&work, s, has_kernel);
    return work;
}

bool plan_keeps(const struct plan *plan, memory_id memory)
{
    enum memory_place place = plan->memory.items[memory].place;
    return place == MEMORY_WEIGHT || place == MEMORY_CONSTANT;
}

bool step_next_memory(const struct step *s, struct touched_memory *t)
{
    for (; t->loop <= s->n_loops; t->loop++, t->place = 0) {
        const struct loop *l = t->loop ? &s->loops[t->loop - 1] : NULL;
        int n_read = l ? l->n_operands : s->n_operands, n_written = l ? l->n_results : s->n_results, i = t->place++;
        t->is_written = i >= n_read;
        if (i >= n_read + n_written)
            continue;
        t->memory = t->is_written ? (l ? l->results[i - n_read].to.memory : s->results[i - n_read].memory)
                    : l           ? l->operands[i].memory
                                  : s->operands[i].memory;
        return true;
    }
    return false;
}

bool step_reads_in_loops(const struct step *s, memory_id memory)
{
    return ANY(int, l, s->n_loops, ANY(int, i, s->loops[l].n_operands, s->loops[l].operands[i].memory == memory));
}

bool *plan_list_read(const struct plan *plan, struct arena *arena)
{
    bool *is_read = arena_array(arena, bool, plan->memory.count + 1);
    vec_each(&plan->steps, s)
        for (struct touched_memory t = {0}; !s->is_constant && step_next_memory(s, &t);)
            is_read[t.memory] = is_read[t.memory] || !t.is_written;
    return is_read;
}

// Sources of constants alone are there while a model is prepared, one at a time at least.
size_t plan_bytes(const struct plan *plan)
{
    size_t bytes = plan->arena_bytes, largest = 0;
    const bool *is_read = plan_list_read(plan, plan->arena);
    for (memory_id m = 0; m < plan->memory.count; m++) {
        const struct plan_memory *memory = &plan->memory.items[m];
        size_t own = mem_product((size_t)memory->elements, dtype_size(memory->dtype));
        if (plan_keeps(plan, m) ? is_read[m] : memory->place == MEMORY_INPUT || memory->place == MEMORY_OUTPUT)
            bytes = mem_sum(bytes, own);
        else if (plan_keeps(plan, m) && own > largest)
            largest = own;
    }
    return bytes > largest ? bytes : largest;
}

bool plan_has_room(const struct plan *plan, struct error *error)
{
    size_t bytes = plan_bytes(plan), available = mem_available();
    return bytes <= available || error_set_code(error, EXIT_UNSUPPORTED, NULL,
                                                "running the model takes %.0f MiB of memory, and %.0f MiB are free",
                                                (double)bytes / 0x1p20, (double)available / 0x1p20);
}
