// Each memory has an arena of its own, so that it can be given back by itself.
#include "backends/cpu/kept_memory.h"

#include "backends/cpu/kernel.h"

#include "backends/planning/plan_memory.h"
#include "core/text/error.h"
#include <string.h>

struct kept_block {
    size_t last_step;        // that touches it
    bool is_kept, is_read;   // is_read: by a step that runs each time, as it stands
    bool is_acquired;        // a weight from the source
    struct arena arena;      // of a constant
};

static size_t bytes_of(const struct plan_memory *m)
{
    return mem_product((size_t)m->elements, dtype_size(m->dtype));
}

// --- what a step touches ---------------------------------------------------------------------------------------------

typedef bool touch_fn(struct kept_memory *k, memory_id m, size_t step, struct error *error);

static bool touch(struct kept_memory *k, memory_id m, size_t step, touch_fn *f, struct error *error)
{
    return !plan_keeps(k->plan, m) || f(k, m, step, error);
}

// All memories of the step but that of one operand (-1: of none).
static bool touch_all_but(struct kept_memory *k, size_t step, int left_out, touch_fn *f, struct error *error)
{
    for (struct touched_memory t = {0}; step_next_memory(&k->plan->steps.items[step], &t);) {
        bool is_left_out = t.loop == 0 && !t.is_written && t.place == left_out + 1;
        if (!is_left_out && !touch(k, t.memory, step, f, error))
            return false;
    }
    return true;
}

static bool note_last_step(struct kept_memory *k, memory_id m, size_t step, struct error *error)
{
    k->blocks[m].last_step = step;
    return true;
}

static bool note_reading(struct kept_memory *k, memory_id m, size_t step, struct error *error)
{
    k->blocks[m].is_read = true;
    return true;
}

// --- coming and going ------------------------------------------------------------------------------------------------

static bool find_weight(struct kept_memory *k, memory_id m, struct error *error)
{
    const struct plan_memory *memory = &k->plan->memory.items[m];
    size_t index = (size_t)memory->index;
    bool is_known =
        memory->index >= 0 && index < k->given.count && type_bytes(&k->given.values[index].type) == bytes_of(memory);
    if (is_known && k->given.values[index].data) {
        k->at[m] = k->given.values[index].data;
        return true;
    }
    if (!is_known || !k->given.source)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL, "weight %lld has no value", (long long)memory->index);
    k->at[m] = (char *)k->given.source->acquire(k->given.source->context, index, error);
    k->blocks[m].is_acquired = k->at[m] != NULL;
    return k->at[m] != NULL;
}

static bool provide(struct kept_memory *k, memory_id m, size_t step, struct error *error)
{
    struct kept_block *b = &k->blocks[m];
    if (b->is_kept)
        return true;
    b->is_kept = true;
    if (k->plan->memory.items[m].place == MEMORY_WEIGHT)
        return find_weight(k, m, error);
    k->at[m] = arena_alloc(&b->arena, bytes_of(&k->plan->memory.items[m]) + 64, 64);
    return true;
}

static void give_back(struct kept_memory *k, memory_id m)
{
    struct kept_block *b = &k->blocks[m];
    if (b->is_acquired)
        k->given.source->release(k->given.source->context, (size_t)k->plan->memory.items[m].index, k->at[m]);
    b->is_acquired = false;
    arena_free(&b->arena);
    k->at[m] = NULL;
}

static bool give_back_if_over(struct kept_memory *k, memory_id m, size_t step, struct error *error)
{
    if (k->blocks[m].last_step == step && !k->blocks[m].is_read && k->at[m])
        give_back(k, m);
    return true;
}

bool kept_memory_enter(struct kept_memory *k, size_t step, int left_out, struct error *error)
{
    return touch_all_but(k, step, left_out, provide, error);
}

// The weight as the source has it packed; NULL: it has not.
static const void *find_packed(const struct kept_memory *k, memory_id m, const struct packing *packing, size_t bytes)
{
    const struct weight_source *source = k->given.source;
    const struct plan_memory *memory = &k->plan->memory.items[m];
    if (!source || !source->find_packed || memory->place != MEMORY_WEIGHT ||
        packing_elements(packing) != memory->elements)
        return NULL;
    return source->find_packed(source->context, (size_t)memory->index, packing, bytes);
}

void kept_memory_leave(struct kept_memory *k, size_t step, int packed)
{
    if (!k->plan->steps.items[step].is_constant)
        touch_all_but(k, step, packed, note_reading, NULL);
    touch_all_but(k, step, -1, give_back_if_over, NULL);
}

void kept_memory_init(struct kept_memory *k, const struct plan *plan, const uint32_t *order,
                      const struct given_weights *weights, struct arena *arena)
{
    *k = (struct kept_memory){.plan = plan, .given = *weights};
    k->blocks = arena_array(arena, struct kept_block, plan->memory.count + 1);
    for (size_t i = 0; i < plan->steps.count; i++)
        touch_all_but(k, order[i], -1, note_last_step, NULL);
}

void kept_memory_free(struct kept_memory *k)
{
    for (memory_id m = 0; k->plan && m < k->plan->memory.count; m++)
        if (plan_keeps(k->plan, m))
            give_back(k, m);
    vec_free(&k->packed);
}

// --- packed before ---------------------------------------------------------------------------------------------------
//
// Kernels that pack an operand take it as it was packed before, where it stands so, and not the plain one.

bool cpu_packs_whole_weight(const struct plan *plan, const struct step *step)
{
    const struct view *v = &step->operands[CPU_PACKED_OPERAND];
    const struct plan_memory *memory = &plan->memory.items[v->memory];
    return memory->place == MEMORY_WEIGHT && memory->dtype == DTYPE_F32 && v->offset == 0 &&
           view_elements(v) == memory->elements && view_has_layout(v, LAYOUT_ROWS);
}

static bool is_described(const struct step_request *r, const struct packing *packing)
{
    return r->kept && packing && !r->step->is_constant && cpu_packs_whole_weight(r->plan, r->step);
}

// All packed weights lie where the model's steps pack theirs, in one order, whether they were packed before or not.
char *cpu_place_packed(const struct step_request *r, const struct packing *packing, size_t bytes, bool *ret_is_packed)
{
    *ret_is_packed = false;
    if (!is_described(r, packing))   // a mean has no such operand
        return arena_alloc(r->arena, bytes, 64);
    memory_id m = r->step->operands[CPU_PACKED_OPERAND].memory;
    const struct kept_packed *shared =
        vec_find(&r->kept->packed, x, x->memory == m && x->bytes == bytes && packing_equal(&x->packing, packing));
    const void *found = shared ? shared->at : find_packed(r->kept, m, packing, bytes);
    *ret_is_packed = found != NULL;
    if (shared || (found && r->kept->stays))
        return (char *)(uintptr_t)found;
    char *at = arena_alloc(r->arena, bytes, 64);
    if (found)
        cpu_note_packed(r, packing, bytes, memcpy(at, found, bytes));
    return at;
}

void cpu_note_packed(const struct step_request *r, const struct packing *packing, size_t bytes, char *packed)
{
    if (is_described(r, packing))
        vec_push(&r->kept->packed,
                 ((struct kept_packed){r->step->operands[CPU_PACKED_OPERAND].memory, *packing, bytes, packed}));
}

bool cpu_provide_plain(const struct step_request *r)
{
    memory_id m = r->step->operands[CPU_PACKED_OPERAND].memory;
    return !r->kept || !plan_keeps(r->kept->plan, m) || provide(r->kept, m, 0, r->error);
}
