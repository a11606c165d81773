// S-expressions in the cache folder, written whole: (program "HASH") and a (holds "TEXT") for each property.
#include "verifier/rules/validation_cache.h"

#include "core/formats/sexp.h"
#include "core/memory/hash.h"
#include "core/system/file.h"
#include "core/text/error.h"
#include "core/text/text.h"
#include "properties/property.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PROGRAM_SIZE 17   // of the hash in hexadecimal, with its NUL

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

static void print_program(const struct known_results *k, char ret_text[PROGRAM_SIZE])
{
    snprintf(ret_text, PROGRAM_SIZE, "%016" PRIx64, k->program);
}

static bool is_text(const void *owner, uint32_t id, const void *key)
{
    return strcmp(((const struct known_results *)owner)->texts.items[id], key) == 0;
}

static bool has_text(const struct known_results *k, const char *text)
{
    return table_find(&k->by_text, hash_string(text), is_text, k, text) != TABLE_NONE;
}

static void add_text(struct known_results *k, const char *text)
{
    if (has_text(k, text))
        return;
    vec_push(&k->texts, arena_string(&k->arena, text));
    table_insert(&k->by_text, hash_string(text), (uint32_t)k->texts.count - 1);
}

bool known_has(const struct known_results *k, const struct property *p)
{
    struct text text = {0};
    property_print(&text, p);
    bool is_known = has_text(k, text.chars);
    text_free(&text);
    return is_known;
}

void known_add(struct known_results *k, const struct property *p)
{
    struct text text = {0};
    property_print(&text, p);
    add_text(k, text.chars);
    text_free(&text);
}

static bool is_call_with_string(const struct sexp *s, const char *head)
{
    return sexp_is_call(s, head) && s->count == 2 && s->items[1].kind == SEXP_STRING;
}

static bool is_of_this_program(const struct known_results *k, const struct sexp *list)
{
    char program[PROGRAM_SIZE];
    print_program(k, program);
    return list->count > 0 && is_call_with_string(&list->items[0], "program") &&
           strcmp(list->items[0].items[1].text, program) == 0;
}

void known_load(struct known_results *k)
{
    char path[8192];
    const struct sexp *list;
    struct error error;
    *k = (struct known_results){.program = hash_of_this_program()};
    arena_init(&k->arena);
    if (!k->program || !cache_path(path, sizeof path) || !sexp_parse_file(&k->arena, path, &list, &error) ||
        !is_of_this_program(k, list))
        return;
    for (size_t i = 1; i < list->count; i++)
        if (is_call_with_string(&list->items[i], "holds"))
            add_text(k, list->items[i].items[1].text);
}

void known_save(const struct known_results *k)
{
    char path[8192], program[PROGRAM_SIZE];
    struct error error;
    struct text out = {0};
    if (!k->program || !cache_path(path, sizeof path))
        return;
    print_program(k, program);
    text_printf(&out, "(program \"%s\")\n", program);
    for (size_t i = 0; i < k->texts.count; i++) {
        text_add(&out, "(holds ");
        text_add_quoted(&out, k->texts.items[i]);
        text_add(&out, ")\n");
    }
    file_write_text(path, out.chars, out.count, &error);
    text_free(&out);
}

void known_free(struct known_results *k)
{
    vec_free(&k->texts);
    table_free(&k->by_text);
    arena_free(&k->arena);
}
