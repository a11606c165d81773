// `onnx_expect FOLDER...`: for each of ONNX's test folders (model.onnx, test_data_set_0/{input,output}_N.pb), imports
// the model, runs the graph by the operators' definitions, and compares with the expected outputs. One line per folder:
//     FOLDER: equal | opaque (REASON) | no data (REASON) | DIFFERS (REASON)
#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "core/text/error.h"
#include "expressions/elements.h"
#include "graph/graph_whole.h"
#include "onnx/convert/import/import.h"
#include "onnx/convert/importer.h"
#include "onnx/format/model_file.h"
#include "onnx/format/model_read.h"
#include "onnx/format/tensor.h"
#include "tests/support/reference_graph.h"
#include "tests/support/scoped.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_VALUES 16
#define TOLERANCE 1e-5
#define TOLERANCE_OF_HALVES 5e-3

struct test {
    const char *folder;
    struct backend *backend;   // NULL: the definitions
    bool binds;
    struct arena arena;
    struct onnx_file file;
    struct imported_model model;
    struct tensor_value inputs[MAX_VALUES];
    size_t n_inputs;
    char verdict[1200];
    bool has_failed;
};

static bool conclude(struct test *t, const char *verdict, const char *reason)
{
    snprintf(t->verdict, sizeof t->verdict, "%s%s%s%s", verdict, reason ? " (" : "", reason ? reason : "",
             reason ? ")" : "");
    t->has_failed = verdict[0] == 'D';
    return false;
}

static bool decode_value(struct arena *a, const char *path, const struct file_map *map, struct tensor_value *ret_value,
                         struct error *error)
{
    void *message;
    struct onnx_bytes bytes;
    if (!onnx_message_parse(a, &onnx_tensor_descriptor, path, map->bytes, map->size, &message, error))
        return false;
    const struct onnx_tensor *t = message;
    struct type type = type_of_tensor(t);
    if (onnx_tensor_is_external(t) || !type_is_known(&type) || dtype_size(type.dtype) == 0)
        return error_set(error, path, 0, 0, "is no tensor of numbers");
    if (!onnx_tensor_decode(t, a, path, &bytes, error))
        return false;
    *ret_value = (struct tensor_value){type, arena_copy(a, bytes.at, bytes.size + (bytes.size == 0), 64)};
    return true;
}

static bool read_value(struct arena *a, const char *path, struct tensor_value *ret_value, struct error *error)
{
    struct file_map map;
    if (!file_map_open(&map, path, error))
        return false;
    bool is_read = decode_value(a, path, &map, ret_value, error);
    file_map_close(&map);
    return is_read;
}

static bool read_data(struct test *t, const char *kind, size_t index, struct tensor_value *ret_value,
                      struct error *error)
{
    const char *path = arena_printf(&t->arena, "%s/test_data_set_0/%s_%zu.pb", t->folder, kind, index);
    return read_value(&t->arena, path, ret_value, error);
}

static void read_inputs(struct test *t)
{
    struct error ignored;
    while (t->n_inputs < MAX_VALUES && read_data(t, "input", t->n_inputs, &t->inputs[t->n_inputs], &ignored))
        t->n_inputs++;
}

static const char *shape_option(struct test *t, const struct onnx_value_info *info, const struct type *type)
{
    TEXT(text);
    text_printf(&text, "%s=", info->name.text);
    for (int i = 0; i < type->rank; i++)
        text_printf(&text, "%s%" PRId64, i ? "," : "", type->dim[i]);
    return arena_string(&t->arena, text.chars);
}

static bool is_parameter(const struct tensor_value *value)
{
    return value->type.rank <= 1 && type_elements(&value->type) <= 64;
}

static void bind_input(struct test *t, size_t index, const struct onnx_value_info *info)
{
    struct onnx_graph *g = t->file.model->graph;
    struct onnx_tensor *tensor = arena_new(&t->arena, struct onnx_tensor);
    void **items = arena_array(&t->arena, void *, g->initializers.count + 1);
    const struct type *type = &t->inputs[index].type;
    if (g->initializers.count)
        memcpy(items, g->initializers.items, g->initializers.count * sizeof *items);
    items[g->initializers.count] = tensor;
    g->initializers = (struct onnx_list){items, g->initializers.count + 1};
    tensor->name = info->name;
    tensor->data_type = dtype_to_onnx(type->dtype);
    tensor->dims.items = arena_copy_array(&t->arena, type->dim, MAX_RANK);
    tensor->dims.count = (size_t)type->rank;
    tensor->raw_data = (struct onnx_bytes){t->inputs[index].data, type_bytes(type)};
}

