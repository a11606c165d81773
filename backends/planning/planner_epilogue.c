// A cluster joins a kernel: the fewest operators, in topological order, after which the kernel's own result is
// needed by nobody else and one new tensor stands in its place:
//
//     conv ── t ──┬── sigmoid ──┐            conv ── t ── relu ── z          the cluster is { relu }
//                 └──────────── mul ── z     the cluster is { sigmoid, mul }
//
// The kernel is asked whether it accepts the code of the whole cluster.
#include "backends/planning/planner_epilogue.h"

#include "backends/planning/loop_builder.h"
#include "backends/planning/planner_parts.h"
#include "backends/planning/planner_state.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"
#include <string.h>

#define CLUSTER_MAX_NODES 8
#define CLUSTER_MAX_TENSORS (CLUSTER_MAX_NODES + 1)

struct cluster {
    int n_nodes, n_tensors;
    node_id nodes[CLUSTER_MAX_NODES];
    tensor_id tensors[CLUSTER_MAX_TENSORS];   // the kernel's result, then one for each node
    uint32_t n_left[CLUSTER_MAX_TENSORS];     // uses outside of the cluster
    uint16_t values[CLUSTER_MAX_TENSORS];     // in the epilogue
};

static int number_in_cluster(const struct cluster *c, tensor_id t)
{
    return PLACE_OF(int, i, c->n_tensors, c->tensors[i] == t);
}

static void add_tensor(const struct planner *p, struct cluster *c, tensor_id t)
{
    c->tensors[c->n_tensors] = t;
    c->n_left[c->n_tensors++] = p->n_uses[t];
}

// --- choosing --------------------------------------------------------------------------------------------------------

static bool may_take_epilogue(const struct planner *p, tensor_id t)
{
    const struct tensor_state *s = &p->tensors[t];
    if (s->standing != TENSOR_STORED || s->step == NO_STEP)
        return false;
    const struct step *step = &p->plan->steps.items[s->step];
    return step->kernel->accepts_epilogue && !step->notes.is_pinned && step->n_results == 1 &&
           s->view.memory == step->results[0].memory && s->view.offset == 0 && s->view.rank == step->results[0].rank &&
           memcmp(s->view.stride, step->results[0].stride, sizeof s->view.stride) == 0;
}

static const struct stage_code *map_of(const struct planner *p, node_id node)
{
    const struct node *n = &p->g->nodes.items[node];
    if (n->op->flags & (OPERATOR_IS_LEAF | OPERATOR_IS_OPAQUE | OPERATOR_IS_VIEW))
        return NULL;
    const struct code *code = code_cache_find(p->codes, p->g, node);
    return code->kind == CODE_MAP ? &code->stages[0] : NULL;
}

// Same shape and type as the result, reads of the cluster at the same place, everything else planned already.
static bool can_join(const struct planner *p, const struct cluster *c, node_id node)
{
    const struct stage_code *stage = map_of(p, node);
    const struct type *type = graph_type(p->g, c->tensors[0]);
    if (!stage || !type_equal(&stage->type, type) || p->is_planned[node] ||
        p->tensors[p->g->nodes.items[node].first_output].is_constant != p->tensors[c->tensors[0]].is_constant)
        return false;
    for (int i = 0; i < stage->n_reads; i++) {
        tensor_id t = graph_inputs(p->g, node)[stage->reads[i].tensor];
        if (number_in_cluster(c, t) < 0
                ? p->tensors[t].standing == TENSOR_ABSENT
                : planner_is_apart(p, t) || !read_is_identity(&stage->reads[i], graph_type(p->g, t), type))
            return false;
    }
    return true;
}

static void join(const struct planner *p, struct cluster *c, node_id node)
{
    const struct node *n = &p->g->nodes.items[node];
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        int number = number_in_cluster(c, graph_inputs(p->g, node)[i]);
        if (number >= 0)
            c->n_left[number]--;
    }
    c->nodes[c->n_nodes++] = node;
    add_tensor(p, c, n->first_output);
}

static bool is_in_cluster(const struct cluster *c, node_id node)
{
    return ANY(int, i, c->n_nodes, c->nodes[i] == node);
}

// The first node in topological order that reads a tensor of the cluster and is not in it.
static node_id next_reader(const struct planner *p, const struct cluster *c)
{
    node_id first = NO_NODE;
    for (int i = 0; i < c->n_tensors; i++)
        for (uint32_t k = p->uses.first[c->tensors[i]]; k < p->uses.first[c->tensors[i] + 1]; k++)
            if (p->uses.nodes[k] < first && !is_in_cluster(c, p->uses.nodes[k]))
                first = p->uses.nodes[k];
    return first;
}

static bool is_closed(const struct cluster *c)
{
    for (int i = 0; i + 1 < c->n_tensors; i++)
        if (c->n_left[i])
            return false;
    return c->n_nodes > 0;
}

static bool choose_cluster(const struct planner *p, tensor_id result, struct cluster *ret_cluster)
{
    ret_cluster->n_nodes = ret_cluster->n_tensors = 0;
    add_tensor(p, ret_cluster, result);
    while (!is_closed(ret_cluster)) {
        node_id next = next_reader(p, ret_cluster);
        if (next == NO_NODE || ret_cluster->n_nodes == CLUSTER_MAX_NODES || !can_join(p, ret_cluster, next))
            return false;
        join(p, ret_cluster, next);
    }
    return true;
}

// --- the epilogue's loop ---------------------------------------------------------------------------------------------

