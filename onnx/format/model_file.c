// A model file and everything mapped for it: open in one pass (map, parse, external data, sizes), close in one.
#include "onnx/format/model_file.h"

#include "core/memory/vec.h"
#include "core/text/error.h"
#include "onnx/format/foreign.h"
#include "onnx/format/model_read.h"
#include "onnx/format/tensor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

// ---- external data ----
// A model is data from strangers: it may name only files that lie in its own folder. The name is judged twice, as text
// (absolute, or more ".." than folders before them) and after every symbolic link is followed.

static const struct onnx_string *find_value(const struct onnx_tensor *t, const char *key)
{
    const struct onnx_entry *entry = ONNX_FIND(struct onnx_entry, e, &t->external_data, onnx_string_is(&e->key, key));
    return entry ? &entry->value : NULL;
}

// Two values of a key: some runtimes take the first one, and others the last.
static bool is_said_twice(const struct onnx_tensor *t, const char *key)
{
    return COUNT(size_t, i, t->external_data.count,
                 onnx_string_is(&((const struct onnx_entry *)t->external_data.items[i])->key, key)) > 1;
}

static bool leaves_folder(const char *location)
{
    int depth = 0;
    if (location[0] == '/')
        return true;
    while (*location) {
        size_t length = strcspn(location, "/");
        if (length == 2 && memcmp(location, "..", 2) == 0)
            depth--;
        else if (length > 0 && !(length == 1 && location[0] == '.'))
            depth++;
        if (depth < 0)
            return true;
        location += length + (location[length] == '/');
    }
    return false;
}

static char *folder_of(struct onnx_file *file)
{
    const char *slash = strrchr(file->path, '/');
    if (!slash)
        return arena_string(&file->arena, ".");
    return arena_string_n(&file->arena, file->path, slash == file->path ? 1 : (size_t)(slash - file->path));
}

static bool is_inside(const char *folder, const char *path)
{
    size_t length = strlen(folder);
    return strcmp(folder, "/") == 0 || (strncmp(path, folder, length) == 0 && path[length] == '/');
}

static bool resolve(struct onnx_file *file, const struct onnx_tensor *t, const char *location, char **ret_path,
                    struct error *error)
{
    const char *folder = folder_of(file);
    char *joined = arena_printf(&file->arena, "%s/%s", folder, location);
    char *real_folder = realpath(folder, NULL), *real_path = realpath(joined, NULL);
    bool is_fine = true;
    if (!real_folder || !real_path)
        is_fine = error_set(error, file->path, 0, 0, "tensor %s: external data \"%s\": %s", onnx_tensor_label(t),
                            location, strerror(errno));
    else if (!is_inside(real_folder, real_path))
        is_fine = error_set(error, file->path, 0, 0, "tensor %s: external data \"%s\" lies outside the model's folder",
                            onnx_tensor_label(t), location);
    else
        *ret_path = arena_string(&file->arena, real_path);
    free(real_folder);
    free(real_path);
    return is_fine;
}

static bool map_location(struct onnx_file *file, const struct onnx_tensor *t, const char *location,
                         const struct file_map **ret_map, struct error *error)
{
    struct onnx_external external = {0};
    char *path = NULL;
    for (size_t i = 0; i < file->externals.count; i++)
        if (strcmp(file->externals.items[i].location, location) == 0) {
            *ret_map = &file->externals.items[i].map;
            return true;
        }
    if (leaves_folder(location))
        return error_set(error, file->path, 0, 0, "tensor %s: external data \"%s\" lies outside the model's folder",
                         onnx_tensor_label(t), location);
    if (!resolve(file, t, location, &path, error) || !file_map_open(&external.map, path, error))
        return false;
    external.path = path;
    external.location = arena_string(&file->arena, location);
    vec_push(&file->externals, external);
    *ret_map = &vec_last(&file->externals).map;
    return true;
}

// A decimal number of external_data; `fallback` when the key is absent.
static bool read_number(const struct onnx_file *file, const struct onnx_tensor *t, const char *key, uint64_t fallback,
                        uint64_t *ret_value, struct error *error)
{
    const struct onnx_string *s = find_value(t, key);
    uint64_t value = 0;
    *ret_value = fallback;
    if (!s || s->size == 0)
        return true;
    for (size_t i = 0; i < s->size; i++) {
        unsigned digit = (unsigned)(unsigned char)s->text[i] - '0';
        if (digit > 9 || __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, digit, &value))
            return error_set(error, file->path, 0, 0, "tensor %s: external data: \"%s\" is no valid %s",
                             onnx_tensor_label(t), s->text, key);
    }
    *ret_value = value;
    return true;
}

// Maps the file that `t` names (once per file) and sets t->external. The file must be a regular one, and must hold all
// of the bytes named.
static bool map_external(struct onnx_file *file, struct onnx_tensor *t, struct error *error)
{
    const struct onnx_string *location = find_value(t, "location");
    const struct file_map *map = NULL;
    uint64_t offset, length;
    size_t wanted = 0;
    if (is_said_twice(t, "location") || is_said_twice(t, "offset") || is_said_twice(t, "length"))
        return error_set(error, file->path, 0, 0, "tensor %s: external data that lies at two places",
                         onnx_tensor_label(t));
    if (!location || location->size == 0 || strlen(location->text) != location->size)
        return error_set(error, file->path, 0, 0, "tensor %s: external data without a valid location",
                         onnx_tensor_label(t));
    if (!onnx_tensor_size(t, &wanted))
        return error_set(error, file->path, 0, 0, "tensor %s: its dimensions are negative or too large",
                         onnx_tensor_label(t));
    if (!read_number(file, t, "offset", 0, &offset, error) || !read_number(file, t, "length", wanted, &length, error) ||
        !map_location(file, t, location->text, &map, error))
        return false;
    if (offset > map->size || length > map->size - offset)
        return error_set(
            error, file->path, 0, 0, "tensor %s: external data \"%s\" has %zu bytes, too few for %llu at offset %llu",
            onnx_tensor_label(t), location->text, map->size, (unsigned long long)length, (unsigned long long)offset);
    static const uint8_t nothing[1];
    t->external = (struct onnx_bytes){length ? map->bytes + offset : nothing, (size_t)length};
    return true;
}

// ---- the whole ----

static bool settle_tensor(struct onnx_file *file, struct onnx_tensor *t, struct error *error)
{
    return (!onnx_tensor_is_external(t) || map_external(file, t, error)) && onnx_tensor_check(t, file->path, error);
}

static bool settle_tensors(struct onnx_file *file, struct error *error)
{
    LOCAL_LIST(message_list, tensors);
    onnx_list_messages(&onnx_model_descriptor, file->model, &onnx_tensor_descriptor, &tensors);
    return ALL(size_t, i, tensors.count, settle_tensor(file, tensors.items[i], error));
}

bool onnx_file_open_mapped(struct onnx_file *file, const char *path, const struct file_map *map, struct error *error)
{
    *file = (struct onnx_file){.map = *map};
    file->path = arena_string(&file->arena, path);
    bool is_open = onnx_file_is_no_other(file->path, &file->map, error) &&
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
    struct file_map map;
    *file = (struct onnx_file){0};
    return file_map_open(&map, path, error) && onnx_file_open_mapped(file, path, &map, error);
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
