#include "tests/benchmarks/search_cost.h"

#include "core/memory/hash.h"
#include "core/numbers/random.h"
#include "graph/graph_whole.h"

static double elements_of(const struct graph *g, tensor_id t)
{
    return type_is_known(graph_type(g, t)) ? (double)type_elements(graph_type(g, t)) : 0;
}

// Multiply-adds for one entry of the result.
static double work_per_entry(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    if (node->n_inputs < 2)
        return 1;
    const struct type *x = graph_type(g, graph_inputs(g, n)[0]), *k = graph_type(g, graph_inputs(g, n)[1]);
    if (node->op->id == OP_MATMUL)
        return (double)x->dim[x->rank - 1];
    if (node->op->id == OP_CONV)
        return (double)type_elements(k) / (double)(k->dim[0] ? k->dim[0] : 1);
    return 1;
}

static double node_seconds(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    double bytes = 0, work = 0;
    if (node->op->id == OP_BROADCAST || (node->op->flags & (OPERATOR_IS_VIEW | OPERATOR_IS_LEAF)))
        return 0;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        bytes += 4 * elements_of(g, graph_inputs(g, n)[i]);
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        bytes += 4 * elements_of(g, node->first_output + i);
        work += elements_of(g, node->first_output + i) * work_per_entry(g, n);
    }
    return 1e-6 + bytes / 2e10 + work / 5e10;
}

static bool reads_a_value(const struct graph *g, node_id n, const bool *is_value)
{
    return ANY(uint32_t, i, g->nodes.items[n].n_inputs, is_value[g->tensors.items[graph_inputs(g, n)[i]].producer]);
}

// The cost of an operator depends on its attributes and on the shapes that it reads.
static uint64_t key_of_step(const struct graph *g, node_id n)
{
    const struct node *node = &g->nodes.items[n];
    uint64_t key = node->op->id;
    for (int i = 0; i < operator_n_attributes(node->op); i++)
        for (uint32_t j = 0; j < node->attributes[i].count; j++)
            key = hash_mix(key, (uint64_t)node->attributes[i].ints[j]);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        const struct type *t = graph_type(g, graph_inputs(g, n)[i]);
        for (int axis = 0; axis < t->rank; axis++)
            key = hash_mix(key, (uint64_t)t->dim[axis]);
    }
    return key;
}

static double factor_of(const struct random_prices *prices, const struct graph *g, node_id n)
{
    if (!prices)
        return 1;
    struct random random = random_seed(random_keyed(prices->seed, key_of_step(g, n)));
    return prices->low + (prices->high - prices->low) * random_unit(&random);
}

static double sum_of_steps(const struct random_prices *prices, const struct graph *g)
{
    double seconds = 0;
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    LOCAL_ARRAY(bool, is_value, g->nodes.count + 1);
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct operator* op = g->nodes.items[n].op;
        is_value[n] = op->id == OP_INPUT || (op->flags & OPERATOR_IS_OPAQUE) || reads_a_value(g, n, is_value);
        if (live[n] && is_value[n])
            seconds += node_seconds(g, n) * factor_of(prices, g, n);
    }
    return seconds;
}

double made_up_seconds(void *context, const struct graph *g)
{
    return sum_of_steps(NULL, g);
}

double seconds_at_random_prices(void *context, const struct graph *g)
{
    return sum_of_steps(context, g);
}
