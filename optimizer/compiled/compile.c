// The writer of compiled models. A weight that some step also reads as it is gets that form, too.
#include "optimizer/compiled/compile.h"

#include "backends/backend.h"
#include "backends/contract/backend.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/plan_choices.h"
#include "backends/planning/plan_memory.h"
#include "core/formats/sexp.h"
#include "core/memory/arena.h"
#include "core/memory/memory.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/extract.h"
#include "graph/graph_whole.h"
#include "graph/text.h"
#include "optimizer/compiled/compiled_file.h"

// --- what is computed of weights alone -------------------------------------------------------------------------------
// A graph for keeping: what is computed of weights alone has become weights, so that nothing is left to be done once
// before the first run. What would make weights larger (a broadcast one) stays in the graph. Values are computed on
// request, each by itself.
// Nodes are taken over in order. One that depends on weights alone is left out, and a leaf stands for what others read
// of it, unless it is larger than these weights.

struct folded_weight {
    size_t given;         // index of the weight in the whole graph, or NOT_GIVEN
    tensor_id computed;   // else this tensor of it
    // While it is acquired:
    size_t n_users;
    struct arena arena;
    const void *data;
};
#define NOT_GIVEN SIZE_MAX

struct folded_graph {
    const struct graph *whole;
    struct given_weights given;   // of the whole graph
    struct backend *backend;      // that computes
    struct graph graph;           // its inputs are leaves 0, 1, ..., its weights these:
    VEC(struct folded_weight) weights;
    struct tensor_value *values;   // of the weights: types alone
};

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
    vec_each(&f->graph.nodes, node)
        if (is_leaf(node, OP_WEIGHT))
            f->values[node->attributes[0].ints[0]].type = *graph_type(&f->graph, node->first_output);
}

// `inputs` are leaves of `whole`, or have left it: they are types of leaves whose indices are their places. Everything
// lives in `arena`.
static void folded_graph_make(struct folded_graph *ret_folded, const struct graph *whole,
                              const struct given_weights *weights, struct backend *backend, size_t n_inputs,
                              const struct type *inputs, struct arena *arena)
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

static void folded_graph_free(struct folded_graph *f)
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

// --- compiling -------------------------------------------------------------------------------------------------------

struct compiling {
    const struct compile_request *request;
    struct arena arena;
    struct folded_graph folded;
    struct weight_source source;   // of the folded graph
    struct graph graph;            // as its text reads
    const uint8_t *layouts;
    struct model *model;
    packed_weights packed;
    uint32_t *n_uses;                   // of each weight: how often steps touch it
    VEC(struct stored_weight) stored;   // `data` NULL: as it is, from the source
    struct text manifest;
    size_t bytes;   // of weights
};

// --- graph and model -------------------------------------------------------------------------------------------------

static bool read_back(struct compiling *c, struct error *error)
{
    TEXT(text);
    const struct sexp *items;
    graph_print(&text, &c->folded.graph);
    graph_init(&c->graph, &c->arena);
    bool is_read = sexp_parse(&c->arena, "", text.chars, text.count, &items, error) && items->count == 1 &&
                   graph_parse(&items->items[0], "", &c->graph, error);
    bool is_same = is_read && c->graph.tensors.count == c->folded.graph.tensors.count;
    if (!is_same)
        error_set_code(error, EXIT_INTERNAL, NULL, "the graph is not read as it was written: %s",
                       is_read ? "it has other tensors" : error->message);
    return is_same;
}

static bool prepare(struct compiling *c, struct error *error)
{
    const struct compile_request *r = c->request;
    folded_graph_make(&c->folded, r->graph, &r->weights, r->backend, r->n_inputs, r->input_types, &c->arena);
    c->source = (struct weight_source){&c->folded, acquire, release, NULL};
    struct given_weights weights = {c->folded.weights.count, c->folded.values, &c->source};
    if (!read_back(c, error) || !backend_find_layouts(r->backend, &c->graph, &c->arena, &c->layouts, error))
        return false;
    c->model = r->prepare(r->context, &c->graph, c->layouts, &weights, error);
    return c->model != NULL;
}

// --- forms of weights ------------------------------------------------------------------------------------------------

static void count_uses(struct compiling *c)
{
    const struct plan *plan = model_plan(c->model);
    c->n_uses = arena_array(&c->arena, uint32_t, c->folded.weights.count + 1);
    for (size_t i = 0; i < plan->steps.count; i++)
        for (struct touched_memory t = {0}; step_next_memory(&plan->steps.items[i], &t);)
            if (!t.is_written && plan->memory.items[t.memory].place == MEMORY_WEIGHT)
                c->n_uses[plan->memory.items[t.memory].index]++;
}

static bool is_stored(const struct compiling *c, const struct packed_weight *w)
{
    return ANY(size_t, i, c->stored.count,
               c->stored.items[i].index == w->index && packing_equal(&c->stored.items[i].packing, &w->packing));
}

static bool has_form(const struct compiling *c, size_t index)
{
    return ANY(size_t, i, c->stored.count, c->stored.items[i].index == index);
}

