// Models whose symbols stay: imported at several bindings in lockstep, as a graph that passes every check, has types at
// each of these bindings, and is exported again; those of an odd number of bytes anew.
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "tests/fuzz/exported.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/graph_check.h"

enum { FOLD_LIMIT = 256 };

static void require_types_at(const struct imported_model *m, const int64_t *binding)
{
    const struct graph *g = &m->graph;
    struct arena arena;
    struct graph at;
    arena_init(&arena);
    graph_init(&at, &arena);
    tensor_id *tensors = arena_array(&arena, tensor_id, g->tensors.count + 1);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        tensor_id *inputs = arena_array(&arena, tensor_id, node->n_inputs + 1);
        node_id made;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            inputs[i] = tensors[graph_inputs(g, n)[i]];
        FUZZ_REQUIRE(sizes_add_node(&m->sizes, binding, &at, g, n, inputs, &made));
        for (uint32_t i = 0; i < node->n_outputs; i++)
            tensors[node->first_output + i] = graph_output_of(&at, made, i);
    }
    graph_free(&at);
    arena_free(&arena);
}

static void import_and_export(struct onnx_file *file, bool is_anew)
{
    struct imported_model m;
    struct import_options options = {.fold_limit = FOLD_LIMIT};
    struct error error;
    if (!import_symbolic(&m, file, &options, &error))
        return;
    FUZZ_REQUIRE(graph_check(&m.graph, &error));
    for (int k = 0; k < N_PROBES && m.symbols.count > 0; k++)
        require_types_at(&m, m.sizes.probes[k]);
    if (is_anew)
        forget_origins(&m);
    require_exported(&m);
    imported_model_free(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct onnx_file file;
    struct error error;
    if (!onnx_file_open(&file, fuzz_file(data, size), &error))
        return 0;
    import_and_export(&file, size % 2 == 1);
    onnx_file_close(&file);
    return 0;
}
