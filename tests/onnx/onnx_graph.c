// `onnx_graph [--shape S]... IN`: imports a model and prints its graph, then what is opaque and why. For tests and
// eyes.
#include "core/error.h"
#include "core/memory.h"
#include "core/text.h"
#include "graph/text.h"
#include "optimizer/onnx/import.h"

#include <stdio.h>
#include <string.h>

static void print_model(const struct imported_model *m)
{
    struct text text = {0};
    graph_print(&text, &m->graph);
    fputs(text.chars, stdout);
    text_free(&text);
    for (size_t i = 0; i < m->opaques.count; i++) {
        const struct onnx_node *n = m->file->model->graph->nodes.items[m->opaques.items[i].node];
        printf("opaque %zu: %s: %s\n", i, n->op_type.text, m->opaques.items[i].reason);
    }
}

static bool import_and_print(const char *path, const struct import_options *options, struct error *error)
{
    struct onnx_file file;
    struct imported_model model;
    if (!onnx_file_open(&file, path, error))
        return false;
    bool is_fine = import_model(&model, &file, options, error);
    if (is_fine) {
        is_fine = graph_check(&model.graph, error);
        print_model(&model);
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
    for (; at + 1 < argc && strcmp(argv[at], "--shape") == 0 && options.shape_count < 16; at += 2)
        shapes[options.shape_count++] = argv[at + 1];
    if (argc - at != 1) {
        fprintf(stderr, "usage: onnx_graph [--shape NAME=SIZES]... IN\n");
        return EXIT_USAGE;
    }
    if (!import_and_print(argv[at], &options, &error)) {
        error_print(stderr, "onnx_graph", &error);
        return (int)error.code;
    }
    return mem_in_use() == 0 ? EXIT_DONE : EXIT_INTERNAL;
}
