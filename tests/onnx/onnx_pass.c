// `onnx_pass [--anew] [--shape S]... IN OUT [IN OUT]...`: imports each model and exports the graph as it is: what remains
// of a model that no rewrite touches. With --anew no node is kept: everything is written as a rewrite would. The counts go
// to stderr. The test scripts drive it.
#include "onnx/convert/export/export.h"
#include "onnx/format/check.h"
#include "onnx/format/model_save.h"
#include "tests/onnx/each_model.h"
#include "tests/onnx/forget_origins.h"
#include "tests/onnx/with_model.h"
#include "tests/support/graph_check.h"

#include <string.h>

struct passing {
    struct import_options import;
    bool is_anew;
    const char *to;
};

static bool export_and_write(struct imported_model *m, void *context, struct error *error)
{
    const struct passing *p = context;
    const char *to = p->to;
    struct onnx_model *result;
    struct exported_types types;
    struct onnx_reader reader = {exported_types_are_read_back, &types};
    struct graph copy FREED_BY(graph_free);
    if (p->is_anew)
        forget_origins(m);
    graph_copy(&copy, &m->graph);
    bool is_fine = graph_check(&copy, error) && export_model(m, &copy, &result, &types, error) &&
                   onnx_model_check(result, to, error) && onnx_model_write(result, m->file, to, 0, &reader, error);
    if (is_fine)
        fprintf(stderr, "%zu nodes, %zu opaque, %zu unbound\n", result->graph->nodes.count, m->opaques.count,
                m->symbols.n_unbound);
    return is_fine;
}

static bool pass_through(const void *how, const char *from, const char *to, struct error *error)
{
    struct passing p = *(const struct passing *)how;
    p.to = to;
    return with_model(from, &p.import, export_and_write, &p, error);
}

int main(int argc, char **argv)
{
    const char *shapes[16];
    struct passing how = {.import = {.shapes = shapes, .fold_limit = IMPORT_FOLD_LIMIT}};
    int at = 1;
    how.is_anew = argc > 1 && strcmp(argv[1], "--anew") == 0;
    for (at += how.is_anew; at + 1 < argc && strcmp(argv[at], "--shape") == 0 && how.import.shape_count < 16; at += 2)
        shapes[how.import.shape_count++] = argv[at + 1];
    if (argc - at < 2 || (argc - at) % 2) {
        fprintf(stderr, "usage: onnx_pass [--anew] [--shape NAME=SIZES]... IN OUT [IN OUT]...\n");
        return EXIT_USAGE;
    }
    return each_model("onnx_pass", argv + at, pass_through, &how);
}
