// A value that only a loop has is stored when it is asked for; a tensor that stands otherwise than is wanted is copied,
// once for each layout.
#include "backends/planning/planner_views.h"

#include "backends/planning/loop_builder.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_parts.h"
#include "backends/planning/planner_state.h"
#include "core/memory/arena.h"
#include <string.h>

// --- storing what a loop has computed --------------------------------------------------------------------------------

static bool covers_domain(const struct loop *loop, const struct loop_access *access)
{
    return !ANY(int, i, loop->rank, loop->dim[i] != 1 && access->stride[i] <= 0) && access->block == 0;
}

// Dense strides with the axes in the order of the first operand that has all of them; row-major when none has.
static struct view view_like_operands(const struct planner *p, const struct loop *loop, enum dtype dtype,
                                      bool *ret_depends)
{
    struct type type = type_make(dtype, loop->rank, loop->dim);
    struct view result = view_dense(NO_MEMORY, &type, LAYOUT_ROWS), dense;
    *ret_depends = false;
    for (int i = 0; i < loop->n_operands; i++) {
        struct view like = result;
        *ret_depends |= p->plan->memory.items[loop->operands[i].memory].chooser != NO_TENSOR;
        memcpy(like.stride, loop->operands[i].stride, sizeof like.stride[0] * (size_t)loop->rank);
        if (covers_domain(loop, &loop->operands[i]) && view_dense_like(&like, &dense))
            return dense;
    }
    return result;
}

// A choice where there is one. Else what it becomes must not depend on choices: not on what a reader wants in this
// plan, nor on how operands stand that are choices.
static void store_value(struct planner *p, tensor_id t, enum layout layout)
{
    struct tensor_state *s = &p->tensors[t];
    const struct type *type = graph_type(p->g, t);
    bool depends;
    struct view like = view_like_operands(p, &p->plan->steps.items[s->step].loops[0], type->dtype, &depends), v;
    unsigned mask = planner_layouts(p, p->g->tensors.items[t].producer);
    if (mask || planner_whole_of(p, t)) {
        v = planner_allocate_chosen(
            p, t, type, planner_choose(p, t, mask, layout == LAYOUT_ANY ? view_find_layout(&like, mask) : layout));
    } else {
        v = planner_allocate(p, type, layout == LAYOUT_ANY || p->target->layouts ? LAYOUT_ROWS : layout);
        if (layout == LAYOUT_ANY && !depends)
            memcpy(v.stride, like.stride, sizeof v.stride);
    }
    struct loop_access to = access_of_view(&v);
    loop_add_result(p, &p->plan->steps.items[s->step].loops[0], s->value, &to);
    planner_note_writer(p, v.memory, s->step);
    planner_bind(p, t, &v, s->step);
}

// --- views -----------------------------------------------------------------------------------------------------------

static void pin_writer(struct planner *p, memory_id memory)
{
    if (planner_writer(p, memory))
        planner_writer(p, memory)->notes.is_pinned = true;
}

struct view planner_view(struct planner *p, tensor_id t, enum layout layout)
{
    if (p->tensors[t].standing == TENSOR_IN_LOOP)
        store_value(p, t, layout);
    const struct view *v = &p->tensors[t].view;
    pin_writer(p, v->memory);
    if (p->plan->memory.items[v->memory].has_parts && p->tensors[t].step != NO_STEP)
        p->plan->steps.items[p->tensors[t].step].notes.is_pinned = true;
    if (p->is_traced && !p->tensors[t].is_constant)
        vec_push(&p->plan->requests,
                 ((struct layout_request){
                     .tensor = t, .requester = p->requester, .node = p->node, .wanted = LAYOUT_ANY, .view = *v}));
    return *v;
}

// --- copies ----------------------------------------------------------------------------------------------------------

// A step that copies between two views of equal dimensions, the latter in memory of its own.
static void add_copy_step(struct planner *p, const struct view *source, const struct view *copy)
{
    const struct step *writer = planner_writer(p, source->memory);
    bool is_constant = p->plan->memory.items[source->memory].place == MEMORY_WEIGHT || (writer && writer->is_constant);
    pin_writer(p, source->memory);
    uint32_t id = planner_open_step(p, p->target->loops, NO_NODE, is_constant);
    p->plan->memory.items[copy->memory].writer = id;
    planner_add_copy(p, &p->plan->steps.items[id], source, copy);
}

