// The planner's frame: leaves, views, claims, evaluation, outputs; loops are in planner_loops.c.
#include "backends/planning/planner.h"

#include "backends/planning/plan_finish.h"
#include "backends/planning/planner_concat.h"
#include "backends/planning/planner_images.h"
#include "backends/planning/planner_loops.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "graph/graph_whole.h"
#include <string.h>

// --- steps and memory ------------------------------------------------------------------------------------------------

uint32_t planner_open_step(struct planner *p, const struct kernel *kernel, node_id node, bool is_constant)
{
    uint32_t id = (uint32_t)p->plan->steps.count;
    vec_push(&p->plan->steps, ((struct step){.kernel = kernel,
                                             .node = node,
                                             .first_node = NO_NODE,
                                             .last_node = NO_NODE,
                                             .owner = p->node,
                                             .copied = NO_TENSOR,
                                             .n_pieces = 1,
                                             .order = ++p->clock,
                                             .is_constant = is_constant}));
    return id;
}

void planner_attach_node(struct planner *p, uint32_t step, node_id node)
{
    struct step *s = &p->plan->steps.items[step];
    if (s->first_node == NO_NODE)
        s->first_node = node;
    else
        p->plan->next_node[s->last_node] = node;
    s->last_node = node;
}

static memory_id add_memory(struct planner *p, enum dtype dtype, int64_t elements)
{
    memory_id id = (memory_id)p->plan->memory.count;
    vec_push(
        &p->plan->memory,
        ((struct plan_memory){
            .place = MEMORY_ARENA, .dtype = dtype, .elements = elements, .writer = NO_STEP, .chooser = NO_TENSOR}));
    return id;
}

void planner_note_writer(struct planner *p, memory_id memory, uint32_t step)
{
    if (!p->plan->memory.items[memory].has_parts)
        p->plan->memory.items[memory].writer = step;
}

// NULL: no step has made it.
static struct step *writer_of(const struct planner *p, memory_id memory)
{
    uint32_t writer = p->plan->memory.items[memory].writer;
    return writer == NO_STEP ? NULL : &p->plan->steps.items[writer];
}

static void pin_writer(struct planner *p, memory_id memory)
{
    if (writer_of(p, memory))
        writer_of(p, memory)->is_pinned = true;
}

void planner_move_to_end(struct planner *p, uint32_t step)
{
    p->plan->steps.items[step].order = ++p->clock;
}

// --- tensors ---------------------------------------------------------------------------------------------------------

const struct graph *planner_graph(const struct planner *p)
{
    return p->g;
}

bool planner_is_constant(const struct planner *p, tensor_id t)
{
    return p->tensors[t].is_constant;
}

struct view planner_view(struct planner *p, tensor_id t, enum layout layout)
{
    if (p->tensors[t].standing == TENSOR_IN_LOOP)
        planner_store_value(p, t, layout);
    const struct view *v = &p->tensors[t].view;
    pin_writer(p, v->memory);
    if (p->plan->memory.items[v->memory].has_parts && p->tensors[t].step != NO_STEP)
        p->plan->steps.items[p->tensors[t].step].is_pinned = true;
    if (p->is_traced && !p->tensors[t].is_constant)
        vec_push(&p->plan->requests,
                 ((struct layout_request){
                     .tensor = t, .requester = p->requester, .node = p->node, .wanted = LAYOUT_ANY, .view = *v}));
    return *v;
}

bool planner_peek(const struct planner *p, tensor_id t, struct view *ret_view)
{
    if (p->tensors[t].standing != TENSOR_STORED)
        return false;
    *ret_view = p->tensors[t].view;
    return true;
}

struct view planner_allocate(struct planner *p, const struct type *type, enum layout layout)
{
    return view_dense(add_memory(p, type->dtype, type_elements(type)), type, layout);
}

// A step that copies between two views of equal dimensions, the latter in memory of its own.
static void add_copy_step(struct planner *p, const struct view *source, const struct view *copy)
{
    const struct step *writer = writer_of(p, source->memory);
    bool is_constant = p->plan->memory.items[source->memory].place == MEMORY_WEIGHT || (writer && writer->is_constant);
    pin_writer(p, source->memory);
    uint32_t id = planner_open_step(p, p->target->loops, NO_NODE, is_constant);
    p->plan->memory.items[copy->memory].writer = id;
    struct step *s = &p->plan->steps.items[id];
    struct loop *loop = planner_add_loop(p, s, source->rank, 0, source->dim);
    struct loop_access from = access_of_view(source), to = access_of_view(copy);
    loop_add_result(p, loop, loop_add_operand(p, loop, &from), &to);
}

