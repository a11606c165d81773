// Machine code by the text that it was made from: in memory for this device, and in the user's cache folder for all
// times. A file in the folder is named by a hash and holds what was compiled:
//     taso kernel 1 ARCHITECTURE TEXT-BYTES CODE-BYTES versions \n text code
// so that a collision, or another compiler, costs a compilation and nothing else.
#include "backends/cuda/kernel_cache.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/key_set.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct kernel_cache {
    const struct gpu_api *api;
    struct gpu *gpu;
    struct arena arena;
    struct key_set texts;
    VEC(struct gpu_kernel *) kernels;
    char architecture[16], versions[256], folder[4096];   // folder empty: none
};

struct kernel_cache *kernel_cache_new(const struct gpu_api *api, struct gpu *gpu, const char *architecture)
{
    struct kernel_cache *cache = mem_alloc_zero(sizeof *cache);
    char folder[4000];
    cache->api = api;
    cache->gpu = gpu;
    snprintf(cache->architecture, sizeof cache->architecture, "%s", architecture);
    api->describe(cache->versions, sizeof cache->versions);
    if (file_cache_folder(folder, sizeof folder)) {
        snprintf(cache->folder, sizeof cache->folder, "%s/kernels", folder);
        mkdir(cache->folder, 0777);
    }
    return cache;
}

void kernel_cache_free(struct kernel_cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < cache->kernels.count; i++)
        cache->api->unload(cache->gpu, cache->kernels.items[i]);
    vec_free(&cache->kernels);
    key_set_free(&cache->texts);
    arena_free(&cache->arena);
    mem_free(cache, sizeof *cache);
}

// --- files -----------------------------------------------------------------------------------------------------------

static void head_of_file(const struct kernel_cache *cache, const char *text, size_t code_size, char *ret_head,
                         size_t size)
{
    snprintf(ret_head, size, "taso kernel 1 %s %zu %zu %s\n", cache->architecture, strlen(text), code_size,
             cache->versions);
}

static bool name_file(const struct kernel_cache *cache, const char *text, char *ret_path, size_t size)
{
    struct hash128 hash =
        hash_bytes_128(text, strlen(text), hash_mix(hash_string(cache->architecture), hash_string(cache->versions)));
    int n = snprintf(ret_path, size, "%s/%016" PRIx64 "%016" PRIx64, cache->folder, hash.high, hash.low);
    return cache->folder[0] && n > 0 && (size_t)n < size;
}

static const void *find_code(const struct kernel_cache *cache, const struct file_map *map, const char *text,
                             size_t *ret_size)
{
    char head[512];
    size_t length = strlen(text);
    const char *bytes = (const char *)map->bytes, *end = map->size ? memchr(bytes, '\n', map->size) : NULL;
    size_t n = end ? (size_t)(end + 1 - bytes) : 0;
    if (!n || map->size < n + length)
        return NULL;
    head_of_file(cache, text, map->size - n - length, head, sizeof head);
    if (strlen(head) != n || memcmp(head, bytes, n) != 0 || memcmp(bytes + n, text, length) != 0)
        return NULL;
    *ret_size = map->size - n - length;
    return bytes + n + length;
}

static struct gpu_kernel *load_file(struct kernel_cache *cache, const char *text)
{
    char path[4200], reason[GPU_REASON_SIZE];
    struct file_map map;
    struct error ignored;
    struct gpu_kernel *kernel = NULL;
    size_t size = 0;
    if (!name_file(cache, text, path, sizeof path) || access(path, R_OK) != 0 || !file_map_open(&map, path, &ignored))
        return NULL;
    const void *code = find_code(cache, &map, text, &size);
    if (code)
        kernel = cache->api->load(cache->gpu, code, size, reason);
    file_map_close(&map);
    return kernel;
}

static void save_file(const struct kernel_cache *cache, const char *text, const void *code, size_t size)
{
    char path[4200], head[512];
    struct file_writer writer;
    struct error ignored;
    if (!name_file(cache, text, path, sizeof path) || !file_writer_open(&writer, path, &ignored))
        return;
    head_of_file(cache, text, size, head, sizeof head);
    file_write(&writer, head, strlen(head));
    file_write(&writer, text, strlen(text));
    file_write(&writer, code, size);
    file_writer_commit(&writer, &ignored);
}

// --- finding ---------------------------------------------------------------------------------------------------------

static struct gpu_kernel *compile(struct kernel_cache *cache, const char *text, struct error *error)
{
    char reason[GPU_REASON_SIZE] = "";
    void *code;
    size_t size;
    if (!cache->api->compile(text, cache->architecture, &code, &size, reason)) {
        error_set_code(error, EXIT_INTERNAL, NULL, "a kernel does not compile: %s", reason);
        return NULL;
    }
    struct gpu_kernel *kernel = cache->api->load(cache->gpu, code, size, reason);
    if (kernel)
        save_file(cache, text, code, size);
    else
        error_set_code(error, EXIT_INTERNAL, NULL, "a kernel cannot be loaded: %s", reason);
    cache->api->free_code(code);
    return kernel;
}

struct gpu_kernel *kernel_cache_find(struct kernel_cache *cache, const char *text, struct error *error)
{
    uint32_t id = key_set_find(&cache->texts, text, strlen(text));
    if (id != KEY_NONE)
        return cache->kernels.items[id];
    struct gpu_kernel *kernel = load_file(cache, text);
    if (!kernel)
        kernel = compile(cache, text, error);
    if (!kernel)
        return NULL;
    key_set_add(&cache->texts, &cache->arena, text, strlen(text));
    vec_push(&cache->kernels, kernel);
    return kernel;
}
