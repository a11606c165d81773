// Choices by number, and the parts of a plan's cost with the choices that each depends on.
#include "backends/layouts/layout_parts.h"

#include "backends/planning/plan_memory.h"

#include <string.h>

// --- choices ---------------------------------------------------------------------------------------------------------

void layout_number_choices(struct layout_search *s)
{
    size_t n = s->plan.choices.count;
    s->choice_of_tensor = arena_array(s->arena, uint32_t, s->g->tensors.count + 1);
    s->n_layouts = arena_array(s->arena, int, n + 1);
    s->layouts = (void *)arena_array(s->arena, uint8_t, n * LAYOUT_COUNT + 1);
    memset(s->choice_of_tensor, 0xff, s->g->tensors.count * sizeof *s->choice_of_tensor);
    for (size_t i = 0; i < n; i++) {
        const struct layout_choice *c = &s->plan.choices.items[i];
        s->choice_of_tensor[c->tensor] = (uint32_t)i;
        s->layouts[i][s->n_layouts[i]++] = (uint8_t)c->layout;
        for (enum layout l = 0; l < LAYOUT_COUNT; l++)
            if (l != c->layout && (c->mask & LAYOUT_BIT(l)))
                s->layouts[i][s->n_layouts[i]++] = (uint8_t)l;
    }
}

uint32_t layout_choice_of(const struct layout_search *s, tensor_id t)
{
    return t == NO_TENSOR ? NO_LAYOUT_PART : s->choice_of_tensor[t];
}

uint32_t layout_choice_of_memory(const struct layout_search *s, memory_id m)
{
    return layout_choice_of(s, s->plan.memory.items[m].chooser);
}

// A choice that has no room there is none: what the part costs would depend on what its table does not have.
static void add_to_scope(struct layout_search *s, struct layout_part *part, uint32_t choice)
{
    for (size_t i = 0; choice != NO_LAYOUT_PART && i < part->scope.count; i++)
        if (part->scope.items[i] == choice)
            return;
    if (choice != NO_LAYOUT_PART && part->scope.count < LAYOUT_MOST_CHOICES)
        part->scope.items[part->scope.count++] = choice;
    else if (choice != NO_LAYOUT_PART)
        s->n_layouts[choice] = 1;
}

static void add_number(struct layout_search *s, struct number_list *list, uint32_t number)
{
    if (list->count == list->capacity) {
        uint32_t *items = list->items;
        list->capacity = list->capacity ? 2 * list->capacity : 4;
        list->items = arena_alloc(s->arena, list->capacity * sizeof *items, _Alignof(uint32_t));
        if (list->count)
            memcpy(list->items, items, list->count * sizeof *items);
    }
    list->items[list->count++] = number;
}

// --- parts -----------------------------------------------------------------------------------------------------------

static uint32_t add_part(struct layout_search *s, enum part_kind kind)
{
    vec_push(&s->parts, ((struct layout_part){.kind = kind, .node = NO_NODE, .next = NO_LAYOUT_PART}));
    return (uint32_t)s->parts.count - 1;
}

static void add_step(struct layout_search *s, struct layout_part *part, uint32_t number)
{
    const struct step *step = &s->plan.steps.items[number];
    add_number(s, &part->steps, number);
    for (struct touched_memory t = {0}; step_next_memory(step, &t);)
        add_to_scope(s, part, layout_choice_of_memory(s, t.memory));
}

// A part for each step with nodes; for each piece, where a node takes several steps.
static void number_nodes_of_steps(struct layout_search *s)
{
    vec_each(&s->plan.steps, step) {
        if (step->is_constant || step->origin.first_node == NO_NODE)
            continue;
        uint32_t part = (uint32_t)s->parts.count;
        for (uint32_t k = 0; k < step->origin.n_pieces; k++)
            add_part(s, PART_STEPS);
        for (node_id n = step->origin.first_node; n != NO_NODE; n = s->plan.next_node[n])
            s->part_of_node[n] = part;
    }
}

// The part that a step of any plan of this graph belongs to.
uint32_t layout_part_of_step(const struct layout_search *s, const struct step *step)
{
    if (step->origin.copied != NO_TENSOR)
        return s->part_of_tensor[step->origin.copied];
    node_id node = step->origin.first_node != NO_NODE ? step->origin.first_node : step->notes.owner;
    return node == NO_NODE || s->part_of_node[node] == NO_LAYOUT_PART ? NO_LAYOUT_PART
                                                                      : s->part_of_node[node] + step->origin.piece;
}

