// Both directions go through the nodes in an order in which each stands behind what it reads.
#include "egraph/convert.h"

#include "egraph/intern.h"
#include "graph/graph_whole.h"

#include <assert.h>

// --- in --------------------------------------------------------------------------------------------------------------

static void add_node(struct egraph *e, const struct graph *g, node_id id, enode_id *ids)
{
    const struct node *n = &g->nodes.items[id];
    LOCAL_ARRAY(enode_id, children, n->n_inputs + 1);
    for (uint32_t i = 0; i < n->n_inputs; i++)
        children[i] = ids[graph_inputs(g, id)[i]];
    enode_id added = egraph_add(e, n->op, egraph_intern_attributes(e, n->op, n->attributes),
                                egraph_intern_outputs(e, g, n), n->n_inputs, children);
    for (uint32_t i = 0; i < n->n_outputs; i++)
        ids[n->first_output + i] = egraph_add_output(e, added, i);
}

void egraph_add_graph(struct egraph *e, const struct graph *g, enode_id *ret_ids)
{
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (tensor_id t = 0; t < g->tensors.count; t++)
        ret_ids[t] = NO_ENODE;
    for (node_id n = 0; n < g->nodes.count; n++)
        if (live[n])
            add_node(e, g, n, ret_ids);
}

// --- origins ---------------------------------------------------------------------------------------------------------

static enode_id application_of(const struct egraph *e, enode_id tensor)
{
    return e->nodes.items[tensor].op == PROJECTION ? egraph_edges(e, tensor)[0].first : tensor;
}

void egraph_origins_init(struct egraph_origins *o, const struct egraph *e, const struct graph *g, const enode_id *ids)
{
    *o = (struct egraph_origins){.graph = g};
    for (enode_id n = 0; n < e->nodes.count; n++) {
        vec_push(&o->node_of, NO_NODE);
        vec_push(&o->tensor_of, NO_TENSOR);
    }
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        if (ids[t] == NO_ENODE)
            continue;
        o->node_of.items[application_of(e, ids[t])] = g->tensors.items[t].producer;
        o->tensor_of.items[ids[t]] = t;
    }
}

void egraph_origins_free(struct egraph_origins *o)
{
    vecs_free(o, node_of, tensor_of);
}

static tensor_id origin_of_class(const struct egraph *e, const struct egraph_origins *o, eclass_id c)
{
    for (enode_id n = egraph_first_node(e, c); o && n != NO_ENODE; n = egraph_next_node(e, c, n))
        if (n < o->tensor_of.count && o->tensor_of.items[n] != NO_TENSOR)
            return o->tensor_of.items[n];
    return NO_TENSOR;
}

// --- out -------------------------------------------------------------------------------------------------------------

struct building {
    const struct egraph *e;
    const enode_id *choice;
    const struct egraph_origins *origins;
    struct graph *g;
    uint32_t *built;   // of classes: the node of a tuple, the tensor of another; NOT_BUILT
    VEC(eclass_id) stack;
    bool is_ill_typed;
};
#define NOT_BUILT UINT32_MAX

static bool needs_children(struct building *b, enode_id n)
{
    bool is_missing = false;
    for (uint32_t i = 0; i < b->e->nodes.items[n].n_children; i++) {
        eclass_id child = egraph_edges(b->e, n)[i].child;
        if (b->built[child] == NOT_BUILT) {
            vec_push(&b->stack, child);
            is_missing = true;
        }
    }
    return is_missing;
}

// The origin of an e-node that stands for others: the graph's node is the same for all that are congruent.
static node_id origin_node(const struct building *b, enode_id n)
{
    return b->origins && n < b->origins->node_of.count ? b->origins->node_of.items[n] : NO_NODE;
}

static node_id add_leaf(struct graph *g, const struct operator* op, int64_t index, const struct type *type)
{
    tensor_id added = graph_add_leaf(g, op, index, type);
    return g->tensors.items[added].producer;
}

static node_id add_application(struct building *b, enode_id n)
{
    const struct enode *node = &b->e->nodes.items[n];
    const struct operator* op = egraph_operator(b->e, n);
    const struct etype *made = &b->e->interned.types.items[node->type];
    node_id added = NO_NODE, origin = origin_node(b, n);
    LOCAL_ARRAY(tensor_id, inputs, node->n_children + 1);
    for (uint32_t i = 0; i < node->n_children; i++)
        inputs[i] = b->built[egraph_edges(b->e, n)[i].child];
    if (op->flags & OPERATOR_IS_LEAF)
        added = add_leaf(b->g, op, egraph_attributes(b->e, n)[0].ints[0], made->types);
    else if (op->flags & OPERATOR_IS_OPAQUE)
        added = graph_add_opaque(b->g, egraph_attributes(b->e, n)[0].ints[0], node->n_children, inputs, made->count,
                                 made->types);
    else if (!graph_add(b->g, op, egraph_attributes(b->e, n), node->n_children, inputs, &added))
        b->is_ill_typed = true;
    if (origin != NO_NODE && added != NO_NODE)
        graph_set_origin(b->g, added, b->origins->graph->nodes.items[origin].origin);
    return added;
}

static void build_class(struct building *b, eclass_id c)
{
    enode_id n = b->choice[c];
    const struct enode *node = &b->e->nodes.items[n];
    if (node->op == PROJECTION) {
        b->built[c] = graph_output_of(b->g, b->built[egraph_edges(b->e, n)[0].child], node->attributes);
    } else {
        node_id added = add_application(b, n);
        if (b->is_ill_typed)
            return;
        b->built[c] = egraph_is_tensor(b->e, n) ? graph_output_of(b->g, added, 0) : added;
    }
    tensor_id origin = egraph_is_tensor(b->e, n) ? origin_of_class(b->e, b->origins, c) : NO_TENSOR;
    if (origin != NO_TENSOR)
        b->g->tensors.items[b->built[c]].value = b->origins->graph->tensors.items[origin].value;
}

bool egraph_build_graph(const struct egraph *e, const enode_id *choice, const struct egraph_origins *origins,
                        const enode_id *outputs, size_t n_outputs, struct graph *g)
{
    struct building b = {.e = e, .choice = choice, .origins = origins, .g = g};
    assert(e->is_clean);
    LOCAL_ARRAY(uint32_t, built, e->nodes.count + 1);
    b.built = built;
    for (size_t c = 0; c < e->nodes.count; c++)
        b.built[c] = NOT_BUILT;
    for (size_t i = n_outputs; i-- > 0;)
        vec_push(&b.stack, egraph_find(e, outputs[i]));
    while (b.stack.count && !b.is_ill_typed) {
        eclass_id c = vec_last(&b.stack);
        if (b.built[c] != NOT_BUILT)
            b.stack.count--;
        else if (!needs_children(&b, choice[c]))
            build_class(&b, c);
    }
    for (size_t i = 0; i < n_outputs && !b.is_ill_typed; i++)
        graph_add_output(g, b.built[egraph_find(e, outputs[i])]);
    vec_free(&b.stack);
    return !b.is_ill_typed;
}
