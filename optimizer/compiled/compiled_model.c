// Reading: the manifest says where weights stand, and nothing is taken as it says before it fits: places lie within the
// file, sizes are those of types, packings stay within their bytes, every leaf has a name or a weight.
#include "optimizer/compiled/compiled_model.h"

#include "backends/backend.h"
#include "backends/cuda/steps.h"
#include "core/formats/sexp.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "graph/text.h"
#include "optimizer/compiled/compiled_file.h"
#include <string.h>

struct unpacked_weight {
    struct arena arena;
    float *data;
    size_t n_users;
};
struct reading {
    struct compiled_model *m;
    const char *path;
    struct compiled_frame frame;
    struct error *error;
};

static bool fail(const struct reading *r, const struct sexp *s, const char *reason)
{
    return sexp_error(r->error, r->path, s, "%s", reason);
}

// --- weights ---------------------------------------------------------------------------------------------------------

// A form of the weight that is packed as the kernel wants it.
static const void *find_packed(void *context, size_t index, const struct packing *packing, size_t bytes)
{
    const struct compiled_model *m = context;
    vec_each(&m->stored, w)
        if (w->index == index && w->is_packed && w->bytes == bytes && packing_equal(&w->packing, packing))
            return w->data;
    return NULL;
}

static const struct stored_weight *find_any_form(const struct compiled_model *m, size_t index)
{
    return vec_find(&m->stored, x, x->index == index);
}

// A weight of which there is no form but packed ones.
static const void *acquire(void *context, size_t index, struct error *error)
{
    struct compiled_model *m = context;
    struct unpacked_weight *u = &m->unpacked[index];
    const struct stored_weight *w = find_any_form(m, index);
    if (u->n_users++ == 0) {
        u->data = arena_alloc(&u->arena, (size_t)packing_elements(&w->packing) * sizeof *u->data, COMPILED_ALIGNMENT);
        packing_unpack(&w->packing, w->data, u->data);
    }
    return u->data;
}

static void release(void *context, size_t index, const void *data)
{
    struct compiled_model *m = context;
    if (--m->unpacked[index].n_users == 0)
        arena_free(&m->unpacked[index].arena);
}

// --- manifest --------------------------------------------------------------------------------------------------------

static bool is_size(const struct sexp *s, size_t most)
{
    return s->kind == SEXP_INTEGER && s->integer >= 0 && (uint64_t)s->integer <= most;
}

static bool read_weight(struct reading *r, const struct sexp *s, size_t most_index)
{
    struct stored_weight w = {0};
    if (s->kind != SEXP_LIST || s->count < 3 || s->count > 4 || !is_size(&s->items[0], most_index) ||
        !is_size(&s->items[1], r->frame.weights_size) || !is_size(&s->items[2], r->frame.weights_size))
        return fail(r, s, "expected (WEIGHT PLACE BYTES) within the file, and perhaps a packing");
    size_t place = (size_t)s->items[1].integer;
    w.index = (size_t)s->items[0].integer;
    w.bytes = (size_t)s->items[2].integer;
    w.is_packed = s->count == 4;
    if (place % COMPILED_ALIGNMENT || w.bytes > r->frame.weights_size - place)
        return fail(r, s, "a weight is outside of the file, or not aligned");
    if (w.is_packed && !packing_parse(&s->items[3], r->path, &w.packing, r->error))
        return false;
    if (w.is_packed && packing_bytes(&w.packing) > w.bytes)
        return fail(r, s, "a weight is packed in more bytes than it has");
    w.data = r->frame.weights + place;
    vec_push(&r->m->stored, w);
    return true;
}

static bool read_weights(struct reading *r, const struct sexp *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (!read_weight(r, &s->items[i], s->count - 2))
            return false;
    return true;
}

static bool read_names(struct reading *r, const struct sexp *s, named_values *names)
{
    for (size_t i = 1; i < s->count; i++) {
        if (s->items[i].kind != SEXP_STRING)
            return fail(r, &s->items[i], "expected a name");
        vec_push(names, ((struct imported_value){s->items[i].text, NO_TENSOR}));
    }
    return true;
}

static bool read_layout(struct reading *r, const struct sexp *s, uint8_t *layouts)
{
    size_t n = r->m->graph.tensors.count;
    bool is_apart = s->kind == SEXP_LIST && s->count == 3;
    if (s->kind != SEXP_LIST || s->count < 2 || s->count > 3 || n == 0 || !is_size(&s->items[0], n - 1) ||
        s->items[1].kind != SEXP_SYMBOL || (is_apart && !sexp_is_symbol(&s->items[2], "apart")))
        return fail(r, s, "expected (TENSOR LAYOUT), or (TENSOR LAYOUT apart)");
    for (enum layout l = 0; l <= LAYOUT_ANY; l++)
        if (strcmp(s->items[1].text, l == LAYOUT_ANY ? "any" : layout_name(l)) == 0) {
            layouts[s->items[0].integer] = (uint8_t)l | (is_apart ? PLAN_APART : 0);
            return true;
        }
    return fail(r, s, "there is no such layout");
}

