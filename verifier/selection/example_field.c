// Examples over the prime field, entry by entry, as the optimizer checks each application of a rule.
#include "core/numbers/random.h"
#include "expressions/evaluate_entry.h"
#include "expressions/field.h"
#include "verifier/selection/example.h"

#define KEY 0x7461736f
#define MOST_OPERATIONS 1e6   // for one entry; dearer ones are not looked at

struct reading {
    const struct graph *g;
    const struct definition *definitions;   // of all nodes but leaves
    node_id node;
};

static bool is_leaf(const struct graph *g, node_id node)
{
    return (g->nodes.items[node].op->flags & OPERATOR_IS_LEAF) != 0;
}

static uint64_t entry_of_tensor(const struct reading *r, tensor_id t, const int64_t *index);

static uint64_t read_input(void *context, int input, const int64_t *index)
{
    const struct reading *r = context;
    return entry_of_tensor(r, graph_inputs(r->g, r->node)[input], index);
}

static uint64_t entry_of_leaf(const struct graph *g, tensor_id t, const int64_t *index)
{
    const struct type *type = graph_type(g, t);
    uint64_t linear = 0;
    for (int i = 0; i < type->rank; i++)
        linear = linear * (uint64_t)type->dim[i] + (uint64_t)index[i];
    uint64_t variable = (uint64_t)g->nodes.items[g->tensors.items[t].producer].attributes[0].ints[0];
    return field_reduce(random_keyed(KEY + variable, linear));
}

static uint64_t entry_of_tensor(const struct reading *r, tensor_id t, const int64_t *index)
{
    const struct tensor *tensor = &r->g->tensors.items[t];
    struct reading of = {r->g, r->definitions, tensor->producer};
    if (is_leaf(r->g, tensor->producer))
        return entry_of_leaf(r->g, t, index);
    return evaluate_field_entry(&r->definitions[tensor->producer], KEY, (int)tensor->output, index, read_input, &of);
}

static double cost_of_tensor(const struct reading *r, tensor_id t, struct arena *a)
{
    const struct tensor *tensor = &r->g->tensors.items[t];
    if (is_leaf(r->g, tensor->producer))
        return 1;
    uint32_t n = r->g->nodes.items[tensor->producer].n_inputs;
    double *costs = arena_array(a, double, n + 1);
    for (uint32_t i = 0; i < n; i++)
        costs[i] = cost_of_tensor(r, graph_inputs(r->g, tensor->producer)[i], a);
    return definition_entry_cost(&r->definitions[tensor->producer], (int)tensor->output, costs);
}

static struct reading begin(const struct graph *g, struct arena *a)
{
    struct definition *definitions = arena_array(a, struct definition, g->nodes.count + 1);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (!is_leaf(g, n))
            graph_define(g, n, &definitions[n], a);
    return (struct reading){.g = g, .definitions = definitions};
}

static void end(const struct reading *r)
{
    for (node_id n = 0; n < r->g->nodes.count; n++)
        if (!is_leaf(r->g, n))
            definition_free((struct definition *)&r->definitions[n]);
}

// The first entry, and the last one.
static bool have_equal_entries(const struct reading *source, tensor_id x, const struct reading *target, tensor_id y)
{
    const struct type *type = graph_type(source->g, x);
    int64_t first[MAX_RANK] = {0}, last[MAX_RANK] = {0};
    for (int i = 0; i < type->rank; i++)
        last[i] = type->dim[i] - 1;
    return entry_of_tensor(source, x, first) == entry_of_tensor(target, y, first) &&
           entry_of_tensor(source, x, last) == entry_of_tensor(target, y, last);
}

bool example_holds_over_field(const struct example *e)
{
    struct arena a;
    arena_init(&a);
    struct reading source = begin(&e->source, &a), target = begin(&e->target, &a);
    bool is_equal = true;
    for (size_t i = 0; i < e->source.outputs.count && is_equal; i++) {
        tensor_id x = e->source.outputs.items[i], y = e->target.outputs.items[i];
        bool is_cheap = cost_of_tensor(&source, x, &a) + cost_of_tensor(&target, y, &a) <= MOST_OPERATIONS;
        is_equal = !is_cheap || have_equal_entries(&source, x, &target, y);
    }
    end(&source);
    end(&target);
    arena_free(&a);
    return is_equal;
}