static void choose_forms(struct compiling *c)
{
    model_list_packed(c->model, &c->packed);
    count_uses(c);
    vec_each(&c->packed, w) {
        c->n_uses[w->index]--;
        if (!is_stored(c, w))
            vec_push(&c->stored, ((struct stored_weight){w->index, true, w->packing, w->data, w->bytes}));
    }
    for (size_t i = 0; i < c->folded.weights.count; i++)
        if (c->n_uses[i] > 0 || !has_form(c, i))
            vec_push(&c->stored, ((struct stored_weight){.index = i, .bytes = type_bytes(&c->folded.values[i].type)}));
}

// --- manifest --------------------------------------------------------------------------------------------------------

static void print_weights(struct compiling *c)
{
    text_add(&c->manifest, "(weights");
    vec_each(&c->stored, w) {
        text_printf(&c->manifest, "\n  (%zu %zu %zu", w->index, c->bytes, w->bytes);
        if (w->is_packed) {
            text_add(&c->manifest, " ");
            packing_print(&c->manifest, &w->packing);
        }
        text_add(&c->manifest, ")");
        c->bytes += (w->bytes + COMPILED_ALIGNMENT - 1) / COMPILED_ALIGNMENT * COMPILED_ALIGNMENT;
    }
    text_add(&c->manifest, ")\n");
}

static void print_names(struct text *out, const char *what, size_t n, const char *const *names)
{
    text_printf(out, "(%s", what);
    for (size_t i = 0; i < n; i++) {
        text_add(out, " ");
        text_add_quoted(out, names[i]);
    }
    text_add(out, ")\n");
}

static void print_layouts(struct compiling *c)
{
    text_add(&c->manifest, "(layouts");
    for (tensor_id t = 0; c->layouts && t < c->graph.tensors.count; t++) {
        enum layout layout = (enum layout)(c->layouts[t] & ~PLAN_APART);
        if (c->layouts[t] != LAYOUT_ANY)
            text_printf(&c->manifest, " (%u %s%s)", t, layout == LAYOUT_ANY ? "any" : layout_name(layout),
                        c->layouts[t] & PLAN_APART ? " apart" : "");
    }
    text_add(&c->manifest, ")\n");
}

static void print_choices(struct compiling *c)
{
    LOCAL_LIST(step_choices, list);
    plan_list_choices(model_plan(c->model), &c->arena, &list);
    text_add(&c->manifest, "(choices");
    for (size_t i = 0; i < list.count; i++) {
        text_add(&c->manifest, "\n  (");
        text_add_quoted(&c->manifest, list.items[i].step);
        text_add(&c->manifest, " ");
        text_add_quoted(&c->manifest, list.items[i].choice);
        if (list.items[i].error > 0)
            text_printf(&c->manifest, " %.1e", list.items[i].error);
        text_add(&c->manifest, ")");
    }
    text_add(&c->manifest, ")\n");
}

static void print_manifest(struct compiling *c)
{
    const struct compile_request *r = c->request;
    text_printf(&c->manifest, "(compiled-by \"taso %s\")\n", TASO_VERSION);
    print_names(&c->manifest, "inputs", r->n_inputs, r->input_names);
    print_names(&c->manifest, "outputs", r->n_outputs, r->output_names);
    print_weights(c);
    print_layouts(c);
    print_choices(c);
    graph_print(&c->manifest, &c->graph);
}

// --- from beginning to end -------------------------------------------------------------------------------------------

static bool write_weight(struct compiling *c, struct compiled_writer *w, const struct stored_weight *stored,
                         struct error *error)
{
    if (stored->is_packed) {
        compiled_writer_add(w, stored->data, stored->bytes);
        return true;
    }
    const void *data = c->source.acquire(c->source.context, stored->index, error);
    if (!data)
        return false;
    compiled_writer_add(w, data, stored->bytes);
    c->source.release(c->source.context, stored->index, data);
    return true;
}

static bool write_file(struct compiling *c, const char *path, struct error *error)
{
    struct compiled_writer w;
    bool is_written = compiled_writer_open(&w, path, c->manifest.chars, c->manifest.count, c->bytes, error);
    if (!is_written)
        return false;
    for (size_t i = 0; is_written && i < c->stored.count; i++)
        is_written = write_weight(c, &w, &c->stored.items[i], error);
    if (is_written)
        return compiled_writer_commit(&w, error);
    compiled_writer_abandon(&w);
    return false;
}

bool compiled_model_write(const struct compile_request *r, const char *path, struct error *error)
{
    struct compiling c = {.request = r};
    bool is_done = prepare(&c, error);
    if (is_done) {
        choose_forms(&c);
        print_manifest(&c);
        is_done = write_file(&c, path, error);
        model_free(c.model);
    }
    vecs_free(&c, packed, stored);
    text_free(&c.manifest);
    graph_free(&c.graph);
    folded_graph_free(&c.folded);
    arena_free(&c.arena);
    return is_done;
}
