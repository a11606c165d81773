// The file: MAGIC, then fields (numbers in eight bytes, low byte first; strings with their length), then XXH3 of it
// all.
#include "generator/output/checkpoint_file.h"

#include "core/system/file.h"
#include "core/text/error.h"
#include <string.h>

static const char MAGIC[] = "taso-gen part 3\n";

bool checkpoint_header_equal(const struct checkpoint_header *a, const struct checkpoint_header *b)
{
    return strcmp(a->version, b->version) == 0 && strcmp(a->space_name, b->space_name) == 0 &&
           strcmp(a->space_text, b->space_text) == 0 && strcmp(a->families, b->families) == 0 &&
           strcmp(a->with, b->with) == 0 && a->max_ops == b->max_ops && a->seed == b->seed &&
           a->shortcuts == b->shortcuts;
}

// --- both ways -------------------------------------------------------------------------------------------------------
// Writing and reading are said once.

typedef VEC(uint8_t) byte_list;
struct archive {
    byte_list *out;   // NULL: it is read
    const uint8_t *at, *end;
    struct arena *arena;   // of strings that are read
    bool is_bad;           // it ends too early, or says what cannot be
};

static void exchange_bytes(struct archive *a, void *bytes, size_t size)
{
    if (a->out) {
        vec_reserve(a->out, a->out->count + size);
        if (size)
            memcpy(a->out->items + a->out->count, bytes, size);
        a->out->count += size;
        return;
    }
    a->is_bad = a->is_bad || (size_t)(a->end - a->at) < size;
    if (a->is_bad)
        memset(bytes, 0, size);
    else if (size)
        memcpy(bytes, a->at, size);
    a->at += a->is_bad ? 0 : size;
}

static void exchange_number(struct archive *a, uint64_t *value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(*value >> 8 * i);
    exchange_bytes(a, bytes, sizeof bytes);
    *value = 0;
    for (int i = 0; i < 8; i++)
        *value |= (uint64_t)bytes[i] << 8 * i;
}

static void exchange_int(struct archive *a, int *value)
{
    uint64_t number = (uint64_t)*value;
    exchange_number(a, &number);
    *value = (int)number;
}

static void exchange_string(struct archive *a, const char **text)
{
    uint64_t size = a->out ? strlen(*text) : 0;
    exchange_number(a, &size);
    a->is_bad = a->is_bad || (!a->out && (size_t)(a->end - a->at) < size);
    char *bytes = (char *)(uintptr_t)*text;
    if (!a->out)
        *text = bytes = arena_array(a->arena, char, a->is_bad ? 1 : size + 1);
    exchange_bytes(a, bytes, a->is_bad ? 0 : size);
}

static void exchange_header(struct archive *a, struct checkpoint_header *h)
{
    char magic[sizeof MAGIC];
    memcpy(magic, MAGIC, sizeof MAGIC);
    exchange_bytes(a, magic, sizeof MAGIC - 1);
    a->is_bad = a->is_bad || memcmp(magic, MAGIC, sizeof MAGIC - 1) != 0;
    exchange_string(a, &h->version);
    exchange_string(a, &h->space_name);
    exchange_string(a, &h->space_text);
    exchange_string(a, &h->families);
    exchange_string(a, &h->with);
    exchange_number(a, (uint64_t *)&h->max_ops);
    exchange_number(a, (uint64_t *)&h->seed);
    exchange_number(a, (uint64_t *)&h->shortcuts);
    a->is_bad = a->is_bad || h->max_ops < 1 || h->max_ops > MAX_OPS || h->shortcuts < 0 || h->shortcuts > MAX_OPS ||
                h->seed < 0;
}

