// A linear layer on matrices within a model of sequences is Reshape, Gemm, Reshape, and so is the next one: between the
// two layers stand an activation, and a reshape to where the first one came from.
//
//   x ── reshape ──┬─ mul ─ tanh ─┬─ mul ── reshape ──      becomes     x ─┬─ mul ─ tanh ─┬─ mul ──
//        (to B)    └──────────────┘ (last)  (to A)                         └──────────────┘
//
// Elementwise operators do the same to the same entries under either shape. The *region* are those between.
#include "graph/undone_reshapes.h"

#include "core/memory/memory.h"
#include "graph/graph_whole.h"
#include "operators/traits.h"

enum { MOST_OPERATORS = 64, MOST_INPUTS = 4 };   // in a region, of an operator

struct part {
    tensor_id tensor;   // that an elementwise operator makes
    tensor_id moved;    // the same under the shape around
    uint32_t reads;     // within the region
};
struct region {
    struct graph *g;
    const struct type *around;
    uint32_t n;
    struct part parts[MOST_OPERATORS];
};

// --- finding ---------------------------------------------------------------------------------------------------------

static tensor_id only_input(const struct graph *g, tensor_id tensor)
{
    return graph_inputs(g, g->tensors.items[tensor].producer)[0];
}

static bool is_elementwise(const struct graph *g, tensor_id tensor)
{
    return graph_producer(g, tensor)->op->flags & OPERATOR_IS_ELEMENTWISE;
}

static bool comes_from_around(const struct region *r, tensor_id tensor)
{
    return operator_is_view(graph_producer(r->g, tensor)->op) &&
           type_equal_shape(graph_type(r->g, only_input(r->g, tensor)), r->around);
}

// One number for all entries, with no more axes than there are around.
static bool is_repeated_number(const struct region *r, tensor_id tensor)
{
    const struct node *n = graph_producer(r->g, tensor);
    const struct type *t = operator_repeats(n->op) ? graph_type(r->g, only_input(r->g, tensor)) : NULL;
    return t && type_elements(t) == 1 && t->rank <= r->around->rank;
}

static struct part *find_part(struct region *r, tensor_id tensor)
{
    return FIND(r->parts, r->n, part, part->tensor == tensor);
}

static bool read_part(struct region *r, tensor_id tensor)
{
    struct part *known = find_part(r, tensor);
    if (!known && r->n == MOST_OPERATORS)
        return false;
    if (!known)
        r->parts[r->n++] = (struct part){tensor, NO_TENSOR, 1};
    else
        known->reads++;
    return true;
}

static bool read_input(struct region *r, tensor_id tensor)
{
    return is_elementwise(r->g, tensor) ? read_part(r, tensor)
                                        : comes_from_around(r, tensor) || is_repeated_number(r, tensor);
}

static bool find_region(struct region *r, tensor_id last)
{
    if (!is_elementwise(r->g, last) || !read_part(r, last))
        return false;
    for (uint32_t at = 0; at < r->n; at++) {
        node_id maker = r->g->tensors.items[r->parts[at].tensor].producer;
        if (ANY(uint32_t, i, r->g->nodes.items[maker].n_inputs, !read_input(r, graph_inputs(r->g, maker)[i])))
            return false;
    }
    return true;
}

static bool is_read_elsewhere(const struct region *r, const uint32_t *reads)
{
    return reads && ANY(uint32_t, i, r->n, reads[r->parts[i].tensor] != r->parts[i].reads);
}

// --- moving ----------------------------------------------------------------------------------------------------------

// The maker of a tensor is older than it.
static void sort_by_age(struct region *r)
{
    for (uint32_t i = 1; i < r->n; i++) {
        struct part part = r->parts[i];
        uint32_t at = i;
        for (; at > 0 && r->parts[at - 1].tensor > part.tensor; at--)
            r->parts[at] = r->parts[at - 1];
        r->parts[at] = part;
    }
}

static tensor_id add_again(struct region *r, tensor_id made, const struct attribute_value *attributes,
                           const tensor_id *inputs)
{
    const struct node n = *graph_producer(r->g, made);
    node_id added;
    if (!graph_add(r->g, n.op, attributes, n.n_inputs, inputs, &added))
        return NO_TENSOR;
    graph_set_origin(r->g, added, n.origin);
    return graph_output_of(r->g, added, 0);
}

static tensor_id repeat_number(struct region *r, tensor_id repeated)
{
    struct attribute_value shape = {(uint32_t)r->around->rank, r->around->dim};
    tensor_id number = only_input(r->g, repeated);
    return type_equal_shape(graph_type(r->g, number), r->around) ? number : add_again(r, repeated, &shape, &number);
}

static tensor_id move_input(struct region *r, tensor_id tensor)
{
    const struct part *part = find_part(r, tensor);
    if (part)
        return part->moved;
    return comes_from_around(r, tensor) ? only_input(r->g, tensor) : repeat_number(r, tensor);
}

static bool move_part(struct region *r, struct part *part)
{
    node_id maker = r->g->tensors.items[part->tensor].producer;
    uint32_t n = r->g->nodes.items[maker].n_inputs;
    tensor_id inputs[MOST_INPUTS];
    if (n > MOST_INPUTS)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if ((inputs[i] = move_input(r, graph_inputs(r->g, maker)[i])) == NO_TENSOR)
            return false;
    part->moved = add_again(r, part->tensor, r->g->nodes.items[maker].attributes, inputs);
    return part->moved != NO_TENSOR;
}

tensor_id graph_add_without_reshapes(struct graph *g, tensor_id last, const struct type *around, const uint32_t *reads)
{
    const struct type shape = *around;
    struct region r = {.g = g, .around = &shape};
    if (!find_region(&r, last) || is_read_elsewhere(&r, reads))
        return NO_TENSOR;
    sort_by_age(&r);
    for (uint32_t i = 0; i < r.n; i++)
        if (!move_part(&r, &r.parts[i]))
            return NO_TENSOR;
    return find_part(&r, last)->moved;
}

// --- whole graphs ----------------------------------------------------------------------------------------------------

struct replacements {
    VEC(tensor_id) old;
    VEC(tensor_id) new;
};

static void find_replacements(struct graph *g, const bool *live, const uint32_t *reads, struct replacements *found)
{
    for (node_id n = 0, count = (node_id)g->nodes.count; n < count; n++) {
        const struct node node = g->nodes.items[n];
        if (!live[n] || !operator_is_view(node.op))
            continue;
        tensor_id moved =
            graph_add_without_reshapes(g, only_input(g, node.first_output), graph_type(g, node.first_output), reads);
        if (moved == NO_TENSOR)
            continue;
        vec_push(&found->old, node.first_output);
        vec_push(&found->new, moved);
    }
}

bool graph_leave_out_undone_reshapes(struct graph *ret_result, const struct graph *g)
{
    struct graph more FREED_BY(graph_free);
    struct replacements found = {0};
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    LOCAL_ZEROS(uint32_t, reads, g->tensors.count + 1);
    graph_mark_live(g, live);
    graph_count_reads(g, live, reads);
    graph_copy(&more, g);
    find_replacements(&more, live, reads, &found);
    bool is_any = found.old.count > 0 &&
                  graph_replace(ret_result, &more, found.old.count, found.old.items, found.new.items, NULL);
    vecs_free(&found, old, new);
    return is_any;
}
