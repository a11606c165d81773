// Tensors whose elements are computed when they are written: what is read back, how many are in memory at a time, and
// what is left where one cannot be computed.
#include "core/system/temporary.h"
#include "onnx/format/model_file.h"
#include "onnx/format/model_save.h"
#include "onnx/format/tensor.h"
#include "tests/support/temporary_path.h"

enum { TENSORS = 6, ELEMENTS = 1 << 18 };

struct computed {
    struct onnx_deferred deferred;
    int number, fails_at;
    size_t *most_in_use;
};

static const void *compute(void *context, struct arena *arena, struct error *error)
{
    const struct computed *c = context;
    if (c->number == c->fails_at) {
        error_set_code(error, EXIT_UNSUPPORTED, NULL, "number %d cannot be computed", c->number);
        return NULL;
    }
    float *elements = arena_array(arena, float, ELEMENTS);
    for (int i = 0; i < ELEMENTS; i++)
        elements[i] = (float)(c->number * ELEMENTS + i);
    *c->most_in_use = mem_in_use() > *c->most_in_use ? mem_in_use() : *c->most_in_use;
    return elements;
}

static void set_name(struct onnx_string *s, struct arena *arena, int number)
{
    s->text = arena_printf(arena, "weight%d", number);
    s->size = strlen(s->text);
}

static struct onnx_model *make_model(struct arena *arena, int fails_at, size_t *most_in_use)
{
    static int64_t dimension[] = {ELEMENTS};
    struct onnx_model *m = arena_new(arena, struct onnx_model);
    m->ir_version = 8;
    ONNX_SET(m, 1);
    struct onnx_opset *opset = arena_new(arena, struct onnx_opset);
    opset->version = 17;
    ONNX_SET(opset, 2);
    m->opsets.items = arena_array(arena, void *, 1);
    m->opsets.items[m->opsets.count++] = opset;
    m->graph = arena_new(arena, struct onnx_graph);
    m->graph->initializers.items = arena_array(arena, void *, TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        struct onnx_tensor *t = arena_new(arena, struct onnx_tensor);
        struct computed *c = arena_new(arena, struct computed);
        *c = (struct computed){{compute, c}, i, fails_at, most_in_use};
        *t = (struct onnx_tensor){.dims = {dimension, 1}, .data_type = ONNX_FLOAT, .deferred = &c->deferred};
        t->raw_data = (struct onnx_bytes){(const uint8_t *)c, ELEMENTS * sizeof(float)};
        ONNX_SET(t, 2);
        set_name(&t->name, arena, i);
        m->graph->initializers.items[m->graph->initializers.count++] = t;
    }
    return m;
}

static void expect_elements(const char *path)
{
    struct onnx_file file FREED_BY(onnx_file_close);
    struct error error = {0};
    onnx_file_open(&file, path, &error);
    assert_string_equal(error.message, "");
    assert_int_equal(file.model->graph->initializers.count, TENSORS);
    for (int i = 0; i < TENSORS; i++) {
        struct onnx_bytes bytes;
        const struct onnx_tensor *t = file.model->graph->initializers.items[i];
        assert_true(onnx_tensor_decode(t, &file.arena, path, &bytes, &error));
        const float *elements = (const float *)(const void *)bytes.at;
        for (int k = 0; k < ELEMENTS; k++)
            assert_true(elements[k] == (float)(i * ELEMENTS + k));
    }
}

// In one file, and with a limit that moves them to another one.
TEST(deferred_elements_are_written_one_tensor_at_a_time)
{
    for (size_t limit = 0; limit <= 4096; limit += 4096) {
        struct temporary_folder folder FREED_BY(temporary_folder_remove) = {0};
        size_t before = mem_in_use(), most_in_use = 0;
        ARENA(arena);
        OK(temporary_folder_make(&folder, &error));
        const char *path = arena_printf(&arena, "%s/m.onnx", folder.path);
        OK(onnx_model_write(make_model(&arena, -1, &most_in_use), NULL, path, limit, NULL, &error));
        assert_in_range(most_in_use - before, ELEMENTS * sizeof(float), 2 * ELEMENTS * sizeof(float));
        expect_elements(path);
    }
}

TEST(what_cannot_be_computed_leaves_no_file)
{
    for (size_t limit = 0; limit <= 4096; limit += 4096) {
        TEMPORARY_PATH(path);
        size_t most_in_use = 0;
        ARENA(arena);
        struct error error = {0};
        assert_false(onnx_model_write(make_model(&arena, 3, &most_in_use), NULL, path, limit, NULL, &error));
        assert_string_equal(error.message, "number 3 cannot be computed");
        assert_int_equal(error.code, EXIT_UNSUPPORTED);
        assert_int_not_equal(access(path, F_OK), 0);
    }
}
