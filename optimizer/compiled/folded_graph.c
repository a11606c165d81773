// Nodes are taken over in order. One that depends on weights alone is left out, and a leaf stands for what others read
// of it, unless it is larger than these weights.
#include "optimizer/compiled/folded_graph.h"

#include "backends/backend.h"
#include "core/memory/memory.h"
#include "graph/extract.h"
#include "graph/graph_whole.h"

// --- which nodes are computed ----------------------------------------------------------------------------------------

struct folding {
    struct folded_graph *f;
    bool *is_constant;     // of every node of the whole graph: it depends on weights alone
    bool *is_folded;       // and it is no larger than these
    bool *is_taken_over;   // as a node
    size_t *bytes_below;   // of every tensor: of the weights that it is computed from
};

static bool is_leaf(const struct node *n, enum operator_id id)
{
    return n->op == operators[id];
}

static void decide_node(struct folding *f, node_id n)
{
    const struct graph *g = f->f->whole;
    const struct node *node = &g->nodes.items[n];
    size_t below = is_leaf(node, OP_WEIGHT) ? type_bytes(graph_type(g, node->first_output)) : 0;
    for (uint32_t i = 0; i < node->n_inputs; i++)
        below = mem_sum(below, f->bytes_below[graph_inputs(g, n)[i]]);
    f->is_folded[n] = f->is_constant[n];
    for (uint32_t i = 0; i < node->n_outputs; i++) {
        f->bytes_below[node->first_output + i] = below;
        f->is_folded[n] = f->is_folded[n] && type_bytes(graph_type(g, node->first_output + i)) <= below;
    }
}

// Nodes that stay, beside what is no constant: constants that are too large and read by what is taken over.
static void choose_nodes(struct folding *f)
{
    const struct graph *g = f->f->whole;
    graph_mark_live(g, f->is_taken_over);
    for (node_id n = 0; n < g->nodes.count; n++)
        f->is_taken_over[n] = f->is_taken_over[n] && !f->is_constant[n];
    for (size_t i = 0; i < g->outputs.count; i++)
        f->is_taken_over[g->tensors.items[g->outputs.items[i]].producer] = true;
    for (node_id n = (node_id)g->nodes.count; n-- > 0;) {
        f->is_taken_over[n] = f->is_taken_over[n] && !f->is_folded[n];
        for (uint32_t i = 0; f->is_taken_over[n] && i < g->nodes.items[n].n_inputs; i++)
            f->is_taken_over[g->tensors.items[graph_inputs(g, n)[i]].producer] = true;
    }
}

// --- taking over -----------------------------------------------------------------------------------------------------

static tensor_id add_weight(void *context, tensor_id t)
{
    struct folding *f = context;
    const struct graph *g = f->f->whole;
    const struct node *producer = graph_producer(g, t);
    struct folded_weight w = {.given = NOT_GIVEN, .computed = t};
    if (is_leaf(producer, OP_WEIGHT))
        w.given = (size_t)producer->attributes[0].ints[0];
    struct type type = type_make(graph_type(g, t)->dtype, graph_type(g, t)->rank, graph_type(g, t)->dim);
    int64_t index = (int64_t)f->f->weights.count;
    vec_push(&f->f->weights, w);
    return graph_add_leaf(&f->f->graph, operators[OP_WEIGHT], index, &type);
}

static void fold(struct folding *f, struct arena *arena)
{
    const struct graph *g = f->f->whole;
    struct graph_extraction x = {.from = g,
                                 .to = &f->f->graph,
                                 .context = f,
                                 .moved = arena_array(arena, tensor_id, g->tensors.count + 1),
                                 .find = add_weight};
    graph_extraction_clear(&x);
    graph_mark_constant(g, f->is_constant);
    for (node_id n = 0; n < g->nodes.count; n++)
        decide_node(f, n);
    choose_nodes(f);
    for (node_id n = 0; n < g->nodes.count; n++)
        if (f->is_taken_over[n])
            graph_extract_node(&x, n, false);
    for (size_t i = 0; i < g->outputs.count; i++)
        graph_add_output(&f->f->graph, graph_extract_tensor(&x, g->outputs.items[i]));
}

