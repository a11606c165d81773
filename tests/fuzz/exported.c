// Models are written to a file of this process in memory, where there is one.
#include "tests/fuzz/exported.h"

#include "core/text/error.h"
#include "tests/fuzz/fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char path[64];

static void remove_file(void)
{
    unlink(path);
}

static const char *path_of_output(void)
{
    if (!path[0]) {
        snprintf(path, sizeof path, "%s/taso-fuzz-%ld.onnx", access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp",
                 (long)getpid());
        atexit(remove_file);
    }
    return path;
}

static void require_readable(const char *written)
{
    struct onnx_file file;
    struct error error;
    FUZZ_REQUIRE(onnx_file_open(&file, written, &error));
    FUZZ_REQUIRE(onnx_model_check(file.model, written, &error));
    onnx_file_close(&file);
}

void forget_origins(struct imported_model *m)
{
    for (size_t i = 0; i < m->origins.count; i++)
        m->origins.items[i].node = NO_ORIGIN;
}

void require_exported(struct imported_model *m)
{
    struct export_counts counts = {0};
    struct onnx_model *exported;
    struct error error = {0};
    if (!export_model(m, &m->graph, &exported, &counts, &error)) {
        FUZZ_REQUIRE(error.message[0]);
        return;
    }
    FUZZ_REQUIRE(onnx_model_check(exported, "exported", &error));
    if (onnx_model_write(exported, m->file, path_of_output(), 0, &error))
        require_readable(path_of_output());
    else
        FUZZ_REQUIRE(error.message[0]);
}
