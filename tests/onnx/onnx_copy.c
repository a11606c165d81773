// `onnx_copy [--limit BYTES] [--decode] IN OUT`: reads a model, checks it and writes it again untouched; with --decode,
// every tensor's elements are written to stdout instead of a table of sizes. The test scripts drive it.
#include "core/memory/memory.h"
#include "core/text/error.h"
#include "onnx/format/model.h"
#include "onnx/format/tensor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dump {
    struct onnx_file *file;
    struct error *error;
};

// "name type size first-64-bytes-hash": one line per tensor that can be decoded.
static bool print_tensor(void *context, void *message)
{
    struct dump *dump = context;
    const struct onnx_tensor *t = message;
    struct onnx_bytes bytes;
    if (onnx_type_bits(t->data_type) == 0)
        return true;
    if (!onnx_tensor_decode(t, &dump->file->arena, dump->file->path, &bytes, dump->error))
        return false;
    printf("%s %s ", t->name.text ? t->name.text : "", onnx_type_name(t->data_type));
    for (size_t i = 0; i < bytes.size; i++)
        printf("%02x", bytes.at[i]);
    putchar('\n');
    return true;
}

static bool copy_model(const char *from, const char *to, size_t limit, bool decodes, struct error *error)
{
    struct onnx_file file;
    struct dump dump = {&file, error};
    if (!onnx_file_open(&file, from, error))
        return false;
    bool is_fine = onnx_model_check(file.model, from, error) &&
                   (!decodes || onnx_message_visit(&onnx_model_descriptor, file.model, &onnx_tensor_descriptor,
                                                   print_tensor, &dump)) &&
                   onnx_model_write(file.model, &file, to, limit, error);
    onnx_file_close(&file);
    return is_fine;
}

int main(int argc, char **argv)
{
    struct error error = {0};
    size_t limit = 0;
    bool decodes = false;
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++)
        if (strcmp(argv[at], "--decode") == 0)
            decodes = true;
        else if (strcmp(argv[at], "--limit") == 0 && at + 1 < argc)
            limit = strtoull(argv[++at], NULL, 10);
    if (argc - at != 2) {
        fprintf(stderr, "usage: onnx_copy [--limit BYTES] [--decode] IN OUT\n");
        return EXIT_USAGE;
    }
    if (!copy_model(argv[at], argv[at + 1], limit, decodes, &error)) {
        error_print(stderr, "onnx_copy", &error);
        return (int)error.code;
    }
    fprintf(stderr, "peak %zu bytes resident, %zu left\n", mem_peak_resident(), mem_in_use());
    return mem_in_use() == 0 ? EXIT_DONE : EXIT_INTERNAL;
}
