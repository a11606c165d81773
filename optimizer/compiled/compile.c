// The writer of compiled models. A weight that some step also reads as it is gets that form, too.
#include "optimizer/compiled/compile.h"

#include "backends/costs/layout_policy.h"
#include "backends/planning/plan_memory.h"

#include "backends/costs/plan_choices.h"
#include "core/formats/sexp.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "graph/text.h"
#include "optimizer/compiled/compiled_file.h"
#include "optimizer/compiled/folded_graph.h"

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
    c->source = folded_graph_source(&c->folded);
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
    for (size_t i = 0; i < c->packed.count; i++) {
        const struct packed_weight *w = &c->packed.items[i];
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
    for (size_t i = 0; i < c->stored.count; i++) {
        const struct stored_weight *w = &c->stored.items[i];
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
    vec_free(&c.packed);
    vec_free(&c.stored);
    text_free(&c.manifest);
    graph_free(&c.graph);
    folded_graph_free(&c.folded);
    arena_free(&c.arena);
    return is_done;
}