static bool read_layouts(struct reading *r, const struct sexp *s)
{
    if (s->count == 1)
        return true;
    uint8_t *layouts = arena_array(&r->m->arena, uint8_t, r->m->graph.tensors.count + 1);
    memset(layouts, LAYOUT_ANY, r->m->graph.tensors.count);
    for (size_t i = 1; i < s->count; i++)
        if (!read_layout(r, &s->items[i], layouts))
            return false;
    r->m->layouts = layouts;
    return true;
}

static bool read_choice(struct reading *r, const struct sexp *s)
{
    bool has_error = s->kind == SEXP_LIST && s->count == 3;
    if (s->kind != SEXP_LIST || s->count < 2 || s->count > 3 || s->items[0].kind != SEXP_STRING ||
        s->items[1].kind != SEXP_STRING || strlen(s->items[1].text) >= CHOICE_SIZE ||
        (has_error && !(s->items[2].kind == SEXP_REAL && s->items[2].real > 0 && s->items[2].real <= 1)))
        return fail(r, s, "expected (\"STEP\" \"CHOICE\"), and perhaps its error");
    vec_push(&r->m->choices,
             ((struct step_choice){s->items[0].text, s->items[1].text, has_error ? s->items[2].real : 0}));
    return true;
}

static bool read_choices(struct reading *r, const struct sexp *s)
{
    for (size_t i = 1; i < s->count; i++)
        if (!read_choice(r, &s->items[i]))
            return false;
    return true;
}

// --- the graph's leaves ----------------------------------------------------------------------------------------------

static bool check_weight(struct reading *r, const struct sexp *graph, const struct stored_weight *w)
{
    const struct type *type = &r->m->weights[w->index].type;
    bool fits = w->is_packed ? type->dtype == DTYPE_F32 && packing_elements(&w->packing) == type_elements(type)
                             : w->bytes == type_bytes(type);
    return fits || sexp_error(r->error, r->path, graph, "weight %zu has another type than its elements", w->index);
}

static bool bind_weight(struct reading *r, const struct sexp *graph, size_t index, const struct type *type)
{
    struct tensor_value *value = &r->m->weights[index];
    if (value->type.dtype != DTYPE_NONE && !type_equal(&value->type, type))
        return sexp_error(r->error, r->path, graph, "weight %zu has two types", index);
    value->type = *type;
    return true;
}

static bool bind_input(struct reading *r, const struct sexp *graph, size_t index, tensor_id t)
{
    if (r->m->inputs.items[index].tensor != NO_TENSOR)
        return sexp_error(r->error, r->path, graph, "input %zu has two types", index);
    r->m->inputs.items[index].tensor = t;
    return true;
}

static bool bind_leaf(struct reading *r, const struct sexp *graph, const struct node *n)
{
    const struct type *type = graph_type(&r->m->graph, n->first_output);
    bool is_input = n->op == operators[OP_INPUT];
    int64_t index = n->attributes[0].ints[0];
    size_t count = is_input ? r->m->inputs.count : r->m->n_weights;
    if (index < 0 || (uint64_t)index >= count || !type_is_known(type) || !dtype_has_numbers(type->dtype))
        return sexp_error(r->error, r->path, graph, "%s %lld is not there, or has no numbers", n->op->name,
                          (long long)index);
    return is_input ? bind_input(r, graph, (size_t)index, n->first_output) : bind_weight(r, graph, (size_t)index, type);
}

static bool bind_leaves(struct reading *r, const struct sexp *graph)
{
    const struct graph *g = &r->m->graph;
    vec_each(&g->nodes, node) {
        bool is_leaf = node->op == operators[OP_INPUT] || node->op == operators[OP_WEIGHT];
        if (node->op == operators[OP_OPAQUE])
            return fail(r, graph, "an operator of the graph has no meaning here");
        if (is_leaf && !bind_leaf(r, graph, node))
            return false;
    }
    for (size_t i = 0; i < r->m->inputs.count; i++)
        if (r->m->inputs.items[i].tensor == NO_TENSOR)
            return sexp_error(r->error, r->path, graph, "input %zu is not in the graph", i);
    return true;
}

static bool bind_outputs(struct reading *r, const struct sexp *graph)
{
    const struct graph *g = &r->m->graph;
    if (g->outputs.count != r->m->outputs.count)
        return fail(r, graph, "the graph has another number of outputs than names for them");
    for (size_t i = 0; i < g->outputs.count; i++) {
        if (!dtype_has_numbers(graph_type(g, g->outputs.items[i])->dtype))
            return fail(r, graph, "an output has no numbers");
        r->m->outputs.items[i].tensor = g->outputs.items[i];
    }
    return true;
}

