#include "tests/support/graph_values.h"
#include "tests/support/scoped.h"

#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/field.h"
#include "graph/graph.h"
#include "graph/graph_whole.h"
#include <assert.h>
#include <string.h>

static void fill_leaf(const struct graph *g, node_id n, uint64_t seed, uint64_t *ret_entries)
{
    const struct node *node = &g->nodes.items[n];
    struct random r = random_seed(seed + (uint64_t)node->op->id * 1000 + (uint64_t)node->attributes[0].ints[0]);
    for (int64_t i = 0; i < type_elements(graph_type(g, node->first_output)); i++)
        ret_entries[i] = field_reduce(random_next(&r));
}

static void evaluate_node(const struct graph *g, node_id n, uint64_t **entries, struct arena *scratch)
{
    const struct node *node = &g->nodes.items[n];
    const uint64_t **inputs = arena_array(scratch, const uint64_t *, node->n_inputs + 1);
    uint64_t **outputs = arena_array(scratch, uint64_t *, node->n_outputs + 1);
    struct definition d FREED_BY(definition_free);
    bool is_typed = graph_define(g, n, &d, scratch);
    assert(is_typed);
    for (uint32_t i = 0; i < node->n_inputs; i++)
        inputs[i] = entries[graph_inputs(g, n)[i]];
    for (uint32_t i = 0; i < node->n_outputs; i++)
        outputs[i] = entries[node->first_output + i];
    if (is_typed)
        evaluate_field(&d, 17, inputs, outputs, scratch);
}

void graph_values(struct field_values *ret_values, const struct graph *g, uint64_t seed, struct arena *scratch)
{
    uint64_t **entries = arena_array(scratch, uint64_t *, g->tensors.count + 1);
    for (tensor_id t = 0; t < g->tensors.count; t++)
        entries[t] = arena_array(scratch, uint64_t, type_elements(graph_type(g, t)) + 1);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->flags & OPERATOR_IS_LEAF)
            fill_leaf(g, n, seed, entries[g->nodes.items[n].first_output]);
        else
            evaluate_node(g, n, entries, scratch);
    *ret_values = (struct field_values){0};
    for (size_t i = 0; i < g->outputs.count; i++)
        for (int64_t j = 0; j < type_elements(graph_type(g, g->outputs.items[i])); j++)
            vec_push(&ret_values->entries, entries[g->outputs.items[i]][j]);
}

bool field_values_equal(const struct field_values *a, const struct field_values *b)
{
    size_t n = a->entries.count;
    return n == b->entries.count &&
           (n == 0 || memcmp(a->entries.items, b->entries.items, n * sizeof *a->entries.items) == 0);
}

void field_values_free(struct field_values *v)
{
    vec_free(&v->entries);
}