static void bind_parameters(struct test *t)
{
    const struct onnx_list *infos = &t->file.model->graph->inputs;
    size_t kept = t->n_inputs ? 1 : 0, count = t->n_inputs;
    struct onnx_list left = {arena_array(&t->arena, void *, infos->count + 1), infos->count ? 1 : 0};
    if (infos->count < count || count == 0)
        return;
    left.items[0] = infos->items[0];
    for (size_t i = 1; i < count; i++) {
        if (is_parameter(&t->inputs[i])) {
            bind_input(t, i, infos->items[i]);
            continue;
        }
        left.items[left.count++] = infos->items[i];
        t->inputs[kept++] = t->inputs[i];
    }
    for (size_t i = count; i < infos->count; i++)
        left.items[left.count++] = infos->items[i];
    t->n_inputs = kept;
    t->file.model->graph->inputs = left;
}

// The shapes of the test's own inputs bind what is symbolic.
static bool import_test(struct test *t, struct error *error)
{
    const char *shapes[MAX_VALUES];
    struct import_options options = {.shapes = shapes, .fold_limit = IMPORT_FOLD_LIMIT, .expands = true};
    const struct onnx_graph *g = t->file.model->graph;
    for (size_t i = 0; i < t->n_inputs && i < g->inputs.count; i++)
        if (t->inputs[i].type.rank > 0)
            shapes[options.shape_count++] = shape_option(t, g->inputs.items[i], &t->inputs[i].type);
    return import_model(&t->model, &t->file, &options, error);
}

static double tolerance_of(enum dtype dtype)
{
    return !dtype_is_float(dtype) ? 0 : dtype == DTYPE_F16 || dtype == DTYPE_BF16 ? TOLERANCE_OF_HALVES : TOLERANCE;
}

static bool is_close(const struct tensor_value *found, const struct tensor_value *expected, double *ret_difference)
{
    size_t n = (size_t)type_elements(&expected->type);
    double largest = 0, difference = 0;
    LOCAL_ARRAY(double, a, n + 1);
    LOCAL_ARRAY(double, b, n + 1);
    elements_to_reals(expected->type.dtype, expected->data, n, a);
    elements_to_reals(expected->type.dtype, found->data, n, b);
    for (size_t i = 0; i < n; i++) {
        bool is_same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));
        largest = isfinite(a[i]) && fabs(a[i]) > largest ? fabs(a[i]) : largest;
        if (!is_same && !(fabs(a[i] - b[i]) <= difference))
            difference = isfinite(a[i] - b[i]) ? fabs(a[i] - b[i]) : INFINITY;
    }
    *ret_difference = largest > 0 ? difference / largest : difference;
    return *ret_difference <= tolerance_of(expected->type.dtype);
}

static bool compare_output(struct test *t, size_t index, const struct tensor_value *found, struct error *error)
{
    struct tensor_value expected;
    double difference;
    if (!read_data(t, "output", index, &expected, error))
        return conclude(t, "no data", error->message);
    if (!type_equal(&found->type, &expected.type)) {
        TEXT(text);
        type_print(&text, &found->type);
        text_add(&text, " instead of ");
        type_print(&text, &expected.type);
        conclude(t, "DIFFERS", text.chars);
        return false;
    }
    if (is_close(found, &expected, &difference))
        return true;
    return conclude(t, "DIFFERS", arena_printf(&t->arena, "output %zu by %g", index, difference));
}

static bool has_live_opaque(const struct graph *g)
{
    LOCAL_ARRAY(bool, live, g->nodes.count + 1);
    bool has_opaque = false;
    graph_mark_live(g, live);
    for (node_id n = 0; n < g->nodes.count; n++)
        has_opaque |= live[n] && g->nodes.items[n].op->id == OP_OPAQUE;
    return has_opaque;
}

