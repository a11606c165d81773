// The whole graph is imported once; what becomes opaque there is left. Each node has a level: how often a way to it
// leaves what is taken and comes back. Taken nodes of one level can run together, whatever lies between them: a way out
// of a level comes back on a higher one. Of these the connected ones are a region.
#include "provider/regions.h"

#include "core/text/error.h"
#include "onnx/convert/import/import.h"
#include "onnx/format/model_file.h"
#include <string.h>

// --- what is understood ----------------------------------------------------------------------------------------------

static bool is_candidate(const struct graph_node *n)
{
    bool is_standard = *n->domain == '\0' || strcmp(n->domain, "ai.onnx") == 0;
    return is_standard && !n->is_taken && n->n_subgraphs == 0 && n->n_implicit == 0;
}

// Shapes at likely sizes, as regions are compiled for known ones: what the model computes of its sizes is a number
// then.
static const char *const *list_shapes(const struct model_bytes *model, struct arena *arena, size_t *ret_count)
{
    const char **shapes = arena_array(arena, const char *, model->inputs.count + 1);
    int64_t dims[MOST_AXES];
    *ret_count = 0;
    vec_each(&model->inputs, v) {
        for (int k = 0; k < v->form.rank; k++)
            dims[k] = model_bytes_likely_size(model, v, k);
        const char *shape = model_value_shape(v, dims, arena);
        if (shape)
            shapes[(*ret_count)++] = shape;
    }
    return shapes;
}

struct attempt {
    size_t n_left, first;   // opaque ones, by their numbers in the model
    bool *is_left;
    const char *reason;   // of the first
};

static bool import(const struct model_bytes *bytes, size_t n, struct attempt *ret_attempt, struct arena *arena,
                   struct error *error)
{
    struct import_options options = {.fold_limit = IMPORT_FOLD_LIMIT};
    struct onnx_file file;
    struct imported_model model;
    options.shapes = list_shapes(bytes, arena, &options.shape_count);
    if (!onnx_file_open(&file, bytes->file.path, error))
        return false;
    bool is_imported = import_model(&model, &file, &options, error);
    *ret_attempt = (struct attempt){.is_left = arena_array(arena, bool, n)};
    for (size_t i = is_imported ? model.opaques.count : 0; i-- > 0;) {
        ret_attempt->n_left++;
        ret_attempt->is_left[model.opaques.items[i].node] = true;
        ret_attempt->first = model.opaques.items[i].node;
        ret_attempt->reason = arena_string(arena, model.opaques.items[i].reason);
    }
    if (is_imported)
        imported_model_free(&model);
    onnx_file_close(&file);
    return is_imported;
}

#define SHORT_LENGTH 16   // where a model has no place for texts of the likely one

// Imports at the length at which most is understood.
static bool import_at_best(struct model_bytes *bytes, size_t n, struct attempt *ret_attempt, struct arena *arena,
                           struct error *error)
{
    struct attempt other;
    struct error ignored;
    if (!import(bytes, n, ret_attempt, arena, error))
        return false;
    bytes->likely_length = SHORT_LENGTH;
    if (ret_attempt->n_left > 0 && import(bytes, n, &other, arena, &ignored) && other.n_left < ret_attempt->n_left)
        *ret_attempt = other;
    else
        bytes->likely_length = LIKELY_LENGTH;
    return true;
}

// The candidates are imported as one model, whose inputs are what the others make.
static bool find_taken(const struct runtime *r, const struct graph_view *view, struct arena *arena, bool *is_taken,
                       struct regions *ret_regions, struct error *error)
{
    struct attempt found;
    size_t *nodes = arena_array(arena, size_t, view->n_nodes), n = 0;
    struct model_bytes *model = &ret_regions->all;
    for (size_t i = 0; i < view->n_nodes; i++) {
        is_taken[i] = is_candidate(&view->nodes[i]);
        if (is_taken[i])
            nodes[n++] = i;
    }
    if (n == 0)
        return true;
    if (!model_bytes_make(model, r, view, nodes, n, arena, error))
        return false;
    bool is_done = import_at_best(model, n, &found, arena, error);
    for (size_t i = 0; is_done && i < n; i++)
        is_taken[nodes[i]] = !found.is_left[i];
    if (is_done && found.n_left > 0)
        runtime_log(r, "taso: %zu nodes are not understood, the first of them %s %s: %s", found.n_left,
                    view->nodes[nodes[found.first]].type, view->nodes[nodes[found.first]].name, found.reason);
    ret_regions->likely_length = model->likely_length;
    if (is_done && found.n_left == 0)
        ret_regions->n_all = n;
    else
        model_bytes_free(model);
    return is_done;
}

