// Steps stand in the order of their numbers until planning ends; `order` says where each belongs.
#include "backends/planning/planner_state.h"

// --- tensors ---------------------------------------------------------------------------------------------------------

const struct graph *planner_graph(const struct planner *p)
{
    return p->g;
}

bool planner_is_constant(const struct planner *p, tensor_id t)
{
    return p->tensors[t].is_constant;
}

bool planner_peek(const struct planner *p, tensor_id t, struct view *ret_view)
{
    if (p->tensors[t].standing != TENSOR_STORED)
        return false;
    *ret_view = p->tensors[t].view;
    return true;
}

void planner_bind(struct planner *p, tensor_id t, const struct view *v, uint32_t step)
{
    p->tensors[t].standing = TENSOR_STORED;
    p->tensors[t].view = *v;
    p->tensors[t].step = step;
}

bool planner_is_apart(const struct planner *p, tensor_id t)
{
    return p->layouts && (p->layouts[t] & PLAN_APART);
}

unsigned planner_layouts(const struct planner *p, node_id node)
{
    const struct layout_support *support = p->target->layouts;
    const struct node *n = &p->g->nodes.items[node];
    const struct tensor_state *z = &p->tensors[n->first_output];
    if (!support)
        return 0;
    return support->of_operator[n->op->id] ? support->of_operator[n->op->id]
           : z->is_image                   ? support->of_loops_on_images
           : z->is_matrix                  ? support->of_loops_on_matrices
                                           : 0;
}

// --- steps and memories ----------------------------------------------------------------------------------------------

uint32_t planner_open_step(struct planner *p, const struct kernel *kernel, node_id node, bool is_constant)
{
    uint32_t id = (uint32_t)p->plan->steps.count;
    vec_push(&p->plan->steps, ((struct step){.kernel = kernel,
                                             .node = node,
                                             .origin.first_node = NO_NODE,
                                             .origin.last_node = NO_NODE,
                                             .notes.owner = p->node,
                                             .origin.copied = NO_TENSOR,
                                             .origin.n_pieces = 1,
                                             .notes.order = ++p->clock,
                                             .is_constant = is_constant}));
    return id;
}

void planner_attach_node(struct planner *p, uint32_t step, node_id node)
{
    struct step *s = &p->plan->steps.items[step];
    if (s->origin.first_node == NO_NODE)
        s->origin.first_node = node;
    else
        p->plan->next_node[s->origin.last_node] = node;
    s->origin.last_node = node;
}

memory_id planner_add_memory(struct planner *p, enum dtype dtype, int64_t elements)
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

struct step *planner_writer(const struct planner *p, memory_id memory)
{
    uint32_t writer = p->plan->memory.items[memory].writer;
    return writer == NO_STEP ? NULL : &p->plan->steps.items[writer];
}

void planner_move_to_end(struct planner *p, uint32_t step)
{
    p->plan->steps.items[step].notes.order = ++p->clock;
}

struct view planner_allocate(struct planner *p, const struct type *type, enum layout layout)
{
    return view_dense(planner_add_memory(p, type->dtype, type_elements(type)), type, layout);
}
