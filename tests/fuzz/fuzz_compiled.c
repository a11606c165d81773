// Compiled models: what is read can be planned, prepared, run, and every weight of it unpacked. The input is a manifest,
// then, behind a byte 0, the weights; the frame is made here, so that mutations get past it. As a file of its own the
// input is read, too.
#include "backends/backend.h"
#include "backends/cpu/cpu.h"
#include "core/text/error.h"
#include "optimizer/compiled/compiled_file.h"
#include "optimizer/compiled/compiled_model.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/scoped.h"
#include <string.h>

#define MOST_ELEMENTS ((int64_t)1 << 14)
#define MOST_NODES 24
#define SIZE_OF_HEADER 48

static bool is_small(const struct graph *g)
{
    for (tensor_id t = 0; t < g->tensors.count; t++)
        if (!type_is_known(graph_type(g, t)) || type_elements(graph_type(g, t)) > MOST_ELEMENTS)
            return false;
    return g->nodes.count <= MOST_NODES;
}

static void unpack_all(struct compiled_model *m)
{
    struct error error;
    for (size_t i = 0; i < m->n_weights; i++) {
        if (m->weights[i].type.dtype == DTYPE_NONE || m->weights[i].data)
            continue;
        const void *data = m->source.acquire(m->source.context, i, &error);
        FUZZ_REQUIRE(data);
        m->source.release(m->source.context, i, data);
    }
}

static void run(struct compiled_model *m)
{
    struct backend_options options = {.threads = 1, .cost_file = "", .never_measures = true};
    struct error error;
    ARENA(arena);
    struct backend *b = cpu_backend_open(&options, &error);
    struct model *model = b ? compiled_model_prepare(m, b, &error) : NULL;
    if (model) {
        struct tensor_value *inputs = arena_array(&arena, struct tensor_value, m->inputs.count + 1);
        struct tensor_value *outputs = arena_array(&arena, struct tensor_value, m->outputs.count + 1);
        for (size_t i = 0; i < m->inputs.count; i++) {
            inputs[i].type = *graph_type(&m->graph, m->inputs.items[i].tensor);
            inputs[i].data = arena_alloc_zero(&arena, type_bytes(&inputs[i].type) + 1, 64);
        }
        model_allocate_outputs(model, outputs, &arena);
        model_run(model, inputs, outputs, &error);
        model_free(model);
    }
    backend_close(b);
}

static void read_model(const void *bytes, size_t size)
{
    struct compiled_model m;
    struct error error = {0};
    if (!compiled_model_read(&m, "fuzz", bytes, size, &error)) {
        FUZZ_REQUIRE(error.message[0]);
        return;
    }
    if (is_small(&m.graph)) {
        unpack_all(&m);
        run(&m);
    }
    compiled_model_close(&m);
}

static void put(uint8_t *to, uint64_t value, size_t size)
{
    memcpy(to, &value, size);
}

static void read_framed(const uint8_t *data, size_t size)
{
    const uint8_t *zero = memchr(data, 0, size);
    size_t text = zero ? (size_t)(zero - data) : size, weights = zero ? size - text - 1 : 0;
    size_t begin = (SIZE_OF_HEADER + text + COMPILED_ALIGNMENT - 1) / COMPILED_ALIGNMENT * COMPILED_ALIGNMENT;
    ARENA(arena);
    size_t total = begin + weights + sizeof(uint64_t);
    uint8_t *file = arena_alloc_zero(&arena, total, COMPILED_ALIGNMENT);
    memcpy(file, "\x89taso\r\n\x1a", 8);
    put(file + 8, 0x01020304, 4);
    put(file + 12, COMPILED_VERSION, 4);
    put(file + 16, text, 8);
    put(file + 24, weights, 8);
    memcpy(file + SIZE_OF_HEADER, data, text);
    if (weights)
        memcpy(file + begin, zero + 1, weights);
    read_model(file, total);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_framed(data, size);
    read_model(data, size);
    return 0;
}