struct view planner_copy(struct planner *p, const struct view *source, enum dtype dtype, enum layout layout)
{
    struct type type = type_make(dtype, source->rank, source->dim);
    struct view copy = planner_allocate(p, &type, layout);
    add_copy_step(p, source, &copy);
    return copy;
}

// Of another element type, at the same places of its own memory; the source fills its memory.
static struct view planner_copy_like(struct planner *p, const struct view *source, enum dtype dtype)
{
    struct view copy = *source;
    copy.dtype = dtype;
    copy.memory = add_memory(p, dtype, view_elements(source));
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
    for (enum layout l = 0; l < layout; l++)
        if (layout_suits(l, &type) && view_has_layout(&dense, l))
            return l;
    return layout;
}

static struct view copy_of_tensor(struct planner *p, tensor_id t, const struct view *v, enum layout layout)
{
    struct tensor_copy *copy = p->tensors[t].copies;
    while (copy && !view_has_layout(&copy->view, layout))
        copy = copy->next;
    if (!copy) {
        copy = arena_new(p->arena, struct tensor_copy);
        *copy = (struct tensor_copy){planner_copy(p, v, v->dtype, layout), p->tensors[t].copies};
        struct step *step = writer_of(p, copy->view.memory);
        step->copied = t;
        step->copied_to = first_alike(v, layout);
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

// By that step.
static void bind_output(struct planner *p, tensor_id t, const struct view *result, uint32_t step)
{
    const struct type *type = graph_type(p->g, t);
    struct view v = *result;
    if (v.dtype != type->dtype)
        v = planner_copy_like(p, result, type->dtype);
    p->tensors[t].standing = TENSOR_STORED;
    p->tensors[t].view = v;
    p->tensors[t].step = v.memory == result->memory ? step : p->plan->memory.items[v.memory].writer;
}

struct step *planner_add_step(struct planner *p, const struct kernel *kernel, node_id node, int n_operands,
                              const struct view *operands, int n_results, const struct view *results)
{
    const struct node *n = &p->g->nodes.items[node];
    uint32_t id = planner_open_step(p, kernel, node, p->tensors[n->first_output].is_constant);
    struct step *s = &p->plan->steps.items[id];
    s->n_operands = n_operands;
    s->n_results = n_results;
    s->operands = n_operands ? arena_copy_array(p->arena, operands, n_operands) : NULL;
    s->results = n_results ? arena_copy_array(p->arena, results, n_results) : NULL;
    planner_attach_node(p, id, node);
    for (int i = 0; i < n_results; i++)
        planner_note_writer(p, results[i].memory, id);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        bind_output(p, n->first_output + i, &results[i], id);
    return &p->plan->steps.items[id];
}

struct step *planner_add_loops_step(struct planner *p, node_id node, const struct view *result)
{
    const struct node *n = &p->g->nodes.items[node];
    uint32_t id = planner_open_step(p, p->target->loops, node, p->tensors[n->first_output].is_constant);
    planner_attach_node(p, id, node);
    planner_note_writer(p, result->memory, id);
    bind_output(p, n->first_output, result, id);
    return &p->plan->steps.items[id];
}

struct step *planner_add_piece(struct planner *p, node_id node, const struct view *result, uint32_t piece)
{
    bool is_constant = p->tensors[p->g->nodes.items[node].first_output].is_constant;
    uint32_t id = planner_open_step(p, p->target->loops, NO_NODE, is_constant);
    p->plan->steps.items[id].piece = piece;
    planner_note_writer(p, result->memory, id);
    return &p->plan->steps.items[id];
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static void plan_leaf(struct planner *p, const struct node *n)
{
    const struct type *type = graph_type(p->g, n->first_output);
    bool is_weight = n->op == operators[OP_WEIGHT];
    memory_id memory = add_memory(p, type->dtype, type_elements(type));
    p->plan->memory.items[memory].place = is_weight ? MEMORY_WEIGHT : MEMORY_INPUT;
    p->plan->memory.items[memory].index = n->attributes[0].ints[0];
    struct tensor_state *s = &p->tensors[n->first_output];
    s->standing = TENSOR_STORED;
    s->step = NO_STEP;
    s->view = view_dense(memory, type, LAYOUT_ROWS);
}

static void bind_view(struct planner *p, tensor_id t, const struct view *v)
{
    p->tensors[t].standing = TENSOR_STORED;
    p->tensors[t].view = *v;
    p->tensors[t].step = p->plan->memory.items[v->memory].writer;
}

static void plan_reshape(struct planner *p, const struct node *n, tensor_id from)
{
    const struct type *type = graph_type(p->g, n->first_output);
    struct view v, source = planner_view(p, from, LAYOUT_ROWS);
    if (!view_reshape(&source, type->rank, type->dim, &v)) {
        source = planner_dense_instead(p, from, LAYOUT_ROWS);
        v = view_dense(source.memory, type, LAYOUT_ROWS);
        v.offset = source.offset;
    }
    bind_view(p, n->first_output, &v);
}

static void plan_views(struct planner *p, const struct node *n, tensor_id from, const struct code *code)
{
    struct view source = planner_view(p, from, LAYOUT_ANY);
    bool reads_blocks = source.block != 0;
    for (uint32_t i = 0; i < n->n_outputs && reads_blocks; i++) {
        const struct stage_code *stage = &code->stages[code->outputs[i]];
        reads_blocks = planner_can_read_blocks(&stage->reads[0], &source, stage->type.dim);
    }
    if (source.block && !reads_blocks)
        source = planner_dense_instead(p, from, LAYOUT_CHANNELS_LAST);
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct stage_code *stage = &code->stages[code->outputs[i]];
        struct loop_access access = planner_access_of_read(&stage->reads[0], &source);
        struct view v = {.memory = source.memory,
                         .dtype = source.dtype,
                         .rank = stage->type.rank,
                         .offset = access.offset,
                         .block = access.block,
                         .block_axis = access.block_variable};
        memcpy(v.dim, stage->type.dim, sizeof v.dim);
        memcpy(v.stride, access.stride, sizeof v.stride);
        bind_view(p, n->first_output + i, &v);
    }
}

static void plan_evaluation(struct planner *p, node_id node)
{
    const struct node *n = &p->g->nodes.items[node];
    struct view *operands = arena_array(p->arena, struct view, n->n_inputs + 1);
    struct view *results = arena_array(p->arena, struct view, n->n_outputs + 1);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        operands[i] = planner_dense(p, graph_inputs(p->g, node)[i], LAYOUT_ROWS);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        results[i] = planner_allocate(p, graph_type(p->g, n->first_output + i), LAYOUT_ROWS);
    planner_add_step(p, p->target->evaluate, node, (int)n->n_inputs, operands, (int)n->n_outputs, results);
}

static bool has_no_entries(const struct planner *p, const struct node *n)
{
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (type_elements(graph_type(p->g, n->first_output + i)) == 0)
            return true;
    return false;
}

static void plan_node(struct planner *p, node_id id)
{
    const struct node *n = &p->g->nodes.items[id];
    const tensor_id *inputs = graph_inputs(p->g, id);
    if (n->op->flags & OPERATOR_IS_LEAF) {
        plan_leaf(p, n);
        return;
    }
    if (has_no_entries(p, n)) {
        plan_evaluation(p, id);
        return;
    }
    if (n->op->flags & OPERATOR_IS_VIEW) {
        plan_reshape(p, n, inputs[0]);
        return;
    }
    if (p->target->claim && p->target->claim(p->target->context, p, id))
        return;
    const struct code *code = code_cache_find(p->codes, p->g, id);
    if (code->kind == CODE_VIEW)
        plan_views(p, n, inputs[0], code);
    else if (code->kind == CODE_NONE || !planner_plan_code(p, id, code))
        plan_evaluation(p, id);
}

// --- whole graphs ----------------------------------------------------------------------------------------------------

static bool can_plan(const struct graph *g, const struct node *n, struct error *error)
{
    if (n->op->flags & OPERATOR_IS_OPAQUE)
        return error_set_code(error, EXIT_UNSUPPORTED, NULL,
                              "the graph has an operator that the project does not know");
    for (uint32_t i = 0; i < n->n_outputs; i++) {
        const struct type *t = graph_type(g, n->first_output + i);
        if (!type_is_known(t) || dtype_size(t->dtype) == 0)
            return error_set_code(error, EXIT_UNSUPPORTED, NULL,
                                  "the type of output %u of a %s is not known or not numeric", i + 1, n->op->name);
    }
    return true;
}

static bool reads_constants_only(const struct planner *p, node_id id)
{
    const struct node *n = &p->g->nodes.items[id];
    if (n->op->flags & OPERATOR_IS_LEAF)
        return n->op == operators[OP_WEIGHT];
    for (uint32_t i = 0; i < n->n_inputs; i++)
        if (!p->tensors[graph_inputs(p->g, id)[i]].is_constant)
            return false;
    return true;
}

static void look_over_graph(struct planner *p, const bool *live)
{
    for (node_id id = 0; id < p->g->nodes.count; id++) {
        const struct node *n = &p->g->nodes.items[id];
        p->plan->next_node[id] = NO_NODE;
        if (!live[id])
            continue;
        bool is_constant = reads_constants_only(p, id);
        for (uint32_t i = 0; i < n->n_outputs; i++)
            p->tensors[n->first_output + i].is_constant = is_constant;
    }
    graph_count_reads(p->g, live, p->n_uses);
}

static bool can_be_output(const struct planner *p, const struct view *v)
{
    const struct plan_memory *m = &p->plan->memory.items[v->memory];
    const struct step *writer = writer_of(p, v->memory);
    bool is_made = m->has_parts || (writer && !writer->is_constant);
    return m->place == MEMORY_ARENA && is_made && v->offset == 0 && m->elements == view_elements(v) &&
           view_has_layout(v, LAYOUT_ROWS);
}

static void note_copy_for_output(struct planner *p, tensor_id t)
{
    if (!p->is_traced || p->tensors[t].is_constant)
        return;
    struct layout_request *request = &p->plan->requests.items[p->plan->requests.count - 1];
    request->needs_copy = true;
    request->copy = LAYOUT_ANY;
}

static void plan_outputs(struct planner *p)
{
    for (size_t i = 0; i < p->g->outputs.count; i++) {
        tensor_id t = p->g->outputs.items[i];
        struct view v = planner_view(p, t, LAYOUT_ROWS);
        if (!can_be_output(p, &v)) {
            v = planner_copy(p, &v, v.dtype, LAYOUT_ROWS);
            writer_of(p, v.memory)->is_constant = false;
            writer_of(p, v.memory)->copied = t;
            writer_of(p, v.memory)->copied_to = LAYOUT_ANY;
            note_copy_for_output(p, t);
        }
        p->plan->memory.items[v.memory].place = MEMORY_OUTPUT;
        p->plan->memory.items[v.memory].index = (int64_t)i;
    }
}

bool plan_make(struct plan *ret_plan, const struct plan_request *request, struct error *error)
{
    const struct graph *g = request->graph;
    struct arena *arena = request->arena;
    bool *live = arena_array(arena, bool, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id id = 0; id < g->nodes.count; id++)
        if (live[id] && !can_plan(g, &g->nodes.items[id], error))
            return false;
    struct plan plan = {.graph = g, .arena = arena, .next_node = arena_array(arena, node_id, g->nodes.count + 1)};
    struct planner p = {.g = g,
                        .target = request->target,
                        .codes = request->codes,
                        .plan = &plan,
                        .arena = arena,
                        .tensors = arena_array(arena, struct tensor_state, g->tensors.count + 1),
                        .n_uses = arena_array(arena, uint32_t, g->tensors.count + 1),
                        .is_planned = arena_array(arena, bool, g->nodes.count + 1),
                        .layouts = request->layouts,
                        .is_traced = request->is_traced && request->target->layouts};
    graph_uses_init(&p.uses, g, live);
    look_over_graph(&p, live);
    planner_mark_images(&p, live);
    planner_find_parts(&p, live);
    for (node_id id = 0; id < g->nodes.count; id++) {
        p.node = id;
        p.requester = planner_requester(&p, id);
        if (live[id] && !p.is_planned[id])
            plan_node(&p, id);
    }
    p.node = NO_NODE;
    p.requester = NO_TENSOR;
    plan_outputs(&p);
    planner_finish(&p);
    graph_uses_free(&p.uses);
    *ret_plan = plan;
    return true;
}

void plan_free(struct plan *plan)
{
    vec_free(&plan->steps);
    vec_free(&plan->memory);
    vec_free(&plan->choices);
    vec_free(&plan->requests);
}
