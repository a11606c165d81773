// A model file and everything mapped for it: open in one pass (map, parse, external data, sizes), close in one.
#include "onnx/format/model_file.h"

#include "core/memory/vec.h"
#include "core/text/error.h"
#include "onnx/format/external.h"
#include "onnx/format/foreign.h"
#include "onnx/format/model_read.h"
#include "onnx/format/tensor.h"
#include "onnx/format/visit.h"

#include <sys/mman.h>

static bool settle_tensor(struct onnx_file *file, struct onnx_tensor *t, struct error *error)
{
    return (!onnx_tensor_is_external(t) || onnx_external_map(file, t, error)) &&
           onnx_tensor_check(t, file->path, error);
}

static bool settle_tensors(struct onnx_file *file, struct error *error)
{
    LOCAL_LIST(message_list, tensors);
    onnx_list_messages(&onnx_model_descriptor, file->model, &onnx_tensor_descriptor, &tensors);
    return ALL(size_t, i, tensors.count, settle_tensor(file, tensors.items[i], error));
}

static void begin_opening(struct onnx_file *file, const char *path)
{
    *file = (struct onnx_file){0};
    file->path = arena_string(&file->arena, path);
}

static bool end_opening(struct onnx_file *file, bool is_mapped, struct error *error)
{
    bool is_open =
        is_mapped && onnx_file_is_no_other(file->path, &file->map, error) &&
        onnx_model_parse(&file->arena, file->path, file->map.bytes, file->map.size, &file->model, error) &&
        settle_tensors(file, error);
    if (is_open)
        onnx_file_forget(file, file->map.bytes, file->map.size);
    else
        onnx_file_close(file);
    return is_open;
}

bool onnx_file_open(struct onnx_file *file, const char *path, struct error *error)
{
    begin_opening(file, path);
    return end_opening(file, file_map_open(&file->map, path, error), error);
}

bool onnx_file_open_mapped(struct onnx_file *file, const char *path, const struct file_map *map, struct error *error)
{
    begin_opening(file, path);
    file->map = *map;
    return end_opening(file, true, error);
}

void onnx_file_close(struct onnx_file *file)
{
    for (size_t i = 0; i < file->externals.count; i++)
        file_map_close(&file->externals.items[i].map);
    vec_free(&file->externals);
    file_map_close(&file->map);
    arena_free(&file->arena);
    file->model = NULL;
    file->path = NULL;
}

static bool is_in_map(const struct file_map *map, const uint8_t *at)
{
    return map->bytes && at >= map->bytes && at < map->bytes + map->size;
}

static const struct file_map *map_of(const struct onnx_file *file, const uint8_t *at)
{
    if (is_in_map(&file->map, at))
        return &file->map;
    const struct onnx_external *external = vec_find(&file->externals, e, is_in_map(&e->map, at));
    return external ? &external->map : NULL;
}

#define LARGEST_PIECE ((size_t)2 << 20)   // of a file, that a touch may bring in

// Clean pages of a read-only file map: dropping them only means that they are read again when needed. So whole pieces
// go: where the system keeps a file in large ones, a touch of a name brings in megabytes of the weights about it.
void onnx_file_forget(const struct onnx_file *file, const void *bytes, size_t size)
{
    const struct file_map *map = file && size ? map_of(file, bytes) : NULL;
    if (!map)
        return;
    size_t at = (size_t)((const uint8_t *)bytes - map->bytes), rest = map->size - at;
    size_t begin = at / LARGEST_PIECE * LARGEST_PIECE, end = at + (size < rest ? size : rest);
    end = (end + LARGEST_PIECE - 1) / LARGEST_PIECE * LARGEST_PIECE;
    madvise((void *)(uintptr_t)(map->bytes + begin), (end < map->size ? end : map->size) - begin, MADV_DONTNEED);
}