static bool run_on_backend(struct test *t, size_t n_weights, const struct tensor_value *weights,
                           struct tensor_value *ret_outputs, struct error *error)
{
    struct model *model = backend_prepare(t->backend, &t->model.graph, n_weights, weights, error);
    if (!model)
        return false;
    model_allocate_outputs(model, ret_outputs, &t->arena);
    bool is_run = model_run(model, t->inputs, ret_outputs, error);
    model_free(model);
    return is_run;
}

static bool run_graph(struct test *t, const struct tensor_value *weights, struct tensor_value *ret_outputs,
                      struct error *error)
{
    size_t n = t->model.weights.count;
    if (t->backend)
        return run_on_backend(t, n, weights, ret_outputs, error);
    return reference_run_graph(&t->model.graph, t->n_inputs, t->inputs, n, weights, ret_outputs, &t->arena, error);
}

static const struct tensor_value *collect_weights(struct imported_model *m, const struct graph *g, struct error *error)
{
    struct tensor_value *values = arena_array(&m->arena, struct tensor_value, m->weights.count + 1);
    bool *live = mem_alloc_zero(g->nodes.count + 1);
    bool is_done = true;
    graph_mark_live(g, live);
    for (node_id n = 0; is_done && n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        const void *data;
        if (!live[n] || node->op != operators[OP_WEIGHT])
            continue;
        size_t index = (size_t)node->attributes[0].ints[0];
        is_done = imported_weight_data(m, index, &data, error);
        if (is_done)
            values[index] = (struct tensor_value){*graph_type(g, node->first_output), (void *)data};
    }
    mem_free(live, g->nodes.count + 1);
    return is_done ? values : NULL;
}

static bool run_imported(struct test *t, struct error *error)
{
    struct imported_model *m = &t->model;
    const struct graph *g = &m->graph;
    struct tensor_value outputs[MAX_VALUES];
    if (has_live_opaque(g))
        return conclude(t, "opaque", m->opaques.items[0].reason);
    if (g->outputs.count > MAX_VALUES || t->n_inputs < m->inputs.count)
        return conclude(t, "no data", "inputs that are no tensors of numbers");
    const struct tensor_value *weights = collect_weights(m, g, error);
    if (!weights || !run_graph(t, weights, outputs, error))
        return conclude(t, "DIFFERS", error->message);
    for (size_t i = 0; i < g->outputs.count; i++)
        if (!compare_output(t, i, &outputs[i], error))
            return false;
    return conclude(t, "equal", NULL);
}

static void run_test(struct test *t, struct error *error)
{
    const char *path = arena_printf(&t->arena, "%s/model.onnx", t->folder);
    if (!onnx_file_open(&t->file, path, error)) {
        conclude(t, "DIFFERS", error->message);
        return;
    }
    read_inputs(t);
    if (t->binds)
        bind_parameters(t);
    if (import_test(t, error)) {
        run_imported(t, error);
        imported_model_free(&t->model);
    } else {
        conclude(t, error->code == EXIT_USAGE ? "no data" : "DIFFERS", error->message);
    }
    onnx_file_close(&t->file);
}

static bool run_folder(const char *folder, struct backend *backend, bool binds)
{
    struct test t = {.folder = folder, .backend = backend, .binds = binds};
    run_test(&t, &(struct error){0});
    printf("%s: %s\n", folder, t.verdict);
    arena_free(&t.arena);
    return !t.has_failed;
}

int main(int argc, char **argv)
{
    struct backend_options options = {.threads = 2, .cost_file = "", .never_measures = true};
    struct backend *backend = NULL;
    struct error error = {0};
    bool is_fine = true;
    int at = 1;
    if (argc > 1 && strcmp(argv[1], "--cpu") == 0) {
        backend = cpu_backend_open(&options, &error);
        if (!backend) {
            error_exit("onnx_expect", &error);
            return (int)error.code;
        }
        at++;
    }
    bool binds = at < argc && strcmp(argv[at], "--bind") == 0;
    for (at += binds; at < argc; at++)
        is_fine &= run_folder(argv[at], backend, binds);
    if (backend)
        backend_close(backend);
    return mem_in_use() ? EXIT_INTERNAL : is_fine ? EXIT_DONE : EXIT_CHECK_FAILED;
}
