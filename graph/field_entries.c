// Definitions of the nodes between the leaves and what is asked for are made when they are met.
#include "graph/field_entries.h"

#include "core/memory/arena.h"
#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate_entry.h"
#include "expressions/field.h"
#include "graph/graph_whole.h"

#define UNKNOWN_COST (-1.0)

void field_entries_init(struct field_entries *ret_entries, const struct graph *g, uint64_t key, struct arena *arena)
{
    *ret_entries = (struct field_entries){
        .g = g,
        .arena = arena,
        .key = key,
        .definitions = arena_array(arena, struct definition *, g->nodes.count + 1),
        .costs = arena_array(arena, double, g->tensors.count + 1),
    };
    for (tensor_id t = 0; t < g->tensors.count; t++)
        ret_entries->costs[t] = UNKNOWN_COST;
}

void field_entries_free(struct field_entries *x)
{
    for (node_id n = 0; n < x->g->nodes.count; n++)
        if (x->definitions[n])
            definition_free(x->definitions[n]);
}

static bool is_leaf(const struct field_entries *x, tensor_id t)
{
    return (graph_producer(x->g, t)->op->flags & OPERATOR_IS_LEAF) != 0;
}

// NULL: the node has no meaning.
static struct definition *definition_of(struct field_entries *x, node_id n)
{
    if (x->definitions[n])
        return x->definitions[n];
    struct definition *d = arena_new(x->arena, struct definition);
    if (x->g->nodes.items[n].op->define) {
        if (graph_define(x->g, n, d, x->arena))
            return x->definitions[n] = d;
        definition_free(d);
    }
    x->is_untyped = true;
    return NULL;
}

static double cost_of_result(struct field_entries *x, tensor_id t)
{
    const struct tensor *tensor = &x->g->tensors.items[t];
    uint32_t n = x->g->nodes.items[tensor->producer].n_inputs;
    double *costs = arena_array(x->arena, double, n + 1);
    for (uint32_t i = 0; i < n; i++)
        costs[i] = field_entry_cost(x, graph_inputs(x->g, tensor->producer)[i]);
    const struct definition *d = definition_of(x, tensor->producer);
    return d ? definition_entry_cost(d, (int)tensor->output, costs) : 0;
}

double field_entry_cost(struct field_entries *x, tensor_id t)
{
    if (is_leaf(x, t))
        return 1;
    if (x->costs[t] == UNKNOWN_COST)
        x->costs[t] = cost_of_result(x, t);
    return x->costs[t];
}

static uint64_t entry_of_leaf(const struct field_entries *x, tensor_id t, const int64_t *index)
{
    const struct type *type = graph_type(x->g, t);
    uint64_t linear = 0, number = (uint64_t)graph_producer(x->g, t)->attributes[0].ints[0];
    for (int i = 0; i < type->rank; i++)
        linear = linear * (uint64_t)type->dim[i] + (uint64_t)index[i];
    return field_reduce(random_keyed(x->key + number, linear));
}

struct reader {
    struct field_entries *of;
    node_id node;
};

static uint64_t read_input(void *context, int input, const int64_t *index)
{
    const struct reader *r = context;
    return field_entry(r->of, graph_inputs(r->of->g, r->node)[input], index);
}

uint64_t field_entry(struct field_entries *x, tensor_id t, const int64_t *index)
{
    const struct tensor *tensor = &x->g->tensors.items[t];
    struct reader r = {x, tensor->producer};
    if (is_leaf(x, t))
        return entry_of_leaf(x, t, index);
    return evaluate_field_entry(definition_of(x, tensor->producer), x->key, (int)tensor->output, index, read_input, &r);
}
