// How code becomes loops: neighbours of one shape join one loop, stages share outer axes.
#include "backends/planning/planner_loops.h"

#include "backends/planning/loop_builder.h"
#include "backends/planning/planner_epilogue.h"
#include "backends/planning/planner_layouts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"
#include <string.h>

// A loop with more than this gains nothing from growing further.
#define LOOP_ENOUGH_OPERANDS 24
#define LOOP_ENOUGH_INSTRUCTIONS 120

// --- element-wise groups ---------------------------------------------------------------------------------------------

static bool has_domain(const struct loop *loop, const struct type *type)
{
    return loop->rank == type->rank && memcmp(loop->dim, type->dim, sizeof type->dim[0] * (size_t)type->rank) == 0;
}

// The open group that computes what the read gives at the same place; NO_STEP when there is none.
static uint32_t open_group_of(const struct planner *p, node_id node, const struct stage_code *stage, int read)
{
    tensor_id t = graph_inputs(p->g, node)[stage->reads[read].tensor], z = p->g->nodes.items[node].first_output;
    const struct tensor_state *s = &p->tensors[t];
    if (s->standing != TENSOR_IN_LOOP || planner_is_apart(p, t) || p->plan->steps.items[s->step].notes.is_pinned ||
        !has_domain(&p->plan->steps.items[s->step].loops[0], &stage->type) ||
        !read_is_identity(&stage->reads[read], graph_type(p->g, t), &stage->type) ||
        s->is_constant != p->tensors[z].is_constant)
        return NO_STEP;
    return s->step;
}

static bool would_be_too_large(const struct loop *a, const struct loop *b, const struct stage_code *stage)
{
    return a->n_operands + b->n_operands + stage->n_reads > LOOP_ENOUGH_OPERANDS ||
           a->n_instructions + b->n_instructions + stage->n_instructions > LOOP_ENOUGH_INSTRUCTIONS;
}

static bool is_same_access(const struct loop_access *a, const struct loop_access *b, int rank)
{
    return a->memory == b->memory && a->offset == b->offset && a->dtype == b->dtype && a->block == b->block &&
           a->block_variable == b->block_variable &&
           memcmp(a->stride, b->stride, sizeof a->stride[0] * (size_t)rank) == 0;
}

static uint16_t operand_once(struct planner *p, struct loop *loop, const struct loop_access *access)
{
    for (int i = 0; i < loop->n_operands; i++)
        if (is_same_access(&loop->operands[i], access, loop->rank))
            return (uint16_t)i;
    return loop_add_operand(p, loop, access);
}

// All of group `from` moves into group `to`; nobody outside reads `from` yet.
static void merge_groups(struct planner *p, uint32_t to, uint32_t from)
{
    struct loop *target = &p->plan->steps.items[to].loops[0], *source = &p->plan->steps.items[from].loops[0];
    uint16_t *operands = arena_array(p->arena, uint16_t, source->n_operands + 1);
    uint16_t first = (uint16_t)(VALUE_OF_INSTRUCTION | target->n_instructions);
    for (int i = 0; i < source->n_operands; i++)
        operands[i] = operand_once(p, target, &source->operands[i]);
#define MOVED(v) ((v)&VALUE_OF_INSTRUCTION ? (uint16_t)(first + ((v) & ~VALUE_OF_INSTRUCTION)) : operands[v])
    for (int i = 0; i < source->n_instructions; i++) {
        struct instruction at = source->instructions[i];
        if (at.kind == INSTRUCTION_APPLY) {
            int arity = function_arity((enum scalar_function)at.fn);
            at.a = MOVED(at.a);
            at.b = arity > 1 ? MOVED(at.b) : 0;
            at.c = arity > 2 ? MOVED(at.c) : 0;
            instruction_sort_operands(&at);
        }
        loop_add_instruction(p, target, at);
    }
    for (node_id n = p->plan->steps.items[from].origin.first_node, next; n != NO_NODE; n = next) {
        struct tensor_state *s = &p->tensors[p->g->nodes.items[n].first_output];
        next = p->plan->next_node[n];
        s->value = MOVED(s->value);
        s->step = to;
        p->plan->next_node[n] = NO_NODE;
        planner_attach_node(p, to, n);
    }
#undef MOVED
    p->plan->steps.items[from].n_loops = 0;
    p->plan->steps.items[from].origin.first_node = NO_NODE;
}

static uint32_t group_for(struct planner *p, node_id node, const struct stage_code *stage)
{
    uint32_t group = NO_STEP;
    for (int i = 0; i < stage->n_reads; i++) {
        uint32_t other = open_group_of(p, node, stage, i);
        if (other == NO_STEP || other == group)
            continue;
        static const struct loop nothing;
        const struct loop *mine = group == NO_STEP ? &nothing : &p->plan->steps.items[group].loops[0];
        if (would_be_too_large(mine, &p->plan->steps.items[other].loops[0], stage))
            continue;
        if (group == NO_STEP)
            group = other;
        else
            merge_groups(p, group, other);
    }
    return group;
}

static uint32_t open_group(struct planner *p, node_id node, const struct stage_code *stage)
{
    bool is_constant = p->tensors[p->g->nodes.items[node].first_output].is_constant;
    uint32_t id = planner_open_step(p, p->target->loops, NO_NODE, is_constant);
    planner_add_loop(p, &p->plan->steps.items[id], stage->type.rank, 0, stage->type.dim);
    return id;
}

