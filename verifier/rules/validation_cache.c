// A file of hashes in the cache folder, written whole.
#include "verifier/rules/validation_cache.h"

#include "core/memory/hash.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool cache_path(char *ret_path, size_t size)
{
    char folder[4096];
    if (!file_cache_folder(folder, sizeof folder))
        return false;
    return snprintf(ret_path, size, "%s/properties", folder) < (int)size;
}

static uint64_t hash_of_this_program(void)
{
    struct file_map map;
    struct error error;
    if (!file_map_open(&map, "/proc/self/exe", &error))
        return 0;
    uint64_t hash = hash_bytes(map.bytes, map.size, 0);
    file_map_close(&map);
    return hash;
}

static bool is_content(const void *owner, uint32_t id, const void *key)
{
    return ((const struct known_results *)owner)->contents.items[id] == *(const uint64_t *)key;
}

bool known_has(const struct known_results *k, uint64_t content)
{
    return table_find(&k->by_content, content, is_content, k, &content) != TABLE_NONE;
}

void known_add(struct known_results *k, uint64_t content)
{
    if (known_has(k, content))
        return;
    vec_push(&k->contents, content);
    table_insert(&k->by_content, content, (uint32_t)k->contents.count - 1);
}

void known_load(struct known_results *k)
{
    char path[8192], line[64];
    uint64_t program, content;
    *k = (struct known_results){.program = hash_of_this_program()};
    FILE *in = k->program && cache_path(path, sizeof path) ? fopen(path, "r") : NULL;
    if (!in)
        return;
    bool is_mine = fgets(line, sizeof line, in) && sscanf(line, "program %" SCNx64, &program) == 1;
    while (is_mine && program == k->program && fgets(line, sizeof line, in))
        if (sscanf(line, "holds %" SCNx64, &content) == 1)
            known_add(k, content);
    fclose(in);
}

void known_save(const struct known_results *k)
{
    char path[8192];
    struct error error;
    struct text out = {0};
    if (!k->program || !cache_path(path, sizeof path))
        return;
    text_printf(&out, "program %016" PRIx64 "\n", k->program);
    for (size_t i = 0; i < k->contents.count; i++)
        text_printf(&out, "holds %016" PRIx64 "\n", k->contents.items[i]);
    file_write_text(path, out.chars, out.count, &error);
    text_free(&out);
}

void known_free(struct known_results *k)
{
    vec_free(&k->contents);
    table_free(&k->by_content);
}