static bool may_be_chosen(const struct layout_search *s, const struct layout_request *r)
{
    return layout_choice_of_memory(s, r->view.memory) != NO_LAYOUT_PART ||
           layout_choice_of(s, r->requester) != NO_LAYOUT_PART;
}

uint32_t layout_find_need(const struct layout_search *s, tensor_id t, node_id node)
{
    uint32_t part = s->part_of_tensor[t];
    do
        part = part == NO_LAYOUT_PART ? NO_LAYOUT_PART : s->parts.items[part].next;
    while (part != NO_LAYOUT_PART && s->parts.items[part].node != node);
    return part;
}

static void add_request(struct layout_search *s, uint32_t number)
{
    const struct layout_request *r = &s->plan.requests.items[number];
    uint32_t copies = s->part_of_tensor[r->tensor];
    if (copies == NO_LAYOUT_PART)
        return;
    uint32_t need = layout_find_need(s, r->tensor, r->node);
    if (need == NO_LAYOUT_PART) {
        need = add_part(s, PART_NEED);
        s->parts.items[need].node = r->node;
        s->parts.items[need].next = s->parts.items[copies].next;
        s->parts.items[copies].next = need;
    }
    add_to_scope(s, &s->parts.items[need], layout_choice_of_memory(s, r->view.memory));
    add_to_scope(s, &s->parts.items[need], layout_choice_of(s, r->requester));
    add_number(s, &s->parts.items[need].requests, number);
}

// Copies are a part where somebody has a choice; else they are as fixed as any step.
static void add_copies(struct layout_search *s, uint32_t number)
{
    const struct layout_request *r = &s->plan.requests.items[number];
    if (s->part_of_tensor[r->tensor] != NO_LAYOUT_PART || !may_be_chosen(s, r))
        return;
    uint32_t part = s->part_of_tensor[r->tensor] = add_part(s, PART_COPIES);
    add_to_scope(s, &s->parts.items[part], layout_choice_of_memory(s, r->view.memory));
    add_number(s, &s->parts.items[part].requests, number);
}

// A step that reads two tensors of one memory reads two memories when they are copied: whether they are is up to the
// memory's choice, whatever the copies look like.
struct last_reader {
    uint32_t part;
    tensor_id tensor;
};

static void add_shared_memories(struct layout_search *s)
{
    struct last_reader *last = arena_array(s->arena, struct last_reader, s->plan.memory.count + 1);
    for (memory_id m = 0; m < s->plan.memory.count; m++)
        last[m].part = NO_LAYOUT_PART;
    vec_each(&s->plan.requests, r) {
        struct last_reader *l = &last[r->view.memory];
        uint32_t part = r->node == NO_NODE ? NO_LAYOUT_PART : s->part_of_node[r->node];
        if (part != NO_LAYOUT_PART && l->part == part && l->tensor != r->tensor)
            add_to_scope(s, &s->parts.items[part], layout_choice_of_memory(s, r->view.memory));
        *l = (struct last_reader){part, r->tensor};
    }
}

void layout_find_parts(struct layout_search *s)
{
    s->part_of_node = arena_array(s->arena, uint32_t, s->g->nodes.count + 1);
    s->part_of_tensor = arena_array(s->arena, uint32_t, s->g->tensors.count + 1);
    memset(s->part_of_node, 0xff, s->g->nodes.count * sizeof *s->part_of_node);
    memset(s->part_of_tensor, 0xff, s->g->tensors.count * sizeof *s->part_of_tensor);
    number_nodes_of_steps(s);
    for (uint32_t i = 0; i < s->plan.requests.count; i++)
        add_copies(s, i);
    for (uint32_t i = 0; i < s->plan.requests.count; i++)
        add_request(s, i);
    for (uint32_t i = 0; i < s->plan.steps.count; i++) {
        const struct step *step = &s->plan.steps.items[i];
        if (step->is_constant)
            continue;
        if (step->origin.copied != NO_TENSOR && s->part_of_tensor[step->origin.copied] == NO_LAYOUT_PART)
            s->part_of_tensor[step->origin.copied] = add_part(s, PART_STEPS);
        uint32_t part = layout_part_of_step(s, step);
        if (s->parts.items[part].kind == PART_STEPS)
            add_step(s, &s->parts.items[part], i);
    }
    add_shared_memories(s);
}
