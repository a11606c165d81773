// `onnx_graph [--shape S]... [--values FILE] [--most N] IN`: imports a model and prints its graph, then what is opaque
// and why. FILE gets the values of weights of at most N entries (16), which decide what the graph computes (exponents,
// epsilons, indices): a line for each, its number and its entries. For tests and eyes.
#include "core/text/text.h"
#include "expressions/elements.h"
#include "graph/text.h"
#include "tests/onnx/with_model.h"
#include "tests/support/graph_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_model(const struct imported_model *m)
{
    TEXT(text);
    graph_print(&text, &m->graph);
    fputs(text.chars, stdout);
    for (size_t i = 0; i < m->opaques.count; i++) {
        const struct onnx_node *n = m->file->model->graph->nodes.items[m->opaques.items[i].node];
        printf("opaque %zu: %s: %s\n", i, n->op_type.text, m->opaques.items[i].reason);
    }
}

struct values {
    const char *path;   // NULL: not wanted
    int64_t most;
};

static bool write_value(struct imported_model *m, const struct node *n, FILE *out, struct error *error)
{
    const struct type *type = graph_type(&m->graph, n->first_output);
    size_t count = (size_t)type_elements(type);
    const void *data;
    if (!imported_weight_data(m, (size_t)n->attributes[0].ints[0], &data, error))
        return false;
    LOCAL_ARRAY(double, entries, count + 1);
    elements_to_reals(type->dtype, data, count, entries);
    fprintf(out, "%lld", (long long)n->attributes[0].ints[0]);
    for (size_t i = 0; i < count; i++)
        fprintf(out, " %.17g", entries[i]);
    fputc('\n', out);
    return true;
}

static bool write_values(struct imported_model *m, const struct values *values, FILE *out, struct error *error)
{
    for (node_id id = 0; id < m->graph.nodes.count; id++) {
        const struct node *n = &m->graph.nodes.items[id];
        const struct type *type = n->n_outputs ? graph_type(&m->graph, n->first_output) : NULL;
        if (n->op == operators[OP_WEIGHT] && type_elements(type) <= values->most && dtype_has_numbers(type->dtype) &&
            !write_value(m, n, out, error))
            return false;
    }
    return true;
}

static bool write_values_to_file(struct imported_model *m, const struct values *values, struct error *error)
{
    FILE *out = fopen(values->path, "w");
    bool is_written = out && write_values(m, values, out, error);
    if (!out)
        error_set_code(error, EXIT_INTERNAL, values->path, "cannot be written");
    if (out)
        fclose(out);
    return is_written;
}

static bool check_and_print(struct imported_model *m, void *context, struct error *error)
{
    const struct values *values = context;
    bool is_fine = graph_check(&m->graph, error) && (!values->path || write_values_to_file(m, values, error));
    print_model(m);
    return is_fine;
}

int main(int argc, char **argv)
{
    const char *shapes[16];
    struct import_options options = {.shapes = shapes, .fold_limit = IMPORT_FOLD_LIMIT};
    struct error error = {0};
    struct values values = {.most = 16};
    int at = 1;
    for (; at + 1 < argc && strcmp(argv[at], "--shape") == 0 && options.shape_count < 16; at += 2)
        shapes[options.shape_count++] = argv[at + 1];
    if (at + 1 < argc && strcmp(argv[at], "--values") == 0) {
        values.path = argv[at + 1];
        at += 2;
    }
    if (at + 1 < argc && strcmp(argv[at], "--most") == 0) {
        values.most = strtoll(argv[at + 1], NULL, 10);
        at += 2;
    }
    if (argc - at != 1) {
        fprintf(stderr, "usage: onnx_graph [--shape NAME=SIZES]... [--values FILE] [--most N] IN\n");
        return EXIT_USAGE;
    }
    if (!with_model(argv[at], &options, check_and_print, &values, &error)) {
        error_exit("onnx_graph", &error);
        return (int)error.code;
    }
    return mem_in_use() == 0 ? EXIT_DONE : EXIT_INTERNAL;
}