// All weights that the graph reads have some form; those that stand plain are given with their data.
static bool give_weights(struct reading *r, const struct sexp *graph)
{
    struct compiled_model *m = r->m;
    struct tensor_value *values = m->weights;
    vec_each(&m->stored, w) {
        if (values[w->index].type.dtype == DTYPE_NONE)
            continue;
        if (!check_weight(r, graph, w))
            return false;
        if (!w->is_packed)
            values[w->index].data = (void *)(uintptr_t)w->data;
    }
    for (size_t i = 0; i < m->n_weights; i++)
        if (values[i].type.dtype != DTYPE_NONE && !find_any_form(m, i))
            return sexp_error(r->error, r->path, graph, "weight %zu is not in the file", i);
    return true;
}

static void count_weights(struct compiled_model *m)
{
    size_t n = 0;
    for (size_t i = 0; i < m->stored.count; i++)
        n = m->stored.items[i].index >= n ? m->stored.items[i].index + 1 : n;
    m->n_weights = n;
    m->weights = arena_array(&m->arena, struct tensor_value, n + 1);
    m->unpacked = arena_array(&m->arena, struct unpacked_weight, n + 1);
    m->source = (struct weight_source){m, acquire, release, find_packed};
}

// --- from beginning to end -------------------------------------------------------------------------------------------

enum { COMPILED_BY, INPUTS, OUTPUTS, WEIGHTS, LAYOUTS, CHOICES, GRAPH, ITEMS };
static const char *const items_of_manifest[] = {"compiled-by", "inputs",  "outputs", "weights",
                                                "layouts",     "choices", "graph"};

// Items by the enumeration.
static bool find_items(struct reading *r, const struct sexp *list, const struct sexp **ret_items)
{
    for (size_t i = 0; i < ITEMS; i++) {
        if (i >= list->count || !sexp_is_call(&list->items[i], items_of_manifest[i]))
            return sexp_error(r->error, r->path, i < list->count ? &list->items[i] : list, "expected (%s ...)",
                              items_of_manifest[i]);
        ret_items[i] = &list->items[i];
    }
    return list->count == ITEMS || fail(r, &list->items[ITEMS], "nothing is expected behind the graph");
}

static bool read_manifest(struct reading *r)
{
    struct compiled_model *m = r->m;
    const struct sexp *list, *items[ITEMS];
    if (!sexp_parse(&m->arena, r->path, r->frame.manifest, r->frame.manifest_size, &list, r->error) ||
        !find_items(r, list, items))
        return false;
    const struct sexp *graph = items[GRAPH];
    if (!read_names(r, items[INPUTS], &m->inputs) || !read_names(r, items[OUTPUTS], &m->outputs) ||
        !read_weights(r, items[WEIGHTS]) || !read_choices(r, items[CHOICES]) ||
        !graph_parse(graph, r->path, &m->graph, r->error))
        return false;
    count_weights(m);
    return read_layouts(r, items[LAYOUTS]) && bind_leaves(r, graph) && bind_outputs(r, graph) && give_weights(r, graph);
}

bool compiled_model_is_at(const char *path)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    struct error ignored;
    return file_map_open(&map, path, &ignored) && compiled_frame_is_at(map.bytes, map.size);
}

bool compiled_model_read(struct compiled_model *ret_model, const char *path, const void *bytes, size_t size,
                         struct error *error)
{
    struct reading r = {.m = ret_model, .path = path, .error = error};
    *ret_model = (struct compiled_model){0};
    graph_init(&ret_model->graph, &ret_model->arena);
    bool is_read = compiled_frame_read(&r.frame, path, bytes, size, error) && read_manifest(&r);
    if (!is_read)
        compiled_model_close(ret_model);
    return is_read;
}

bool compiled_model_open(struct compiled_model *ret_model, const char *path, struct error *error)
{
    struct file_map map;
    if (!file_map_open(&map, path, error))
        return false;
    bool is_read = compiled_frame_check(path, map.bytes, map.size, error) &&
                   compiled_model_read(ret_model, path, map.bytes, map.size, error);
    if (is_read)
        ret_model->map = map;
    else
        file_map_close(&map);
    return is_read;
}

void compiled_model_close(struct compiled_model *m)
{
    for (size_t i = 0; m->unpacked && i < m->n_weights; i++)
        arena_free(&m->unpacked[i].arena);
    vecs_free(m, inputs, outputs, stored, choices);
    graph_free(&m->graph);
    arena_free(&m->arena);
    file_map_close(&m->map);
}

struct model *compiled_model_prepare(struct compiled_model *m, struct backend *b, struct error *error)
{
    struct given_weights weights = {m->n_weights, m->weights, &m->source};
    return backend_prepare_from(b, &m->graph, m->layouts, &m->choices, &weights, error);
}
