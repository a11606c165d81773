// Nodes in their order: leaves, views, claims, loops, evaluation; then outputs.
#include "backends/planning/planner.h"

#include "backends/planning/loop_builder.h"
#include "backends/planning/plan_blocks.h"
#include "backends/planning/plan_chains.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_loops.h"
#include "backends/planning/planner_parts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_steps.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "graph/graph_whole.h"
#include <string.h>

// --- the end ---------------------------------------------------------------------------------------------------------
// The order of steps, and lifetimes of memories.

COMPARISON(compare_orders, struct step, ORDER(x->notes.order, y->notes.order))

COMPARISON(compare_needs, struct step, ORDER(x->notes.needed_at, y->notes.needed_at) ?: compare_orders(x, y))

static void drop_empty_steps(struct plan *plan)
{
    vec_keep(&plan->steps, s, s->node != NO_NODE || s->n_loops);
}

static void note_apart(struct planner *p)
{
    vec_each(&p->plan->steps, s)
        s->notes.is_apart =
            s->origin.last_node != NO_NODE && planner_is_apart(p, p->g->nodes.items[s->origin.last_node].first_output);
}

static void keep_results_of_constants(struct planner *p)
{
    for (memory_id m = 0; m < p->plan->memory.count; m++)
        if (p->plan->memory.items[m].writer != NO_STEP && p->plan->memory.items[m].place == MEMORY_ARENA &&
            p->plan->steps.items[p->plan->memory.items[m].writer].is_constant)
            p->plan->memory.items[m].place = MEMORY_CONSTANT;
}

static uint32_t earlier(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

// Steps stand in their order: whoever reads a memory stands behind who writes it. Of what nobody needs: the end.
static void find_needs(struct planner *p)
{
    uint32_t *needed_at = arena_array(p->plan->arena, uint32_t, p->plan->memory.count + 1);
    memset(needed_at, 0xff, p->plan->memory.count * sizeof *needed_at);
    for (size_t i = p->plan->steps.count; i-- > 0;) {
        struct step *s = &p->plan->steps.items[i];
        s->notes.needed_at = s->is_constant ? UINT32_MAX : s->notes.order;
        for (struct touched_memory t = {0}; s->is_constant && step_next_memory(s, &t);)
            if (t.is_written)
                s->notes.needed_at = earlier(s->notes.needed_at, needed_at[t.memory]);
        for (struct touched_memory t = {0}; step_next_memory(s, &t);)
            needed_at[t.memory] = earlier(needed_at[t.memory], s->notes.needed_at);
    }
}

static void finish(struct planner *p)
{
    struct plan *plan = p->plan;
    keep_results_of_constants(p);
    note_apart(p);
    vec_sort(&plan->steps, compare_orders);
    drop_empty_steps(plan);
    find_needs(p);
    vec_sort(&plan->steps, compare_needs);
    for (size_t i = 0; i < plan->steps.count; i++)
        for (int k = 0; plan->steps.items[i].kernel == p->target->loops && k < plan->steps.items[i].n_loops; k++)
            loop_split_blocks(&plan->steps.items[i].loops[k]);
    plan_note_lives(plan);
}

// --- nodes -----------------------------------------------------------------------------------------------------------

static void plan_leaf(struct planner *p, const struct node *n)
{
    const struct type *type = graph_type(p->g, n->first_output);
    bool is_weight = n->op == operators[OP_WEIGHT];
    memory_id memory = planner_add_memory(p, type->dtype, type_elements(type));
    p->plan->memory.items[memory].place = is_weight ? MEMORY_WEIGHT : MEMORY_INPUT;
    p->plan->memory.items[memory].index = n->attributes[0].ints[0];
    struct view v = view_dense(memory, type, LAYOUT_ROWS);
    planner_bind(p, n->first_output, &v, NO_STEP);
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
    planner_bind(p, n->first_output, &v, p->plan->memory.items[v.memory].writer);
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
        planner_bind(p, n->first_output + i, &v, p->plan->memory.items[v.memory].writer);
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
    return ANY(uint32_t, i, n->n_outputs, type_elements(graph_type(p->g, n->first_output + i)) == 0);
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
    return ALL(uint32_t, i, n->n_inputs, p->tensors[graph_inputs(p->g, id)[i]].is_constant);
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
    const struct step *writer = planner_writer(p, v->memory);
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
            planner_writer(p, v.memory)->is_constant = false;
            planner_writer(p, v.memory)->origin.copied = t;
            planner_writer(p, v.memory)->origin.copied_to = LAYOUT_ANY;
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
    finish(&p);
    graph_uses_free(&p.uses);
    *ret_plan = plan;
    return true;
}

void plan_free(struct plan *plan)
{
    vecs_free(plan, steps, memory, choices, requests);
}