// --- regions ---------------------------------------------------------------------------------------------------------

struct growing {
    const struct graph_view *view;
    const bool *is_taken;
    size_t *level, *region;   // of each node; a region is the number of one of its nodes
};

static size_t root_of(const struct growing *g, size_t node)
{
    while (g->region[node] != node)
        node = g->region[node] = g->region[g->region[node]];
    return node;
}

// The node that makes the value; SIZE_MAX: none of the graph's.
static size_t maker_of(const struct growing *g, size_t before, const char *name)
{
    for (size_t i = before; i-- > 0;)
        for (size_t k = 0; k < g->view->nodes[i].n_outputs; k++)
            if (g->view->nodes[i].outputs[k].info && strcmp(g->view->nodes[i].outputs[k].name, name) == 0)
                return i;
    return SIZE_MAX;
}

static void join(const struct growing *g, size_t a, size_t b)
{
    size_t x = root_of(g, a), y = root_of(g, b);
    g->region[x < y ? y : x] = x < y ? x : y;
}

static void place_node(struct growing *g, size_t i, const size_t *makers, size_t n_makers)
{
    g->region[i] = i;
    for (size_t k = 0; k < n_makers; k++) {
        size_t level = g->level[makers[k]] + (g->is_taken[makers[k]] && !g->is_taken[i]);
        g->level[i] = level > g->level[i] ? level : g->level[i];
    }
    for (size_t k = 0; k < n_makers; k++)
        if (g->is_taken[i] && g->is_taken[makers[k]] && g->level[makers[k]] == g->level[i])
            join(g, i, makers[k]);
}

// A node with subgraphs reads what stands in these, too, and is last among what it might read.
static void place_all(struct growing *g, struct arena *arena)
{
    for (size_t i = 0; i < g->view->n_nodes; i++) {
        const struct graph_node *n = &g->view->nodes[i];
        size_t *makers = arena_array(arena, size_t, n->n_inputs + i + 1), count = 0;
        for (size_t k = 0; k < n->n_inputs; k++) {
            size_t maker = n->inputs[k].info ? maker_of(g, i, n->inputs[k].name) : SIZE_MAX;
            if (maker != SIZE_MAX)
                makers[count++] = maker;
        }
        for (size_t k = 0; n->n_implicit > 0 && k < i; k++)
            makers[count++] = k;
        place_node(g, i, makers, count);
    }
}

static void collect(const struct growing *g, struct arena *arena, struct regions *ret_regions)
{
    size_t n = g->view->n_nodes, *number = arena_array(arena, size_t, n + 1);
    for (size_t i = 0; i < n; i++) {
        if (!g->is_taken[i])
            continue;
        size_t root = root_of(g, i);
        if (root == i) {
            number[i] = ret_regions->items.count;
            vec_push(&ret_regions->items, ((struct region){arena_array(arena, size_t, n), 0}));
        }
        struct region *region = &ret_regions->items.items[number[root]];
        region->nodes[region->n++] = i;
        ret_regions->n_taken++;
    }
}

bool regions_find(struct regions *ret_regions, const struct runtime *r, const struct graph_view *view,
                  struct arena *arena, struct error *error)
{
    bool *is_taken = arena_array(arena, bool, view->n_nodes + 1);
    struct growing g = {view, is_taken, arena_array(arena, size_t, view->n_nodes + 1),
                        arena_array(arena, size_t, view->n_nodes + 1)};
    *ret_regions = (struct regions){.all.file.descriptor = -1};
    if (!find_taken(r, view, arena, is_taken, ret_regions, error))
        return false;
    place_all(&g, arena);
    collect(&g, arena, ret_regions);
    return true;
}

bool regions_make_model(struct regions *regions, const struct region *region, const struct runtime *r,
                        const struct graph_view *view, struct arena *arena, struct model_bytes *ret_model,
                        struct error *error)
{
    if (region->n != regions->n_all) {
        bool is_made = model_bytes_make(ret_model, r, view, region->nodes, region->n, arena, error);
        ret_model->likely_length = regions->likely_length;
        return is_made;
    }
    *ret_model = regions->all;
    regions->all = (struct model_bytes){.file.descriptor = -1};
    regions->n_all = 0;
    return true;
}

void regions_free(struct regions *regions)
{
    model_bytes_free(&regions->all);
    vec_free(&regions->items);
}
