// Models whose symbols stay: imported at several bindings in lockstep, as a graph that passes every check, has types at
// each of these bindings, and is exported again; those of an odd number of bytes anew.
#include "onnx/convert/symbolic/import_symbolic.h"
#include "tests/fuzz/exported.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/graph_check.h"

static void require_types_at(const struct imported_model *m, const int64_t *binding)
{
    const struct graph *g = &m->graph;
    ARENA(arena);
    struct graph at FREED_BY(graph_free);
    graph_init(&at, &arena);
    tensor_id *tensors = arena_array(&arena, tensor_id, g->tensors.count + 1);
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        tensor_id *inputs = arena_array(&arena, tensor_id, node->n_inputs + 1);
        node_id made;
        for (uint32_t i = 0; i < node->n_inputs; i++)
            inputs[i] = tensors[graph_inputs(g, n)[i]];
        FUZZ_REQUIRE(sizes_add_node(&m->symbols.sizes, binding, &at, g, n, inputs, &made));
        for (uint32_t i = 0; i < node->n_outputs; i++)
            tensors[node->first_output + i] = graph_output_of(&at, made, i);
    }
}

static bool import(struct imported_model *m, struct onnx_file *file, size_t size, struct error *error)
{
    struct import_options options = {.fold_limit = FUZZ_FOLD_LIMIT};
    if (!import_symbolic(m, file, &options, error))
        return false;
    FUZZ_REQUIRE(graph_check(&m->graph, error));
    for (int k = 0; k < N_PROBES && m->symbols.list.count > 0; k++)
        require_types_at(m, m->symbols.sizes.probes[k]);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_import_and_export(data, size, import, size % 2 == 1);
    return 0;
}
