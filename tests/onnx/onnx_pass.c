// `onnx_pass [--anew] [--shape S]... IN OUT`: imports a model and exports the graph as it is: what remains of a model
// that no rewrite touches. With --anew no node is kept: everything is written as a rewrite would. The counts go to
// stderr. The test scripts drive it.
#include "core/memory/memory.h"
#include "core/text/error.h"
#include "onnx/convert/export/export.h"
#include "tests/support/graph_check.h"

#include <stdio.h>
#include <string.h>

static bool export_and_write(struct imported_model *m, const char *to, struct error *error)
{
    struct onnx_model *result;
    struct export_counts counts;
    struct graph copy;
    graph_copy(&copy, &m->graph);
    bool is_fine = graph_check(&copy, error) && export_model(m, &copy, &result, &counts, error) &&
                   onnx_model_check(result, to, error) && onnx_model_write(result, m->file, to, 0, error);
    graph_free(&copy);
    if (is_fine)
        fprintf(stderr, "%zu nodes kept, %zu made, %zu constants computed, %zu opaque, %zu unbound\n", counts.kept,
                counts.made, counts.computed, m->opaques.count, m->n_unbound);
    return is_fine;
}

static void forget_origins(struct imported_model *m)
{
    for (size_t i = 0; i < m->origins.count; i++)
        m->origins.items[i].node = NO_ORIGIN;
}

static bool pass_through(const char *from, const char *to, const struct import_options *options, bool is_anew,
                         struct error *error)
{
    struct onnx_file file;
    struct imported_model model;
    if (!onnx_file_open(&file, from, error))
        return false;
    bool is_fine = import_model(&model, &file, options, error);
    if (is_fine) {
        if (is_anew)
            forget_origins(&model);
        is_fine = export_and_write(&model, to, error);
        imported_model_free(&model);
    }
    onnx_file_close(&file);
    return is_fine;
}

int main(int argc, char **argv)
{
    const char *shapes[16];
    struct import_options options = {.shapes = shapes, .fold_limit = IMPORT_FOLD_LIMIT};
    struct error error = {0};
    int at = 1;
    bool is_anew = argc > 1 && strcmp(argv[1], "--anew") == 0;
    for (at += is_anew; at + 1 < argc && strcmp(argv[at], "--shape") == 0 && options.shape_count < 16; at += 2)
        shapes[options.shape_count++] = argv[at + 1];
    if (argc - at != 2) {
        fprintf(stderr, "usage: onnx_pass [--anew] [--shape NAME=SIZES]... IN OUT\n");
        return EXIT_USAGE;
    }
    if (!pass_through(argv[at], argv[at + 1], &options, is_anew, &error)) {
        error_print(stderr, "onnx_pass", &error);
        return (int)error.code;
    }
    return mem_in_use() == 0 ? EXIT_DONE : EXIT_INTERNAL;
}
