// Opaque nodes are cut out of a graph: their outputs become inputs, what they read becomes outputs.
#include "optimizer/run/runnable.h"

#include "expressions/elements.h"
#include "graph/extract.h"
#include "graph/graph_whole.h"

static uint32_t opaque_index(const struct node *n)
{
    return (uint32_t)n->attributes[0].ints[0];
}

static bool is_opaque(const struct node *n)
{
    return n->op->flags & OPERATOR_IS_OPAQUE;
}

bool tensor_has_values(const struct graph *g, tensor_id t)
{
    const struct type *type = graph_type(g, t);
    return type_is_known(type) && dtype_has_numbers(type->dtype);
}

static bool is_leaf_without_values(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    return (node->op->flags & OPERATOR_IS_LEAF) && !tensor_has_values(g, node->first_output);
}

static uint64_t leaves_read_by(const struct graph *g, node_id n)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < g->nodes.items[n].n_inputs && i < 64; i++)
        if (!graph_producer(g, graph_inputs(g, n)[i])->op->define)
            bits |= UINT64_C(1) << i;
    return bits;
}

void cut_plan_init(struct cut_plan *ret_plan, const struct graph *g, uint32_t n_graph_inputs)
{
    *ret_plan = (struct cut_plan){.n_inputs = n_graph_inputs};
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        ret_plan->is_needed = ret_plan->is_needed || is_opaque(node) || is_leaf_without_values(g, n);
        if (!is_opaque(node))
            continue;
        while (ret_plan->first_input.count <= opaque_index(node)) {
            vec_push(&ret_plan->first_input, UINT32_MAX);
            vec_push(&ret_plan->reads_leaves, 0);
        }
        ret_plan->reads_leaves.items[opaque_index(node)] = leaves_read_by(g, n);
        ret_plan->first_input.items[opaque_index(node)] = ret_plan->n_inputs;
        ret_plan->n_inputs += node->n_outputs;
    }
}

void cut_plan_free(struct cut_plan *plan)
{
    vecs_free(plan, first_input, reads_leaves);
}

// A flag by opaque index: is such a node live in both graphs?
static void mark_shared(const struct graph *g, const struct cut_plan *plan, bool *shared)
{
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    LOCAL_ZEROS(bool, present, plan->first_input.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (live[n] && is_opaque(&g->nodes.items[n]))
            present[opaque_index(&g->nodes.items[n])] = true;
    for (size_t i = 0; i < plan->first_input.count; i++)
        shared[i] = shared[i] && present[i];
}

struct cutting {
    struct graph_extraction taken;
    const struct cut_plan *plan;
    bool failed;
};

static struct type type_at(const struct cutting *c, tensor_id t)
{
    const struct type *type = graph_type(c->taken.from, t);
    return c->plan->sizes ? sizes_type_at(c->plan->sizes, type, c->plan->binding) : *type;
}

static void cut_node(struct cutting *c, node_id n)
{
    const struct node *node = &c->taken.from->nodes.items[n];
    uint32_t first = c->plan->first_input.items[opaque_index(node)];
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        if (!tensor_has_values(c->taken.from, node->first_output + i))
            continue;
        struct type type = type_at(c, node->first_output + i);
        if (!type_has_allowed_size(&type))
            c->failed = true;
        else
            c->taken.moved[node->first_output + i] = graph_add_leaf(c->taken.to, operators[OP_INPUT], first + i, &type);
    }
}

static node_id add_sized(void *context, node_id n, const tensor_id *inputs)
{
    const struct cutting *c = context;
    node_id added;
    bool is_added = sizes_add_node(c->plan->sizes, c->plan->binding, c->taken.to, c->taken.from, n, inputs, &added);
    return is_added ? added : NO_NODE;
}

static void copy_node(struct cutting *c, node_id n)
{
    c->failed = !is_leaf_without_values(c->taken.from, n) && graph_extract_node(&c->taken, n, false) == NO_NODE;
}

static void add_output(struct cutting *c, tensor_id t)
{
    if (tensor_has_values(c->taken.from, t))
        graph_add_output(c->taken.to, c->taken.moved[t]);
}

// Node by opaque index, so that the order does not depend on where rewrites put them.
static void add_cut_outputs(struct cutting *c, const bool *shared, size_t n_opaque)
{
    LOCAL_ARRAY(node_id, node_of, n_opaque + 1);
    for (node_id n = 0; n < c->taken.from->nodes.count; n++)
        if (is_opaque(&c->taken.from->nodes.items[n]))
            node_of[opaque_index(&c->taken.from->nodes.items[n])] = n;
    for (size_t i = 0; i < n_opaque; i++)
        for (uint32_t j = 0; shared[i] && j < c->taken.from->nodes.items[node_of[i]].n_inputs; j++)
            if (j >= 64 || !(c->plan->reads_leaves.items[i] >> j & 1))
                add_output(c, graph_inputs(c->taken.from, node_of[i])[j]);
}

static void cut_nodes(struct cutting *c)
{
    for (node_id n = 0; !c->failed && n < c->taken.from->nodes.count; n++)
        if (is_opaque(&c->taken.from->nodes.items[n]))
            cut_node(c, n);
        else
            copy_node(c, n);
}

bool graph_cut_mapped(struct graph *ret_graph, const struct graph *g, const struct graph *other,
                      const struct cut_plan *plan, tensor_id *ret_map)
{
    size_t n_opaque = plan->first_input.count;
    LOCAL_ARRAY(bool, shared, n_opaque + 1);
    for (size_t i = 0; i < n_opaque; i++)
        shared[i] = true;
    mark_shared(g, plan, shared);
    if (other)
        mark_shared(other, plan, shared);
    struct cutting c = {.plan = plan};
    c.taken = (struct graph_extraction){
        .from = g, .to = ret_graph, .context = &c, .moved = ret_map, .add = plan->sizes ? add_sized : NULL};
    graph_extraction_clear(&c.taken);
    graph_init(ret_graph, g->arena);
    cut_nodes(&c);
    for (size_t i = 0; !c.failed && i < g->outputs.count; i++)
        add_output(&c, g->outputs.items[i]);
    if (!c.failed)
        add_cut_outputs(&c, shared, n_opaque);
    else
        graph_free(ret_graph);
    return !c.failed;
}

bool graph_cut(struct graph *ret_graph, const struct graph *g, const struct graph *other, const struct cut_plan *plan)
{
    LOCAL_ARRAY(tensor_id, map, g->tensors.count + 1);
    return graph_cut_mapped(ret_graph, g, other, plan, map);
}

bool graphs_have_equal_outputs(const struct graph *a, const struct graph *b)
{
    return a->outputs.count == b->outputs.count &&
           ALL(size_t, i, a->outputs.count,
               type_equal(graph_type(a, a->outputs.items[i]), graph_type(b, b->outputs.items[i])));
}
