// Machine code by the text that it was made from: in memory for this device, and in the user's cache folder for all
// times. A file in the folder is named by a hash and holds what was compiled:
//     taso kernel 1 ARCHITECTURE TEXT-BYTES CODE-BYTES versions \n text code
// so that a collision, or another compiler, costs a compilation and nothing else.
#include "backends/cuda/kernel_cache.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include "core/memory/key_set.h"
#include "core/system/cores.h"
#include "core/system/file.h"
#include "core/system/interrupt.h"
#include "core/system/thread_pool.h"
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
    VEC(struct gpu_kernel *) kernels;                     // NULL: not yet, or it cannot be had
    VEC(uint32_t) expected;                               // texts, in the order in which they were noted,
    size_t n_taken;                                       // the first of which were compiled, or tried
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
        if (cache->kernels.items[i])
            cache->api->unload(cache->gpu, cache->kernels.items[i]);
    vecs_free(cache, kernels, expected);
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

// --- compiling -------------------------------------------------------------------------------------------------------

#define TEXTS_OF_A_CORE 4   // that are compiled at once: an interruption waits for these

struct compiled {
    const struct kernel_cache *cache;
    uint32_t id;
    const char *text;
    bool is_done;
    void *code;
    size_t size;
    char reason[GPU_REASON_SIZE];
};
typedef VEC(struct compiled) batch;

static void compile(void *context, size_t item, size_t member)
{
    struct compiled *c = &((struct compiled *)context)[item];
    c->is_done = c->cache->api->compile(c->text, c->cache->architecture, &c->code, &c->size, c->reason);
}

// Kernels are loaded in the order in which they were asked for, whoever was compiled first.
static void load_compiled(struct kernel_cache *cache, struct compiled *c)
{
    if (!c->is_done)
        return;
    cache->kernels.items[c->id] = cache->api->load(cache->gpu, c->code, c->size, c->reason);
    if (cache->kernels.items[c->id])
        save_file(cache, c->text, c->code, c->size);
    cache->api->free_code(c->code);
}

static void compile_all(struct kernel_cache *cache, batch *list)
{
    size_t n_cores = (size_t)cores_available();
    struct thread_pool *pool = thread_pool_new(n_cores < list->count ? n_cores : list->count);
    thread_pool_share(pool, list->count, compile, list->items);
    thread_pool_free(pool);
    for (size_t i = 0; i < list->count; i++)
        load_compiled(cache, &list->items[i]);
}

// --- finding ---------------------------------------------------------------------------------------------------------

static uint32_t note(struct kernel_cache *cache, const char *text)
{
    size_t count = cache->texts.keys.count;
    uint32_t id = key_set_add(&cache->texts, &cache->arena, text, strlen(text) + 1);
    if (id == count)
        vec_push(&cache->kernels, NULL);
    return id;
}

// Unless it is there, or in the folder.
static void add_to_batch(struct kernel_cache *cache, uint32_t id, batch *list)
{
    const char *text = cache->texts.keys.items[id].bytes;
    if (vec_find(list, x, x->id == id))
        return;
    if (!cache->kernels.items[id])
        cache->kernels.items[id] = load_file(cache, text);
    if (!cache->kernels.items[id])
        vec_push(list, ((struct compiled){.cache = cache, .id = id, .text = text}));
}

static void add_expected(struct kernel_cache *cache, batch *list)
{
    size_t most = TEXTS_OF_A_CORE * (size_t)cores_available();
    while (list->count < most && cache->n_taken < cache->expected.count)
        add_to_batch(cache, cache->expected.items[cache->n_taken++], list);
}

void kernel_cache_expect(struct kernel_cache *cache, const char *text)
{
    size_t count = cache->texts.keys.count;
    uint32_t id = note(cache, text);
    if (id == count)
        vec_push(&cache->expected, id);
}

void kernel_cache_make_expected(struct kernel_cache *cache)
{
    while (cache->n_taken < cache->expected.count && !interrupt_requested()) {
        LOCAL_LIST(batch, list);
        add_expected(cache, &list);
        compile_all(cache, &list);
    }
}

struct gpu_kernel *kernel_cache_find(struct kernel_cache *cache, const char *text, struct error *error)
{
    uint32_t id = note(cache, text);
    LOCAL_LIST(batch, list);
    if (!cache->kernels.items[id])
        add_to_batch(cache, id, &list);
    if (list.count) {
        add_expected(cache, &list);
        compile_all(cache, &list);
        if (!cache->kernels.items[id])
            error_set_code(error, EXIT_INTERNAL, NULL, "a kernel %s: %s",
                           list.items[0].is_done ? "cannot be loaded" : "does not compile", list.items[0].reason);
    }
    return cache->kernels.items[id];
}
