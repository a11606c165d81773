// A result of another element type than the output is converted behind the step.
#include "backends/planning/planner_steps.h"

#include "backends/planning/planner_state.h"
#include "backends/planning/planner_views.h"
#include "core/memory/arena.h"

// Binds the tensor to what that step makes.
static void bind_output(struct planner *p, tensor_id t, const struct view *result, uint32_t step)
{
    const struct type *type = graph_type(p->g, t);
    struct view v = *result;
    if (v.dtype != type->dtype)
        v = planner_copy_like(p, result, type->dtype);
    planner_bind(p, t, &v, v.memory == result->memory ? step : p->plan->memory.items[v.memory].writer);
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
    p->plan->steps.items[id].origin.piece = piece;
    planner_note_writer(p, result->memory, id);
    return &p->plan->steps.items[id];
}