static struct loop start_of_epilogue(struct planner *p, const struct step *step)
{
    const struct view *result = &step->results[0];
    struct loop loop = {.rank = result->rank};
    memcpy(loop.dim, result->dim, sizeof result->dim);
    struct loop_access own = access_of_view(result);
    if (step->n_loops) {
        const struct loop *old = &step->loops[0];
        for (int i = 0; i < old->n_operands; i++)
            loop_add_operand(p, &loop, &old->operands[i]);
        for (int i = 0; i < old->n_instructions; i++)
            loop_add_instruction(p, &loop, old->instructions[i]);
        loop_add_result(p, &loop, old->results[0].value, &own);
    } else {
        loop_add_result(p, &loop, loop_add_operand(p, &loop, &own), &own);
    }
    return loop;
}

// A tensor that the epilogue reads, as it would stand: one that is not stored yet, like the result itself.
static struct view expected_view(const struct planner *p, tensor_id t, const struct view *result)
{
    struct view v = *result;
    if (!planner_peek(p, t, &v))
        v.dtype = graph_type(p->g, t)->dtype;
    return v;
}

static bool is_full(const struct view *v, const struct view *result)
{
    return v->rank == result->rank &&
           ALL(int, i, v->rank, v->dim[i] == result->dim[i] && (v->dim[i] == 1 || v->stride[i] != 0));
}

static struct loop_access access_of_operand(struct planner *p, tensor_id t, const struct affine_read *read,
                                            const struct view *result, bool is_trial)
{
    struct view v = expected_view(p, t, result);
    if (is_full(&v, result) && !is_trial) {
        v = planner_dense(p, t, view_find_layout(result, ~0u));
    } else if (is_full(&v, result)) {
        memcpy(v.stride, result->stride, sizeof v.stride);
        v.block = result->block;
        v.block_axis = result->block_axis;
    } else if (!is_trial) {
        v = planner_view_for_read(p, t, read, result->dim);
    }
    return planner_access_of_read(read, &v);
}

static void extend_epilogue(struct planner *p, struct loop *loop, struct cluster *c, const struct view *result,
                            bool is_trial)
{
    c->values[0] = loop->results[0].value;
    for (int k = 0; k < c->n_nodes; k++) {
        const struct stage_code *stage = map_of(p, c->nodes[k]);
        uint16_t reads[CODE_MAX_READS];
        for (int i = 0; i < stage->n_reads; i++) {
            tensor_id t = graph_inputs(p->g, c->nodes[k])[stage->reads[i].tensor];
            int number = number_in_cluster(c, t);
            if (number >= 0) {
                reads[i] = c->values[number];
                continue;
            }
            struct loop_access access = access_of_operand(p, t, &stage->reads[i], result, is_trial);
            reads[i] = loop_add_operand(p, loop, &access);
        }
        c->values[k + 1] = planner_append_code(p, loop, stage, reads);
    }
    loop->results[0].value = c->values[c->n_nodes];
}

// The result has become a part of something else: the step writes it there, if it can with this epilogue.
static void move_to_part(struct planner *p, struct step *step, tensor_id t)
{
    struct view part = planner_part(p, t), *at = arena_copy_array(p->arena, &part, 1);
    struct step moved = *step;
    struct loop loop = step->loops[0];
    loop.operands = arena_copy_array(p->arena, loop.operands, loop.n_operands);
    loop.results = arena_copy_array(p->arena, loop.results, loop.n_results);
    loop.operands[0] = loop.results[0].to = access_of_view(&part);
    moved.results = at;
    moved.loops = arena_copy_array(p->arena, &loop, 1);
    if (step->kernel->accepts_epilogue(p, &moved, moved.loops))
        *step = moved;
}

static void bind_cluster(struct planner *p, uint32_t step, const struct cluster *c)
{
    tensor_id z = c->tensors[c->n_nodes];
    struct step *s = &p->plan->steps.items[step];
    for (int i = 0; i < c->n_nodes; i++) {
        planner_attach_node(p, step, c->nodes[i]);
        p->is_planned[c->nodes[i]] = true;
    }
    if (planner_may_move_to_part(p, s->node, z))
        move_to_part(p, s, z);
    planner_bind(p, z, &s->results[0], step);
    planner_move_to_end(p, step);
}

static bool accepts_cluster(struct planner *p, const struct step *step, struct cluster *c)
{
    ARENA_MARK(mark, p->arena);
    struct loop trial = start_of_epilogue(p, step);
    extend_epilogue(p, &trial, c, &step->results[0], true);
    return step->kernel->accepts_epilogue(p, step, &trial);
}

static bool try_epilogue_of(struct planner *p, node_id node, tensor_id t)
{
    struct cluster c;
    if (!may_take_epilogue(p, t) || !choose_cluster(p, t, &c))
        return false;
    uint32_t id = p->tensors[t].step;
    struct view result = p->plan->steps.items[id].results[0];
    if (!accepts_cluster(p, &p->plan->steps.items[id], &c))
        return false;
    struct loop *loop = arena_new(p->arena, struct loop);
    *loop = start_of_epilogue(p, &p->plan->steps.items[id]);
    p->requester = p->plan->memory.items[result.memory].chooser;
    extend_epilogue(p, loop, &c, &result, false);
    p->requester = planner_requester(p, node);
    p->plan->steps.items[id].loops = loop;
    p->plan->steps.items[id].n_loops = 1;
    bind_cluster(p, id, &c);
    return true;
}

bool planner_join_epilogue(struct planner *p, node_id node)
{
    const struct node *n = &p->g->nodes.items[node];
    for (uint32_t i = n->n_inputs; i-- > 0;)
        if (try_epilogue_of(p, node, graph_inputs(p->g, node)[i]))
            return true;
    return false;
}
