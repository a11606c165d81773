// Tarjan's algorithm with a stack of its own. The successors of a class are the children of its nodes, which stand in
// one run of (member, child) pairs that the frame walks.
#include "egraph/extraction/components.h"
#include "core/memory/arena.h"
#include "egraph/extraction/problem.h"
#include <string.h>

struct frame {
    uint32_t class_id, next_member, next_child;
};
struct tarjan {
    const struct extraction_problem *problem;
    uint32_t *component;      // EXTRACTION_NONE while open
    uint32_t *number, *low;   // 0: not seen
    uint32_t n_seen, n_components;
    VEC(struct frame) frames;
    VEC(uint32_t) open;
};

static void enter(struct tarjan *t, uint32_t class_id)
{
    t->number[class_id] = t->low[class_id] = ++t->n_seen;
    vec_push(&t->open, class_id);
    struct frame frame = {class_id, t->problem->first.items[class_id], 0};
    vec_push(&t->frames, frame);
}

// The next class that the frame's class reads; EXTRACTION_NONE at the end.
static uint32_t next_successor(const struct extraction_problem *p, struct frame *f)
{
    for (; f->next_member < p->first.items[f->class_id + 1]; f->next_member++, f->next_child = 0) {
        uint32_t node = p->members.items[f->next_member];
        if (f->next_child < extraction_n_children(p, node))
            return extraction_children(p, node)[f->next_child++];
    }
    return EXTRACTION_NONE;
}

static void lower(uint32_t *low, uint32_t value)
{
    if (value < *low)
        *low = value;
}

static void close_component(struct tarjan *t, uint32_t head)
{
    uint32_t member;
    do {
        member = vec_pop(&t->open);
        t->component[member] = t->n_components;
    } while (member != head);
    t->n_components++;
}

static void leave(struct tarjan *t)
{
    uint32_t class_id = vec_pop(&t->frames).class_id;
    if (t->frames.count)
        lower(&t->low[vec_last(&t->frames).class_id], t->low[class_id]);
    if (t->low[class_id] == t->number[class_id])
        close_component(t, class_id);
}

static void walk_from(struct tarjan *t, uint32_t class_id)
{
    enter(t, class_id);
    while (t->frames.count) {
        struct frame *top = &vec_last(&t->frames);
        uint32_t successor = next_successor(t->problem, top);
        if (successor == EXTRACTION_NONE)
            leave(t);
        else if (!t->number[successor])
            enter(t, successor);
        else if (t->component[successor] == EXTRACTION_NONE)
            lower(&t->low[top->class_id], t->number[successor]);
    }
}

uint32_t components_find(const struct extraction_problem *p, uint32_t *ret_component)
{
    ARENA(arena);
    struct tarjan t = {.problem = p, .component = ret_component};
    t.number = arena_array(&arena, uint32_t, p->n_classes + 1);
    t.low = arena_array(&arena, uint32_t, p->n_classes + 1);
    memset(ret_component, 0xff, p->n_classes * sizeof *ret_component);
    for (uint32_t c = 0; c < p->n_classes; c++)
        if (!t.number[c])
            walk_from(&t, c);
    vecs_free(&t, frames, open);
    return t.n_components;
}

uint32_t components_largest(const struct extraction_problem *p)
{
    uint32_t largest = 0;
    LOCAL_ARRAY(uint32_t, component, p->n_classes + 1);
    LOCAL_ZEROS(uint32_t, size, p->n_classes + 1);
    components_find(p, component);
    for (uint32_t c = 0; c < p->n_classes; c++)
        if (++size[component[c]] > largest)
            largest = size[component[c]];
    return largest;
}
