// `onnx_copy [--limit BYTES] [--decode] IN OUT [IN OUT]...`: reads each model, checks it and writes it again untouched;
// with --decode, every tensor's elements are written to stdout. The test scripts drive it.
#include "onnx/format/check.h"
#include "onnx/format/model_file.h"
#include "onnx/format/model_save.h"
#include "onnx/format/tensor.h"
#include "tests/onnx/each_model.h"

#include <stdlib.h>
#include <string.h>

// "name type size first-64-bytes-hash": one line per tensor that can be decoded.
static bool print_tensor(struct onnx_file *file, const struct onnx_tensor *t, struct error *error)
{
    struct onnx_bytes bytes;
    if (onnx_type_bits(t->data_type) == 0)
        return true;
    if (!onnx_tensor_decode(t, &file->arena, file->path, &bytes, error))
        return false;
    printf("%s %s ", t->name.text ? t->name.text : "", onnx_type_name(t->data_type));
    for (size_t i = 0; i < bytes.size; i++)
        printf("%02x", bytes.at[i]);
    putchar('\n');
    return true;
}

static bool print_tensors(struct onnx_file *file, struct error *error)
{
    LOCAL_LIST(message_list, tensors);
    onnx_list_messages(&onnx_model_descriptor, file->model, &onnx_tensor_descriptor, &tensors);
    return ALL(size_t, i, tensors.count, print_tensor(file, tensors.items[i], error));
}

struct copying {
    size_t limit;
    bool decodes;
};

static bool copy_model(const void *how, const char *from, const char *to, struct error *error)
{
    const struct copying *c = how;
    struct onnx_file file;
    if (!onnx_file_open(&file, from, error))
        return false;
    bool is_fine = onnx_model_check(file.model, from, error) && (!c->decodes || print_tensors(&file, error)) &&
                   onnx_model_write(file.model, &file, to, c->limit, NULL, error);
    onnx_file_close(&file);
    if (is_fine)
        fprintf(stderr, "peak %zu bytes resident, %zu left\n", mem_peak_resident(), mem_in_use());
    return is_fine;
}

int main(int argc, char **argv)
{
    struct copying how = {0};
    int at = 1;
    for (; at < argc && argv[at][0] == '-'; at++)
        if (strcmp(argv[at], "--decode") == 0)
            how.decodes = true;
        else if (strcmp(argv[at], "--limit") == 0 && at + 1 < argc)
            how.limit = strtoull(argv[++at], NULL, 10);
    if (argc - at < 2 || (argc - at) % 2) {
        fprintf(stderr, "usage: onnx_copy [--limit BYTES] [--decode] IN OUT [IN OUT]...\n");
        return EXIT_USAGE;
    }
    return each_model("onnx_copy", argv + at, copy_model, &how);
}