struct view planner_copy(struct planner *p, const struct view *source, enum dtype dtype, enum layout layout)
{
    struct type type = type_make(dtype, source->rank, source->dim);
    struct view copy = planner_allocate(p, &type, layout);
    add_copy_step(p, source, &copy);
    return copy;
}

struct view planner_copy_like(struct planner *p, const struct view *source, enum dtype dtype)
{
    struct view copy = *source;
    copy.dtype = dtype;
    copy.memory = planner_add_memory(p, dtype, view_elements(source));
    p->plan->memory.items[copy.memory].chooser = p->plan->memory.items[source->memory].chooser;
    add_copy_step(p, source, &copy);
    return copy;
}

// The same place with the strides of the layout, which it has: those of axes of size 1 may differ, and whoever reads it
// is to have one text.
static struct view with_strides_of(const struct view *v, enum layout layout)
{
    struct type type = type_make(v->dtype, v->rank, v->dim);
    struct view dense = view_dense(v->memory, &type, layout);
    dense.offset = v->offset;
    return dense;
}

static enum layout first_alike(const struct view *v, enum layout layout)
{
    struct type type = type_make(v->dtype, v->rank, v->dim);
    struct view dense = view_dense(NO_MEMORY, &type, layout);
    return FIRST_OF(enum layout, l, layout, layout_suits(l, &type) && view_has_layout(&dense, l));
}

static struct view copy_of_tensor(struct planner *p, tensor_id t, const struct view *v, enum layout layout)
{
    struct tensor_copy *copy = p->tensors[t].copies;
    while (copy && !view_has_layout(&copy->view, layout))
        copy = copy->next;
    if (!copy) {
        copy = arena_new(p->arena, struct tensor_copy);
        *copy = (struct tensor_copy){planner_copy(p, v, v->dtype, layout), p->tensors[t].copies};
        struct step *step = planner_writer(p, copy->view.memory);
        step->origin.copied = t;
        step->origin.copied_to = first_alike(v, layout);
        p->tensors[t].copies = copy;
    }
    pin_writer(p, copy->view.memory);
    return with_strides_of(&copy->view, layout);
}

struct view planner_dense(struct planner *p, tensor_id t, enum layout layout)
{
    struct view v = planner_view(p, t, layout);
    bool needs_copy = !view_has_layout(&v, layout);
    if (p->is_traced && !p->tensors[t].is_constant) {
        struct layout_request *request = &p->plan->requests.items[p->plan->requests.count - 1];
        request->wanted = layout;
        request->needs_copy = needs_copy;
        request->copy = needs_copy ? first_alike(&v, layout) : layout;
    }
    return !needs_copy ? with_strides_of(&v, layout) : copy_of_tensor(p, t, &v, layout);
}

struct view planner_dense_instead(struct planner *p, tensor_id t, enum layout layout)
{
    struct view v = planner_dense(p, t, layout);
    p->plan->memory.items[v.memory].chooser = p->plan->memory.items[p->tensors[t].view.memory].chooser;
    return v;
}

struct view planner_dense_or_part(struct planner *p, tensor_id t, enum layout layout)
{
    struct view v = planner_view(p, t, layout);
    size_t first = p->plan->requests.count;
    if (!view_has_layout(&v, layout) && !view_is_part(&v, layout))
        v = planner_dense_instead(p, t, layout);
    else if (view_has_layout(&v, layout))
        v = with_strides_of(&v, layout);
    for (size_t i = first ? first - 1 : 0; p->is_traced && !p->tensors[t].is_constant && i < p->plan->requests.count;
         i++) {
        p->plan->requests.items[i].wanted = layout;
        p->plan->requests.items[i].takes_parts = true;
    }
    return v;
}

struct view planner_view_for_read(struct planner *p, tensor_id t, const struct affine_read *read, const int64_t *dim)
{
    struct view v = planner_view(p, t, LAYOUT_ANY);
    if (v.block && !planner_can_read_blocks(read, &v, dim))
        v = planner_dense_instead(p, t, LAYOUT_CHANNELS_LAST);
    return v;
}
