// Tables of what parts cost, found by what the parts are.
#include "backends/layouts/layout_tables.h"

#include "backends/layouts/layout_parts.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"

#include <math.h>

struct layout_memory *layout_memory_new(void)
{
    return mem_alloc_zero(sizeof(struct layout_memory));
}

void layout_memory_free(struct layout_memory *memory)
{
    vecs_free(memory, tables, key.list, step.list);
    key_set_free(&memory->keys);
    arena_free(&memory->arena);
    mem_free(memory, sizeof *memory);
}

// --- keys ------------------------------------------------------------------------------------------------------------

static void write_word(struct layout_search *s, int64_t word)
{
    vec_push(&s->memory->key.list, word);
}

static void write_place_in_scope(struct layout_search *s, const struct layout_part *part, uint32_t choice)
{
    for (size_t i = 0; i < part->scope.count; i++)
        if (part->scope.items[i] == choice) {
            write_word(s, (int64_t)i);
            return;
        }
    write_word(s, -1);
}

static void write_memory(struct layout_search *s, const struct layout_part *part, memory_id memory)
{
    write_place_in_scope(s, part, layout_choice_of_memory(s, memory));
    write_word(s, s->plan.memory.items[memory].has_parts);
}

static void write_step(struct layout_search *s, const struct layout_part *part, const struct step *step)
{
    struct words *words = &s->memory->step;
    step_encode(&s->plan, step, words);
    write_word(s, (int64_t)words->list.count);
    words_add(&s->memory->key, (uint32_t)words->list.count, words->list.items);
    for (struct touched_memory t = {0}; step_next_memory(step, &t);)
        write_memory(s, part, t.memory);
}

// Outputs of the graph that are a memory: only one can be that itself.
static int64_t count_outputs_before(const struct layout_search *s, const struct layout_request *r)
{
    int64_t n = 0;
    for (size_t i = (size_t)(r - s->plan.requests.items); i-- > 0 && s->plan.requests.items[i].node == NO_NODE;)
        n += s->plan.requests.items[i].view.memory == r->view.memory;
    return n;
}

// Outputs of the graph that are a tensor: each may be a copy of its own.
static int64_t count_outputs(const struct layout_search *s, const struct layout_request *r)
{
    uint32_t need = layout_find_need(s, r->tensor, NO_NODE);
    return need == NO_LAYOUT_PART ? 0 : (int64_t)s->parts.items[need].requests.count;
}

static void write_request(struct layout_search *s, const struct layout_part *part, const struct layout_request *r)
{
    const struct view *v = &r->view;
    write_word(s, v->block << 8 | v->block_axis);
    write_word(s, v->dtype << 8 | v->rank);
    for (int i = 0; i < v->rank; i++) {
        write_word(s, v->dim[i]);
        write_word(s, v->stride[i]);
    }
    write_memory(s, part, v->memory);
    write_word(s, r->takes_parts ? v->offset : -1);
    if (part->kind == PART_COPIES) {
        write_word(s, count_outputs(s, r));
        return;
    }
    write_word(s, r->wanted);
    write_place_in_scope(s, part, layout_choice_of(s, r->requester));
    if (r->node != NO_NODE)
        words_add_application(&s->memory->key, s->g, r->node);
    else
        write_word(s, count_outputs_before(s, r));
}

static void write_key(struct layout_search *s, const struct layout_part *part)
{
    vec_clear(&s->memory->key.list);
    write_word(s, (int64_t)part->kind << 48 | (int64_t)part->scope.count << 32 | (int64_t)part->steps.count << 16 |
                      (int64_t)part->requests.count);
    for (size_t i = 0; i < part->scope.count; i++) {
        uint32_t choice = part->scope.items[i];
        unsigned mask = s->n_layouts[choice] > 1 ? s->plan.choices.items[choice].mask : 0;
        write_word(s, mask << 8 | s->layouts[choice][0]);
        words_add_type(&s->memory->key, graph_type(s->g, s->plan.choices.items[choice].tensor));
    }
    for (size_t i = 0; i < part->steps.count; i++)
        write_step(s, part, &s->plan.steps.items[part->steps.items[i]]);
    for (size_t i = 0; i < part->requests.count; i++)
        write_request(s, part, &s->plan.requests.items[part->requests.items[i]]);
}

static size_t entries_of(const struct layout_search *s, const struct layout_part *part)
{
    size_t entries = PRODUCT_ALL(size_t, size_t, i, part->scope.count, (size_t)s->n_layouts[part->scope.items[i]]);
    return part->kind == PART_COPIES ? entries * LAYOUT_SLOTS : entries;
}

static double floor_of(const struct layout_search *s, const struct layout_part *part)
{
    double floor = 0;
    for (size_t i = 0; s->b->methods->least && part->kind == PART_STEPS && i < part->steps.count; i++)
        floor += s->b->methods->least(s->b, &s->plan, &s->plan.steps.items[part->steps.items[i]]);
    return floor;
}

void layout_find_table(struct layout_search *s, struct layout_part *part)
{
    struct layout_memory *memory = s->memory;
    write_key(s, part);
    part->table = key_set_add(&memory->keys, &memory->arena, memory->key.list.items,
                              memory->key.list.count * sizeof *memory->key.list.items);
    if (part->table < memory->tables.count)
        return;
    struct layout_table t = {.n_entries = entries_of(s, part), .floor = floor_of(s, part)};
    t.n_missing = t.n_entries;
    t.seconds = arena_array(&memory->arena, double, t.n_entries);
    for (size_t i = 0; i < t.n_entries; i++)
        t.seconds[i] = NAN;
    vec_push(&memory->tables, t);
}

struct layout_table *layout_table_of(const struct layout_search *s, const struct layout_part *part)
{
    return &s->memory->tables.items[part->table];
}
