// Concatenation without copies. The result of a concatenation is a whole, and who makes an input writes it where it
// belongs, its part:
//
//     conv ── x ── concat 1 ── z        z     [ x | y ]     one memory
//     pool ── y ──┘                     x, y  strides of z, from the corner of their part on
//
// A part may be a whole of further parts, and a concatenation whose inputs are neighbours in another one's result is a
// view of that. Inputs that are no parts (leaves, views, what is constant, a tensor given twice) are copied there.
//
// All parts of a whole stand in its layout, which is one choice. Which tensors are parts is known before anything is
// planned and depends on the graph alone: plans that differ in choices have the same parts. What an anchor makes before
// its epilogue stands in the layout of the whole, too (it follows it), so that the epilogue can take it there.
#include "backends/planning/planner_parts.h"

#include "backends/planning/planner_state.h"
#include "core/memory/arena.h"
#include "operators/traits.h"
#include <string.h>

#define LEAST_RUN_BYTES 32   // of neighbours in memory: less is slower to write in place than to copy

// --- places ----------------------------------------------------------------------------------------------------------

static int64_t bytes_of_run(const struct view *v)
{
    int64_t run = v->block ? v->block : 1;
    for (int i = 0; i < v->rank; i++)
        for (int k = 0; k < v->rank; k++)
            if (v->dim[k] > 1 && v->stride[k] == run && !(v->block && k == v->block_axis)) {
                run *= v->dim[k];
                break;
            }
    return run * (int64_t)dtype_size(v->dtype);
}

// --- which tensors are parts -----------------------------------------------------------------------------------------

struct looking {
    struct planner *p;
    bool *is_output;   // of every tensor
};

static unsigned layouts_of(const struct planner *p, tensor_id t)
{
    return planner_layouts(p, p->g->tensors.items[t].producer) | LAYOUT_BIT(LAYOUT_ROWS);
}

static bool is_concat(const struct planner *p, node_id id)
{
    const struct node *n = &p->g->nodes.items[id];
    return operator_joins(n->op) && n->n_inputs <= PLANNER_MOST_CONCATENATED &&
           !p->tensors[n->first_output].is_constant && type_elements(graph_type(p->g, n->first_output)) > 0;
}

int planner_concat_axis(const struct planner *p, node_id id)
{
    const struct node *n = &p->g->nodes.items[id];
    return (int)node_attribute(n, ROLE_AXIS)->ints[0];
}

unsigned planner_layouts_of_concat(const struct planner *p, node_id id)
{
    const struct node *n = &p->g->nodes.items[id];
    unsigned mask = planner_layouts(p, id);
    for (uint32_t i = 0; i < n->n_inputs && planner_concat_axis(p, id) == 1; i++)
        for (enum layout l = 0; l < LAYOUT_COUNT; l++)
            if (layout_block(l) && !layout_suits(l, graph_type(p->g, graph_inputs(p->g, id)[i])))
                mask &= ~LAYOUT_BIT(l);
    return mask;
}

static bool has_whole_blocks(const struct planner *p, node_id id)
{
    const struct type *type = graph_type(p->g, p->g->nodes.items[id].first_output);
    unsigned lacking = planner_layouts(p, id) & ~planner_layouts_of_concat(p, id);
    return !ANY(enum layout, l, LAYOUT_COUNT, (lacking & LAYOUT_BIT(l)) && layout_suits(l, type));
}

// A leaf, or what is nothing but a view of something else.
static bool is_view(const struct planner *p, node_id id)
{
    const struct node *n = &p->g->nodes.items[id];
    return (n->op->flags & (OPERATOR_IS_LEAF | OPERATOR_IS_VIEW)) ||
           code_cache_find(p->codes, p->g, id)->kind == CODE_VIEW;
}

