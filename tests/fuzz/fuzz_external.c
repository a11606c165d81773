// ONNX models with data in other files: only what lies in the model's folder is mapped, whatever its name, offset and
// length, and every byte of it can be read. The folder has `data`, `empty`, and `link`, which leads out of it.
#include "core/text/error.h"
#include "onnx/format/check.h"
#include "onnx/format/model_file.h"
#include "tests/fuzz/fuzz.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BYTES_OF_DATA = 4096, BYTES_OF_EACH = 7 };

static char folder[] = "/dev/shm/taso-fuzz-XXXXXX";   // where there is one: disks wait when files are cut
static char names[4][sizeof folder + 12];

static void remove_folder(void)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlink(names[i]);
    rmdir(folder);
}

static void make_folder(void)
{
    static const char *const NAMES[] = {"model.onnx", "data", "empty", "link"};
    static uint8_t data[BYTES_OF_DATA];
    memset(data, BYTES_OF_EACH, sizeof data);
    if (access("/dev/shm", W_OK) != 0)
        strcpy(folder, "/tmp/taso-fuzz-XXXXXX");
    FUZZ_REQUIRE(mkdtemp(folder));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        snprintf(names[i], sizeof names[i], "%s/%s", folder, NAMES[i]);
    fuzz_put_file(names[1], data, sizeof data);
    fuzz_put_file(names[2], data, 0);
    FUZZ_REQUIRE(symlink("/proc/self/exe", names[3]) == 0);
    atexit(remove_folder);
}

static void require_inside(const struct onnx_file *file)
{
    for (size_t i = 0; i < file->externals.count; i++) {
        const struct file_map *map = &file->externals.items[i].map;
        const char *path = file->externals.items[i].path;
        FUZZ_REQUIRE(strncmp(path, folder, strlen(folder)) == 0);
        if (strcmp(path, names[1]) == 0)
            for (size_t k = 0; k < map->size; k++)
                FUZZ_REQUIRE(map->bytes[k] == BYTES_OF_EACH);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct onnx_file file;
    struct error error = {0};
    if (!names[0][0])
        make_folder();
    fuzz_put_file(names[0], data, size);
    if (!onnx_file_open(&file, names[0], &error)) {
        FUZZ_REQUIRE(error.message[0]);
        return 0;
    }
    require_inside(&file);
    if (!onnx_model_check(file.model, "fuzz", &error))
        FUZZ_REQUIRE(error.message[0]);
    onnx_file_close(&file);
    return 0;
}
