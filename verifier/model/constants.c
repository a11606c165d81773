// The value of a class is that of a weight, or else that of its oldest e-node, which reads classes with older ones
// (egraph/cycles.h), so that this ends although the e-graph may have cycles.
#include "verifier/model/constants.h"

#include "backends/reference/reference.h"
#include "core/text/error.h"

#define MOST_OPERATIONS 3e7

void constants_init(struct constants *k, struct common_graph *c, struct egraph *e, const enode_id *ids)
{
    *k = (struct constants){.c = c, .e = e, .ids = ids};
    arena_init(&k->scratch);
}

void constants_free(struct constants *k)
{
    vec_free(&k->is_tried);
    arena_free(&k->scratch);
}

// --- values ----------------------------------------------------------------------------------------------------------

static bool is_weight(const struct egraph *e, enode_id n)
{
    return e->nodes.items[n].op == OP_WEIGHT;
}

static enode_id find_weight(const struct egraph *e, eclass_id c)
{
    enode_id n = egraph_first_node(e, c);
    while (n != NO_ENODE && !is_weight(e, n))
        n = egraph_next_node(e, c, n);
    return n;
}

static enode_id oldest_node(const struct egraph *e, eclass_id c)
{
    enode_id oldest = NO_ENODE;
    for (enode_id n = egraph_first_node(e, c); n != NO_ENODE; n = egraph_next_node(e, c, n))
        oldest = n < oldest ? n : oldest;
    return oldest;
}

static bool compute_class(struct constants *k, eclass_id c, struct tensor_value *ret_value);

// False: the budget does not have what the application takes, or it is ill-typed.
static bool pay_for(struct constants *k, const struct operator_call *call, const struct etype *made)
{
    struct definition d;
    double operations = 1;
    definition_init(&d, &k->scratch, call->n_inputs, call->inputs);
    bool is_affordable = operator_define(&d, call) && d.n_outputs == (int)made->count;
    operations += is_affordable ? definition_flops(&d) : 0;
    definition_free(&d);
    for (uint32_t i = 0; is_affordable && i < made->count; i++)
        operations += (double)type_elements(&made->types[i]);
    is_affordable = is_affordable && k->operations + operations <= MOST_OPERATIONS;
    k->operations += is_affordable ? operations : 0;
    return is_affordable;
}

// All outputs of an application, whose types must be those of the e-node.
static bool run_application(struct constants *k, enode_id n, struct tensor_value *ret_outputs)
{
    const struct egraph *e = k->e;
    const struct enode *node = &e->nodes.items[n];
    const struct etype *made = &e->types.items[node->type];
    const struct operator* op = egraph_operator(e, n);
    struct error ignored;
    if (!op->define || node->n_children == 0)
        return false;
    struct tensor_value *inputs = arena_array(&k->scratch, struct tensor_value, node->n_children);
    struct type *types = arena_array(&k->scratch, struct type, node->n_children);
    for (uint32_t i = 0; i < node->n_children; i++) {
        eclass_id child = egraph_edges(e, n)[i].child;
        types[i] = *egraph_type(e, child);
        if (!type_is_known(&types[i]) || !compute_class(k, child, &inputs[i]))
            return false;
    }
    const struct operator_call call = {
        .op = op, .attributes = egraph_attributes(e, n), .n_inputs = (int)node->n_children, .inputs = types};
    if (!pay_for(k, &call, made) ||
        !reference_run_call(&call, inputs, (int)made->count, ret_outputs, &k->scratch, &ignored))
        return false;
    for (uint32_t i = 0; i < made->count; i++)
        if (!type_equal(&ret_outputs[i].type, &made->types[i]))
            return false;
    return true;
}

static bool compute_node(struct constants *k, enode_id n, struct tensor_value *ret_value)
{
    const struct egraph *e = k->e;
    const struct enode *node = &e->nodes.items[n];
    bool is_projection = node->op == PROJECTION;
    enode_id application = is_projection ? oldest_node(e, egraph_edges(e, n)[0].child) : n;
    size_t count = e->types.items[e->nodes.items[application].type].count;
    struct tensor_value *outputs = arena_array(&k->scratch, struct tensor_value, count);
    if (!run_application(k, application, outputs))
        return false;
    *ret_value = outputs[is_projection ? node->attributes : 0];
    return true;
}

static bool compute_class(struct constants *k, eclass_id c, struct tensor_value *ret_value)
{
    enode_id weight = find_weight(k->e, c);
    if (weight == NO_ENODE)
        return compute_node(k, oldest_node(k->e, c), ret_value);
    *ret_value = k->c->weights.items[egraph_attributes(k->e, weight)[0].ints[0]].value;
    return ret_value->data != NULL;
}

// --- which -----------------------------------------------------------------------------------------------------------

// Of every type of the e-graph: has a weight it that only one of the models has?
static bool *find_wanted(const struct constants *k, const struct shared_classes *shared)
{
    const struct graph *g = &k->c->graph;
    bool *is_wanted = mem_alloc_zero(k->e->types.count + 1);
    for (node_id n = 0; n < g->nodes.count; n++) {
        tensor_id leaf = g->nodes.items[n].first_output;
        if (g->nodes.items[n].op->id == OP_WEIGHT && k->ids[leaf] != NO_ENODE && !shared->is_shared[leaf])
            is_wanted[k->e->nodes.items[k->ids[leaf]].type] = true;
    }
    return is_wanted;
}

static bool is_to_be_tried(const struct constants *k, const bool *is_wanted, enode_id n)
{
    const struct egraph *e = k->e;
    eclass_id c = egraph_find(e, n);
    return !k->is_tried.items[n] && !e->nodes.items[n].is_redundant && egraph_is_tensor(e, n) &&
           is_wanted[e->nodes.items[n].type] && e->classes.items[c].is_weight && find_weight(e, c) == NO_ENODE;
}

static bool try_node(struct constants *k, enode_id n)
{
    struct arena_mark mark = arena_mark(&k->scratch);
    struct tensor_value value;
    bool is_new = false;
    k->is_tried.items[n] = true;
    if (compute_node(k, n, &value)) {
        tensor_id leaf = common_graph_find_weight(k->c, &value);
        k->n_computed++;
        is_new = leaf != NO_TENSOR && k->ids[leaf] != NO_ENODE &&
                 egraph_union(k->e, k->ids[leaf], n, REASON_GIVEN) == UNION_NEW;
    }
    arena_release(&k->scratch, mark);
    return is_new;
}

bool constants_join(struct constants *k, const struct shared_classes *shared)
{
    bool *is_wanted = find_wanted(k, shared);
    size_t n_types = k->e->types.count;
    bool is_any_new = false;
    while (k->is_tried.count < k->e->nodes.count)
        vec_push(&k->is_tried, false);
    for (enode_id n = 0; n < k->is_tried.count; n++)
        if (is_to_be_tried(k, is_wanted, n) && try_node(k, n)) {
            is_any_new = true;
            egraph_rebuild(k->e);
        }
    mem_free(is_wanted, n_types + 1);
    return is_any_new;
}
