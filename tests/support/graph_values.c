#include "tests/support/graph_values.h"
#include "tests/support/scoped.h"

#include "core/numbers/random.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/evaluation/evaluate_entry.h"
#include "expressions/field.h"
#include "graph/graph_whole.h"
#include <assert.h>
#include <string.h>

static void fill_leaf(const struct graph *g, const struct node *node, uint64_t seed, const struct graph_entries *e)
{
    tensor_id t = node->first_output;
    struct random r = random_seed(seed + (uint64_t)node->op->id * 1000 + (uint64_t)node->attributes[0].ints[0]);
    for (int64_t i = 0; i < type_elements(graph_type(g, t)); i++) {
        bool is_small = e->integers && random_below(&r, 3) == 0;
        e->field[t][i] = is_small ? random_below(&r, 5) : field_reduce(random_next(&r));
        if (e->reals)
            e->reals[t][i] = 2 * random_unit(&r) - 1;
        if (e->integers)
            e->integers[t][i] = (int64_t)random_below(&r, 9) - 4;
    }
}

#define INPUTS(T, entries)                                                                                             \
    __extension__({                                                                                                    \
        const T **inputs = arena_array(a, const T *, g->nodes.items[n].n_inputs + 1);                                  \
        for (uint32_t i = 0; i < g->nodes.items[n].n_inputs; i++)                                                      \
            inputs[i] = (entries)[graph_inputs(g, n)[i]];                                                              \
        inputs;                                                                                                        \
    })

static void evaluate_node(const struct graph *g, node_id n, const struct graph_entries *e, struct arena *a)
{
    struct definition d FREED_BY(definition_free);
    tensor_id first = g->nodes.items[n].first_output;
    bool is_typed = graph_define(g, n, &d, a);
    assert(is_typed);
    if (!is_typed)
        return;
    evaluate_field(&d, FIELD_KEY, INPUTS(uint64_t, e->field), e->field + first, a);
    if (e->reals)
        evaluate_f64(&d, INPUTS(double, e->reals), e->reals + first, a);
    if (e->integers)
        evaluate_i64(&d, INPUTS(int64_t, e->integers), e->integers + first, a);
}

struct graph_entries graph_entries_of(const struct graph *g, uint64_t seed, enum entries_beside_field beside,
                                      struct arena *a)
{
    struct graph_entries e = {arena_array(a, uint64_t *, g->tensors.count + 1), NULL, NULL};
    e.reals = beside == ENTRIES_AND_REALS ? arena_array(a, double *, g->tensors.count + 1) : NULL;
    e.integers = beside == ENTRIES_AND_INTEGERS ? arena_array(a, int64_t *, g->tensors.count + 1) : NULL;
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        e.field[t] = arena_array(a, uint64_t, type_elements(graph_type(g, t)) + 1);
        if (e.reals)
            e.reals[t] = arena_array(a, double, type_elements(graph_type(g, t)) + 1);
        if (e.integers)
            e.integers[t] = arena_array(a, int64_t, type_elements(graph_type(g, t)) + 1);
    }
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->flags & OPERATOR_IS_LEAF)
            fill_leaf(g, &g->nodes.items[n], seed, &e);
        else
            evaluate_node(g, n, &e, a);
    return e;
}

struct reader {
    const struct definition *d;
    const uint64_t *const *inputs;
};

static uint64_t read_entry(void *context, int input, const int64_t *index)
{
    const struct reader *r = context;
    const struct type *type = &r->d->inputs[input];
    int64_t place = 0;
    for (int axis = 0; axis < type->rank; axis++)
        place = place * type->dim[axis] + index[axis];
    return r->inputs[input][place];
}

int64_t find_other_entry(const struct definition *d, int output, const uint64_t *const *inputs, const uint64_t *wanted)
{
    const struct type *type = definition_output(d, output);
    struct reader r = {d, inputs};
    int64_t index[MAX_RANK] = {0};
    for (int64_t place = 0; place < type_elements(type); place++) {
        if (evaluate_field_entry(d, FIELD_KEY, output, index, read_entry, &r) != wanted[place])
            return place;
        for (int axis = type->rank; axis-- > 0 && ++index[axis] == type->dim[axis];)
            index[axis] = 0;
    }
    return -1;
}

void graph_values(struct field_values *ret_values, const struct graph *g, uint64_t seed, struct arena *scratch)
{
    struct graph_entries e = graph_entries_of(g, seed, ENTRIES_ALONE, scratch);
    *ret_values = (struct field_values){0};
    for (size_t i = 0; i < g->outputs.count; i++)
        for (int64_t j = 0; j < type_elements(graph_type(g, g->outputs.items[i])); j++)
            vec_push(&ret_values->entries, e.field[g->outputs.items[i]][j]);
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