static void list_values(struct folded_graph *f, struct arena *arena)
{
    f->values = arena_array(arena, struct tensor_value, f->weights.count + 1);
    for (node_id n = 0; n < f->graph.nodes.count; n++) {
        const struct node *node = &f->graph.nodes.items[n];
        if (is_leaf(node, OP_WEIGHT))
            f->values[node->attributes[0].ints[0]].type = *graph_type(&f->graph, node->first_output);
    }
}

void folded_graph_make(struct folded_graph *ret_folded, const struct graph *whole, const struct given_weights *weights,
                       struct backend *backend, size_t n_inputs, const struct type *inputs, struct arena *arena)
{
    *ret_folded = (struct folded_graph){.whole = whole, .given = *weights, .backend = backend};
    graph_init(&ret_folded->graph, arena);
    for (size_t i = 0; i < n_inputs; i++)
        graph_add_leaf(&ret_folded->graph, operators[OP_INPUT], (int64_t)i, &inputs[i]);
    struct folding f = {
        .f = ret_folded,
        .is_constant = arena_array(arena, bool, whole->nodes.count + 1),
        .is_taken_over = arena_array(arena, bool, whole->nodes.count + 1),
        .is_folded = arena_array(arena, bool, whole->nodes.count + 1),
        .bytes_below = arena_array(arena, size_t, whole->tensors.count + 1),
    };
    fold(&f, arena);
    list_values(ret_folded, arena);
}

void folded_graph_free(struct folded_graph *f)
{
    for (size_t i = 0; i < f->weights.count; i++)
        arena_free(&f->weights.items[i].arena);
    vec_free(&f->weights);
    graph_free(&f->graph);
}

// --- values ----------------------------------------------------------------------------------------------------------

static const void *acquire_given(const struct folded_graph *f, size_t index, struct error *error)
{
    const void *data = f->given.values[index].data;
    return data ? data : f->given.source->acquire(f->given.source->context, index, error);
}

static bool compute(const struct folded_graph *f, struct folded_weight *w, struct error *error)
{
    struct graph part FREED_BY(graph_free);
    struct tensor_value output;
    bool *only_writes = &f->backend->options.prepares_to_write, wrote = *only_writes;
    graph_copy(&part, f->whole);
    vec_clear(&part.outputs);
    graph_add_output(&part, w->computed);
    *only_writes = false;
    struct model *m = backend_prepare_from(f->backend, &part, NULL, NULL, &f->given, error);
    *only_writes = wrote;
    bool is_done = m != NULL;
    if (is_done) {
        model_allocate_outputs(m, &output, &w->arena);
        is_done = model_run(m, NULL, &output, error);
        model_free(m);
    }
    w->data = is_done ? output.data : NULL;
    return is_done;
}

static const void *acquire(void *context, size_t index, struct error *error)
{
    struct folded_graph *f = context;
    struct folded_weight *w = &f->weights.items[index];
    if (w->given != NOT_GIVEN)
        return acquire_given(f, w->given, error);
    if (w->n_users == 0 && !compute(f, w, error)) {
        arena_free(&w->arena);
        return NULL;
    }
    w->n_users++;
    return w->data;
}

static void release(void *context, size_t index, const void *data)
{
    struct folded_graph *f = context;
    struct folded_weight *w = &f->weights.items[index];
    if (w->given == NOT_GIVEN && --w->n_users == 0)
        arena_free(&w->arena);
    else if (w->given != NOT_GIVEN && !f->given.values[w->given].data)
        f->given.source->release(f->given.source->context, w->given, data);
}

struct weight_source folded_graph_source(struct folded_graph *f)
{
    return (struct weight_source){f, acquire, release, NULL};
}