static bool has_place_in_layout(const struct planner *p, node_id maker, const struct type *whole,
                                const struct type *type, const int64_t *start, enum layout layout)
{
    int block = layout_block(layout);
    struct view all = view_dense(NO_MEMORY, whole, layout), v = view_part(&all, type, start);
    if (block && (start[1] % block || !layout_suits(layout, type)))
        return false;
    return (bytes_of_run(&v) >= LEAST_RUN_BYTES || view_dense_like(&v, &all)) &&
           ((is_concat(p, maker) && has_whole_blocks(p, maker)) ||
            p->target->writes_part(p->target->context, p, maker, &v));
}

// Can the maker write it there, whatever the layout of the whole will be?
static bool has_place(const struct planner *p, node_id maker, tensor_id t, const struct tensor_whole *whole,
                      const int64_t *start)
{
    const struct type *type = graph_type(p->g, t), *all = graph_type(p->g, whole->tensor);
    unsigned mask = layouts_of(p, whole->tensor);
    if (layouts_of(p, t) != mask)
        return false;
    return !ANY(enum layout, l, LAYOUT_COUNT,
                (mask & LAYOUT_BIT(l)) && layout_suits(l, all) && !has_place_in_layout(p, maker, all, type, start, l));
}

static bool may_be_part(const struct looking *l, tensor_id t, const struct tensor_whole *whole, const int64_t *start)
{
    const struct planner *p = l->p;
    node_id maker = p->g->tensors.items[t].producer;
    const struct node *n = &p->g->nodes.items[maker];
    return !p->tensors[t].part && !p->tensors[t].is_constant && !planner_is_apart(p, t) && !l->is_output[t] &&
           n->n_outputs == 1 && !is_view(p, maker) && type_elements(graph_type(p->g, t)) > 0 &&
           has_place(p, maker, t, whole, start);
}

static const struct tensor_part *new_part(struct planner *p, struct tensor_whole *whole, const int64_t *start)
{
    struct tensor_part *part = arena_new(p->arena, struct tensor_part);
    part->whole = whole;
    memcpy(part->start, start, sizeof part->start);
    return part;
}

static struct tensor_whole *new_whole(struct planner *p, tensor_id t)
{
    struct tensor_whole *whole = arena_new(p->arena, struct tensor_whole);
    whole->tensor = t;
    return whole;
}

// The inputs are parts of one whole already, of a later concatenation, side by side in the same order.
static const struct tensor_part *part_of_neighbours(const struct planner *p, node_id id, int axis)
{
    const tensor_id *inputs = graph_inputs(p->g, id);
    const struct tensor_part *first = p->tensors[inputs[0]].part;
    int64_t start[MAX_RANK];
    if (!first)
        return NULL;
    memcpy(start, first->start, sizeof start);
    for (uint32_t i = 0; i < p->g->nodes.items[id].n_inputs; i++) {
        const struct tensor_part *part = p->tensors[inputs[i]].part;
        if (!part || part->whole != first->whole || memcmp(part->start, start, sizeof start) != 0)
            return NULL;
        start[axis] += graph_type(p->g, inputs[i])->dim[axis];
    }
    return first;
}

static void find_parts_of(const struct looking *l, node_id id)
{
    struct planner *p = l->p;
    const struct node *n = &p->g->nodes.items[id];
    struct tensor_state *z = &p->tensors[n->first_output];
    int axis = planner_concat_axis(p, id);
    const struct tensor_part *there = z->part || l->is_output[n->first_output] ? NULL : part_of_neighbours(p, id, axis);
    if (there && has_place(p, id, n->first_output, there->whole, there->start)) {
        z->part = new_part(p, there->whole, there->start);
        return;
    }
    int64_t start[MAX_RANK] = {0};
    struct tensor_whole *whole = z->part ? z->part->whole : new_whole(p, n->first_output);
    if (z->part)
        memcpy(start, z->part->start, sizeof start);
    for (uint32_t i = 0; i < n->n_inputs; i++) {
        tensor_id t = graph_inputs(p->g, id)[i];
        if (may_be_part(l, t, whole, start)) {
            p->tensors[t].part = new_part(p, whole, start);
            if (!z->part)
                z->part = new_part(p, whole, (int64_t[MAX_RANK]){0});
        }
        start[axis] += graph_type(p->g, t)->dim[axis];
    }
}

