// A written model that says something else than was exported takes nobody's place: a type, the interface, the order of
// nodes. Files are what they were before.
#include "onnx/convert/export/export.h"
#include "onnx/convert/export/export_alone.h"
#include "onnx/convert/symbolic/import_symbolic.h"
#include "onnx/format/model_file.h"
#include "onnx/format/model_save.h"
#include "tests/support/parse_graph.h"
#include "tests/support/temporary_path.h"

struct written {
    struct arena arena;
    struct onnx_file file;   // the original, of which every second size has a symbol
    struct imported_model imported;
    struct onnx_model *model;
    struct exported_types types;
};

static const char *const graph_text = "t0 = f32 2 3; t1 = relu t0; t2 = exp t1; output t2 t1";

static void write_original(const char *path, struct arena *arena)
{
    struct onnx_bytes bytes;
    GRAPH(g, arena, graph_text);
    OK(export_alone(&g, 17, &(struct alone_weights){0}, arena, &bytes, &error));
    OK(file_write_text(path, (const char *)bytes.at, bytes.size, &error));
}

static struct onnx_value_info *input_of_model(const struct onnx_model *m)
{
    return m->graph->inputs.items[0];
}

static void open_written(struct written *w, const char *path, bool is_symbolic)
{
    struct import_options options = {.fold_limit = IMPORT_FOLD_LIMIT};
    arena_init(&w->arena);
    write_original(path, &w->arena);
    OK(onnx_file_open(&w->file, path, &error));
    if (is_symbolic)
        *(struct onnx_dimension *)input_of_model(w->file.model)->type->tensor->shape->dimensions.items[0] =
            (struct onnx_dimension){.symbol = {"batch", 5}};
    for (size_t i = 0; is_symbolic && i < w->file.model->graph->outputs.count; i++) {
        const struct onnx_value_info *output = w->file.model->graph->outputs.items[i];
        *(struct onnx_dimension *)output->type->tensor->shape->dimensions.items[0] =
            (struct onnx_dimension){.symbol = {"batch", 5}};
    }
    OK(import_symbolic(&w->imported, &w->file, &options, &error));
    OK(export_model(&w->imported, &w->imported.graph, &w->model, &w->types, &error));
}

static void close_written(struct written *w)
{
    imported_model_free(&w->imported);
    onnx_file_close(&w->file);
    arena_free(&w->arena);
}

static bool is_written(struct written *w, const char *path, struct error *ret_error)
{
    struct onnx_reader reader = {exported_types_are_read_back, &w->types};
    *ret_error = (struct error){0};
    bool is_done = onnx_model_write(w->model, &w->file, path, 0, &reader, ret_error);
    assert_int_equal(is_done, access(path, F_OK) == 0);
    unlink(path);
    return is_done;
}

// --- what goes wrong -------------------------------------------------------------------------------------------------

static void change_rank(struct written *w)
{
    for (size_t i = 0; i < w->types.count; i++)
        w->types.items[i].type = type_make(DTYPE_F32, 3, (int64_t[]){1, 2, 3});
}

static void change_element_type(struct written *w)
{
    w->types.items[0].type.dtype = DTYPE_F16;
}

static void drop_output(struct written *w)
{
    w->model->graph->outputs.count--;
}

static void swap_outputs(struct written *w)
{
    void **items = arena_array(&w->arena, void *, 2), **old = w->model->graph->outputs.items;
    items[0] = old[1];
    items[1] = old[0];
    w->model->graph->outputs.items = items;
}

static void declare_element_type(struct written *w)
{
    struct onnx_value_info *info = arena_new(&w->arena, struct onnx_value_info);
    *info = *(const struct onnx_value_info *)w->model->graph->outputs.items[0];
    info->type = arena_new(&w->arena, struct onnx_type);
    info->type->tensor = arena_new(&w->arena, struct onnx_tensor_type);
    *info->type->tensor = *((const struct onnx_value_info *)w->model->graph->outputs.items[0])->type->tensor;
    info->type->tensor->elem_type = 10;
    void **items = arena_array(&w->arena, void *, 2);
    items[0] = info;
    items[1] = w->model->graph->outputs.items[1];
    w->model->graph->outputs.items = items;
}

// A copy, as the written model's messages are the original's.
static void change_input(struct written *w, struct onnx_dimension size)
{
    const struct onnx_value_info *old = input_of_model(w->model);
    struct onnx_value_info *info = arena_new(&w->arena, struct onnx_value_info);
    struct onnx_shape *shape = arena_new(&w->arena, struct onnx_shape);
    struct onnx_dimension *first = arena_new(&w->arena, struct onnx_dimension);
    *info = *old;
    info->type = arena_new(&w->arena, struct onnx_type);
    info->type->tensor = arena_new(&w->arena, struct onnx_tensor_type);
    *info->type->tensor = *old->type->tensor;
    info->type->tensor->shape = shape;
    *first = size;
    shape->dimensions = (struct onnx_list){arena_array(&w->arena, void *, 2), 2};
    shape->dimensions.items[0] = first;
    shape->dimensions.items[1] = old->type->tensor->shape->dimensions.items[1];
    w->model->graph->inputs.items = arena_array(&w->arena, void *, 1);
    w->model->graph->inputs.items[0] = info;
}

static void rename_symbol(struct written *w)
{
    change_input(w, (struct onnx_dimension){.symbol = {"length", 6}});
}

static void fix_size(struct written *w)
{
    struct onnx_dimension size = {.value = 5};
    ONNX_SET(&size, 1);
    change_input(w, size);
}

static void reverse_nodes(struct written *w)
{
    void **items = arena_array(&w->arena, void *, 2), **old = w->model->graph->nodes.items;
    items[0] = old[1];
    items[1] = old[0];
    w->model->graph->nodes.items = items;
}

// Another number where a symbol has to be: as a Reshape to a size that was known at one binding would make it.
static void forget_symbol_of_node(struct written *w)
{
    for (size_t i = 0; i < w->types.count; i++)
        w->types.items[i].type.dim[0] += w->types.items[i].type.rank == 2;
}

TEST(what_is_right_is_written)
{
    for (int is_symbolic = 0; is_symbolic < 2; is_symbolic++) {
        TEMPORARY_PATH(path);
        TEMPORARY_PATH(out);
        struct written w FREED_BY(close_written);
        open_written(&w, path, is_symbolic);
        assert_true(is_written(&w, out, &(struct error){0}));
    }
}

TEST(what_differs_is_not_written)
{
    static const struct {
        void (*spoil)(struct written *w);
        bool is_symbolic;
    } cases[] = {
        {change_rank, false},  {change_rank, true},           {change_element_type, false}, {drop_output, false},
        {swap_outputs, false}, {declare_element_type, false}, {rename_symbol, true},        {fix_size, true},
        {fix_size, false},     {reverse_nodes, true},         {forget_symbol_of_node, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEMPORARY_PATH(path);
        TEMPORARY_PATH(out);
        struct written w FREED_BY(close_written);
        struct error error;
        open_written(&w, path, cases[i].is_symbolic);
        cases[i].spoil(&w);
        if (is_written(&w, out, &error))
            fail_msg("case %zu is written", i);
        assert_int_equal(error.code, EXIT_UNSUPPORTED);
    }
}