// Tensors that must be stored for this node are stored before the group is chosen: that may pin groups.
static void join_group(struct planner *p, node_id node, const struct stage_code *stage)
{
    uint16_t reads[CODE_MAX_READS];
    uint32_t group = group_for(p, node, stage);
    struct view views[CODE_MAX_READS];
    bool is_inside[CODE_MAX_READS];
    for (int i = 0; i < stage->n_reads; i++) {
        is_inside[i] = group != NO_STEP && open_group_of(p, node, stage, i) == group;
        tensor_id t = graph_inputs(p->g, node)[stage->reads[i].tensor];
        if (is_inside[i])
            reads[i] = p->tensors[t].value;
        else
            views[i] = planner_view_for_read(p, t, &stage->reads[i], stage->type.dim);
    }
    // A tensor of the group read at other places had to be stored, which pinned the group.
    if (group == NO_STEP || p->plan->steps.items[group].notes.is_pinned)
        group = open_group(p, node, stage);
    for (int i = 0; i < stage->n_reads; i++) {
        tensor_id t = graph_inputs(p->g, node)[stage->reads[i].tensor];
        if (is_inside[i] && p->tensors[t].step == group && p->tensors[t].standing == TENSOR_IN_LOOP)
            continue;
        if (is_inside[i])
            views[i] = planner_view_for_read(p, t, &stage->reads[i], stage->type.dim);
        struct loop_access access = planner_access_of_read(&stage->reads[i], &views[i]);
        reads[i] = operand_once(p, &p->plan->steps.items[group].loops[0], &access);
    }
    struct tensor_state *z = &p->tensors[p->g->nodes.items[node].first_output];
    z->value = planner_append_code(p, &p->plan->steps.items[group].loops[0], stage, reads);
    z->standing = TENSOR_IN_LOOP;
    z->step = group;
    planner_attach_node(p, group, node);
    planner_move_to_end(p, group);
}

// --- stages ----------------------------------------------------------------------------------------------------------

// The leading axes that all stages share, such that a stage reads another one only at its own place on them.
static int shared_axes(const struct code *code)
{
    int shared = MAX_RANK;
    for (int i = 0; i < code->n_stages; i++) {
        const struct type *first = &code->stages[0].type, *t = &code->stages[i].type;
        int n = FIRST_OF(int, k, first->rank, k == t->rank || first->dim[k] != t->dim[k]);
        shared = n < shared ? n : shared;
    }
    for (int i = 0; i < code->n_stages; i++)
        for (int r = 0; r < code->stages[i].n_reads; r++) {
            const struct affine_read *read = &code->stages[i].reads[r];
            int aligned = 0;
            if (read->tensor < code->n_inputs)
                continue;
            for (int k = 0; k < read->n_terms; k++)
                if (read->terms[k].axis == aligned && read->terms[k].variable == aligned &&
                    read->terms[k].coefficient == 1)
                    aligned++;
            shared = aligned < shared ? aligned : shared;
        }
    return code->n_stages > 1 ? shared : 0;
}

// An output that is a part stands where it belongs.
static struct view allocate_stage(struct planner *p, node_id node, const struct code *code, int stage)
{
    const struct node *n = &p->g->nodes.items[node];
    const struct type *type = &code->stages[stage].type;
    for (uint32_t i = 0; i < n->n_outputs; i++)
        if (code->outputs[i] == stage && p->tensors[n->first_output + i].part)
            return planner_allocate_chosen(p, n->first_output + i, type,
                                           planner_choose(p, n->first_output + i, 0, LAYOUT_ROWS));
    return planner_allocate(p, type, LAYOUT_ROWS);
}

static bool plan_stages(struct planner *p, node_id node, const struct code *code)
{
    const struct node *n = &p->g->nodes.items[node];
    struct view *views = arena_array(p->arena, struct view, code->n_inputs + code->n_stages);
    for (int i = 0; i < code->n_inputs; i++) {
        views[i] = planner_view(p, graph_inputs(p->g, node)[i], LAYOUT_ANY);
        if (views[i].block)
            views[i] = planner_dense_instead(p, graph_inputs(p->g, node)[i], LAYOUT_CHANNELS_LAST);
    }
    uint32_t id = planner_open_step(p, p->target->loops, node, p->tensors[n->first_output].is_constant);
    for (int i = 0; i < code->n_stages; i++) {
        const struct stage_code *stage = &code->stages[i];
        struct view *result = &views[code->n_inputs + i];
        int64_t dim[LOOP_MAX_RANK];
        uint16_t reads[CODE_MAX_READS];
        memcpy(dim, stage->type.dim, sizeof dim[0] * (size_t)stage->type.rank);
        memcpy(dim + stage->type.rank, stage->reduced, sizeof dim[0] * (size_t)stage->n_reduced);
        struct loop *loop = planner_add_loop(p, &p->plan->steps.items[id], stage->type.rank, stage->n_reduced, dim);
        for (int r = 0; r < stage->n_reads; r++) {
            struct loop_access access = planner_access_of_read(&stage->reads[r], &views[stage->reads[r].tensor]);
            reads[r] = loop_add_operand(p, loop, &access);
        }
        uint16_t value = planner_append_code(p, loop, stage, reads);
        *result = allocate_stage(p, node, code, i);
        planner_note_writer(p, result->memory, id);
        struct loop_access to = access_of_view(result);
        loop_add_result(p, loop, value, &to);
    }
    p->plan->steps.items[id].n_shared = shared_axes(code);
    planner_attach_node(p, id, node);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        planner_bind(p, n->first_output + i, &views[code->n_inputs + code->outputs[i]], id);
    return true;
}

bool planner_plan_code(struct planner *p, node_id node, const struct code *code)
{
    if (code->kind == CODE_STAGES)
        return plan_stages(p, node, code);
    if (planner_join_epilogue(p, node))
        return true;
    join_group(p, node, &code->stages[0]);
    return true;
}