// Can the tensor stand in whatever layout the whole will have?
static bool can_follow(const struct planner *p, tensor_id t, const struct tensor_whole *whole)
{
    node_id maker = p->g->tensors.items[t].producer;
    const struct type *type = graph_type(p->g, t);
    unsigned mask = layouts_of(p, t);
    if (mask != layouts_of(p, whole->tensor) || is_view(p, maker) || is_concat(p, maker))
        return false;
    for (enum layout l = 0; l < LAYOUT_COUNT; l++) {
        struct view v = view_dense(NO_MEMORY, type, l);
        if ((mask & LAYOUT_BIT(l)) && layout_suits(l, graph_type(p->g, whole->tensor)) &&
            (!layout_suits(l, type) || !p->target->writes_part(p->target->context, p, maker, &v)))
            return false;
    }
    return true;
}

// The whole into which all that is made of the tensor goes, at the same places.
static struct tensor_whole *whole_of_readers(const struct looking *l, tensor_id t)
{
    const struct planner *p = l->p;
    struct tensor_whole *whole = NULL;
    if (l->is_output[t] || p->tensors[t].is_constant)
        return NULL;
    for (uint32_t k = p->uses.first[t]; k < p->uses.first[t + 1]; k++) {
        node_id reader = p->uses.nodes[k];
        const struct node *n = &p->g->nodes.items[reader];
        const struct tensor_state *z = &p->tensors[n->first_output];
        struct tensor_whole *next = z->part ? z->part->whole : z->follows;
        if (!next || (whole && next != whole) || is_view(p, reader) ||
            !type_equal(graph_type(p->g, t), graph_type(p->g, n->first_output)) ||
            code_cache_find(p->codes, p->g, reader)->kind != CODE_MAP)
            return NULL;
        whole = next;
    }
    return whole && can_follow(p, t, whole) ? whole : NULL;
}

void planner_find_parts(struct planner *p, const bool *live)
{
    struct looking l = {p, arena_array(p->arena, bool, p->g->tensors.count + 1)};
    if (!p->target->writes_part)
        return;
    for (size_t i = 0; i < p->g->outputs.count; i++)
        l.is_output[p->g->outputs.items[i]] = true;
    for (node_id id = (node_id)p->g->nodes.count; id-- > 0;) {
        const struct node *n = &p->g->nodes.items[id];
        if (!live[id] || (n->op->flags & OPERATOR_IS_LEAF) || n->n_outputs != 1)
            continue;
        if (!p->tensors[n->first_output].part)
            p->tensors[n->first_output].follows = whole_of_readers(&l, n->first_output);
        if (is_concat(p, id) && has_whole_blocks(p, id))
            find_parts_of(&l, id);
    }
}

// --- planning with them ----------------------------------------------------------------------------------------------

struct tensor_whole *planner_whole_of(const struct planner *p, tensor_id t)
{
    return p->tensors[t].part ? p->tensors[t].part->whole : p->tensors[t].follows;
}

tensor_id planner_requester(const struct planner *p, node_id node)
{
    tensor_id t = p->g->nodes.items[node].first_output;
    return planner_whole_of(p, t) ? planner_whole_of(p, t)->tensor : t;
}

struct view planner_part(const struct planner *p, tensor_id t)
{
    const struct tensor_part *part = p->tensors[t].part;
    return view_part(&part->whole->view, graph_type(p->g, t), part->start);
}

bool planner_may_move_to_part(const struct planner *p, node_id maker, tensor_id to)
{
    const struct tensor_part *part = p->tensors[to].part;
    return part && p->tensors[p->g->nodes.items[maker].first_output].follows == part->whole &&
           has_place(p, maker, to, part->whole, part->start);
}