static void exchange_member(struct archive *a, struct findings *f, size_t i)
{
    struct found_member m = {0};
    if (a->out)
        m = f->members.items[i];
    uint8_t head[3] = {i == 0 || (a->out && m.class != f->members.items[i - 1].class), m.level, m.key.length};
    exchange_bytes(a, head, sizeof head);
    a->is_bad =
        a->is_bad || head[0] > 1 || (i == 0 && !head[0]) || head[1] > MAX_OPS || head[2] == 0 || head[2] > KEY_LENGTH;
    exchange_bytes(a, m.key.bytes, a->is_bad ? 0 : head[2]);
    if (a->out || a->is_bad)
        return;
    f->n_classes += head[0];
    m.class = f->n_classes - 1;
    m.level = head[1];
    m.key.length = head[2];
    vec_push(&f->members, m);
}

enum { N_COUNTS = sizeof(struct class_counts) / sizeof(uint64_t) };

static void exchange_part(struct archive *a, struct part *p)
{
    const char *family = p->family;
    uint64_t *counts = (uint64_t *)&p->findings.counts;
    uint64_t classes = p->findings.n_classes, members = p->findings.members.count;
    exchange_string(a, &family);
    a->is_bad = a->is_bad || strlen(family) >= sizeof p->family;
    if (!a->is_bad && !a->out)
        strcpy(p->family, family);
    exchange_int(a, &p->first);
    exchange_int(a, &p->end);
    for (int i = 0; i <= MAX_OPS; i++)
        exchange_number(a, &p->terms[i]);
    for (int i = 0; i < N_COUNTS; i++)
        exchange_number(a, &counts[i]);
    exchange_number(a, &classes);
    exchange_number(a, &members);
    for (size_t i = 0; i < members && !a->is_bad; i++)
        exchange_member(a, &p->findings, i);
    a->is_bad = a->is_bad || classes != p->findings.n_classes || p->first < 0 || p->first >= p->end ||
                p->end > FINGERPRINT_SLICES;
}

// --- files -----------------------------------------------------------------------------------------------------------

bool checkpoint_file_write(const char *path, const struct checkpoint_header *header, const struct part *parts, size_t n,
                           struct error *error)
{
    LOCAL_LIST(byte_list, out);
    struct archive a = {.out = &out};
    struct checkpoint_header written = *header;
    uint64_t count = n;
    exchange_header(&a, &written);
    exchange_number(&a, &count);
    for (size_t i = 0; i < n; i++) {
        struct part part = parts[i];
        exchange_part(&a, &part);
    }
    uint64_t hash = hash_bytes(out.items, out.count, 0);
    exchange_number(&a, &hash);
    return file_write_text(path, (const char *)out.items, out.count, error);
}

static bool read_parts(struct archive *a, const char *path, struct checkpoint_header *ret_header,
                       checkpoint_list *parts)
{
    uint64_t n = 0;
    *ret_header = (struct checkpoint_header){0};
    exchange_header(a, ret_header);
    exchange_number(a, &n);
    for (uint64_t i = 0; i < n && !a->is_bad; i++) {
        struct part p = {.path = path};
        exchange_part(a, &p);
        vec_push(parts, p);
    }
    return !a->is_bad && a->at == a->end;
}

bool checkpoint_file_read(const char *path, struct arena *arena, struct checkpoint_header *ret_header,
                          checkpoint_list *parts, struct error *error)
{
    struct file_map map FREED_BY(file_map_close) = {0};
    if (!file_map_open(&map, path, error))
        return false;
    bool is_good = map.size >= 8;
    if (is_good) {
        struct archive hash = {.at = map.bytes + map.size - 8, .end = map.bytes + map.size};
        struct archive a = {.at = map.bytes, .end = map.bytes + map.size - 8, .arena = arena};
        uint64_t expected = 0;
        exchange_number(&hash, &expected);
        is_good = expected == hash_bytes(map.bytes, map.size - 8, 0) && read_parts(&a, path, ret_header, parts);
    }
    return is_good || error_set(error, path, 0, 0, "no complete part of a taso-gen job");
}

void checkpoint_list_free(checkpoint_list *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        findings_free(&parts->items[i].findings);
    vec_free(parts);
}

COMPARISON(compare_parts, struct part, strcmp(x->family, y->family) ?: ORDER(x->first, y->first))

void checkpoint_list_sort(checkpoint_list *parts)
{
    vec_sort(parts, compare_parts);
}
