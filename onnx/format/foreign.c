// A table of first bytes. A model of ONNX begins with the tag of one of its fields, mostly 08 (ir_version).
#include "onnx/format/foreign.h"

#include "core/memory/memory.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include <string.h>

#define EXPORT_IT "export the model to ONNX (torch.onnx.export, tf2onnx, optimum-cli)"

static const struct foreign_kind {
    size_t at;
    const char *bytes;
    size_t size;
    const char *reason;
} kinds[] = {
    {0, "\x1f\x8b", 2, "is a gzip file; unpack it first (gunzip)"},
    {0, "PK\3\4", 4, "is a zip file; unpack it first, or, if it is a model of PyTorch (.pt, .pth), " EXPORT_IT},
    {0, "BZh", 3, "is a bzip2 file; unpack it first (bunzip2)"},
    {0,
     "\xfd"
     "7zXZ",
     5, "is an xz file; unpack it first (unxz)"},
    {0, "\x28\xb5\x2f\xfd", 4, "is a zstd file; unpack it first (unzstd)"},
    {0, "GGUF", 4, "is a GGUF file, which has weights and no graph; " EXPORT_IT},
    {1, "\0\0\0TFL3", 7, "is a model of TensorFlow Lite; " EXPORT_IT},
    {0, "\x89HDF\r\n", 6, "is an HDF5 file, as Keras writes; " EXPORT_IT},
    {0, "\x80\2}", 3, "is a pickle, as PyTorch writes; " EXPORT_IT},
    {0, "version https://git-lfs", 23, "is a pointer of Git LFS, not the model; fetch it first (git lfs pull)"},
    {0, "<!DOCTYPE", 9, "is a page of HTML, not a model; was the download refused?"},
    {0, "<html", 5, "is a page of HTML, not a model; was the download refused?"},
};

static bool begins_as(const struct file_map *map, const struct foreign_kind *kind)
{
    return map->size >= kind->at + kind->size && memcmp(map->bytes + kind->at, kind->bytes, kind->size) == 0;
}

// Eight bytes of the length of a header, and that in JSON.
static bool is_safetensors(const struct file_map *map)
{
    uint64_t length = 0;
    if (map->size < 10)
        return false;
    for (int i = 7; i >= 0; i--)
        length = length << 8 | map->bytes[i];
    return length >= 2 && length <= map->size - 8 && memcmp(map->bytes + 8, "{\"", 2) == 0;
}

bool onnx_file_is_no_other(const char *path, const struct file_map *map, struct error *error)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (begins_as(map, &kinds[i]))
            return error_set(error, path, 0, 0, "%s", kinds[i].reason);
    return !is_safetensors(map) ||
           error_set(error, path, 0, 0, "is a safetensors file, which has weights and no graph; " EXPORT_IT);
}

bool onnx_file_may_be_model(const char *path, struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    return file_map_open(&map, path, error) && onnx_file_is_no_other(path, &map, error);
}
