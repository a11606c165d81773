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

// --- writing ---------------------------------------------------------------------------------------------------------

typedef VEC(uint8_t) byte_list;

static void put_bytes(byte_list *out, const void *bytes, size_t size)
{
    vec_reserve(out, out->count + size);
    if (size)
        memcpy(out->items + out->count, bytes, size);
    out->count += size;
}

static void put_number(byte_list *out, uint64_t value)
{
    uint8_t bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(value >> 8 * i);
    put_bytes(out, bytes, sizeof bytes);
}

static void put_string(byte_list *out, const char *text)
{
    size_t size = strlen(text);
    put_number(out, size);
    put_bytes(out, text, size);
}

static void put_header(byte_list *out, const struct checkpoint_header *h)
{
    put_bytes(out, MAGIC, sizeof MAGIC - 1);
    put_string(out, h->version);
    put_string(out, h->space_name);
    put_string(out, h->space_text);
    put_string(out, h->families);
    put_string(out, h->with);
    put_number(out, (uint64_t)h->max_ops);
    put_number(out, (uint64_t)h->seed);
    put_number(out, (uint64_t)h->shortcuts);
}

enum { N_COUNTS = sizeof(struct class_counts) / sizeof(uint64_t) };

static void put_part(byte_list *out, const struct part *p)
{
    const uint64_t *counts = (const uint64_t *)&p->findings.counts;
    put_string(out, p->family);
    put_number(out, (uint64_t)p->first);
    put_number(out, (uint64_t)p->end);
    for (int i = 0; i <= MAX_OPS; i++)
        put_number(out, p->terms[i]);
    for (int i = 0; i < N_COUNTS; i++)
        put_number(out, counts[i]);
    put_number(out, p->findings.n_classes);
    put_number(out, p->findings.members.count);
    for (size_t i = 0; i < p->findings.members.count; i++) {
        const struct found_member *m = &p->findings.members.items[i];
        bool is_first = i == 0 || m->class != m[-1].class;
        uint8_t head[3] = {is_first, m->level, m->key.length};
        put_bytes(out, head, sizeof head);
        put_bytes(out, m->key.bytes, m->key.length);
    }
}

bool checkpoint_file_write(const char *path, const struct checkpoint_header *header, const struct part *parts, size_t n,
                           struct error *error)
{
    byte_list out = {0};
    put_header(&out, header);
    put_number(&out, n);
    for (size_t i = 0; i < n; i++)
        put_part(&out, &parts[i]);
    put_number(&out, hash_bytes(out.items, out.count, 0));
    bool is_written = file_write_text(path, (const char *)out.items, out.count, error);
    vec_free(&out);
    return is_written;
}

// --- reading ---------------------------------------------------------------------------------------------------------

struct input {
    const uint8_t *at, *end;
    bool is_short;
};

static const uint8_t *take_bytes(struct input *in, size_t size)
{
    if (in->is_short || (size_t)(in->end - in->at) < size) {
        in->is_short = true;
        return NULL;
    }
    const uint8_t *bytes = in->at;
    in->at += size;
    return bytes;
}

static uint64_t take_number(struct input *in)
{
    const uint8_t *bytes = take_bytes(in, 8);
    uint64_t value = 0;
    for (int i = 0; bytes && i < 8; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

static const char *take_string(struct input *in, struct arena *arena)
{
    uint64_t size = take_number(in);
    const uint8_t *bytes = take_bytes(in, size);
    return bytes ? arena_string_n(arena, (const char *)bytes, size) : "";
}

static void take_header(struct input *in, struct arena *arena, struct checkpoint_header *h)
{
    h->version = take_string(in, arena);
    h->space_name = take_string(in, arena);
    h->space_text = take_string(in, arena);
    h->families = take_string(in, arena);
    h->with = take_string(in, arena);
    h->max_ops = (int64_t)take_number(in);
    h->seed = (int64_t)take_number(in);
    h->shortcuts = (int64_t)take_number(in);
}

static bool take_member(struct input *in, struct found_member *m, uint32_t *n_classes)
{
    const uint8_t *head = take_bytes(in, 3);
    if (!head || head[1] > MAX_OPS || head[2] == 0 || head[2] > KEY_LENGTH || head[0] > 1)
        return false;
    const uint8_t *bytes = take_bytes(in, head[2]);
    if (!bytes || (*n_classes == 0 && !head[0]))
        return false;
    *n_classes += head[0];
    *m = (struct found_member){.class = *n_classes - 1, .level = head[1], .key = {.length = head[2]}};
    memcpy(m->key.bytes, bytes, head[2]);
    return true;
}

static bool take_part(struct input *in, const char *path, struct arena *arena, struct part *p)
{
    *p = (struct part){.path = path};
    const char *family = take_string(in, arena);
    if (strlen(family) >= sizeof p->family)
        return false;
    strcpy(p->family, family);
    p->first = (int)take_number(in);
    p->end = (int)take_number(in);
    for (int i = 0; i <= MAX_OPS; i++)
        p->terms[i] = take_number(in);
    uint64_t *counts = (uint64_t *)&p->findings.counts;
    for (int i = 0; i < N_COUNTS; i++)
        counts[i] = take_number(in);
    uint64_t classes = take_number(in), members = take_number(in);
    for (uint64_t i = 0; i < members && !in->is_short; i++) {
        struct found_member m;
        if (!take_member(in, &m, &p->findings.n_classes))
            return false;
        vec_push(&p->findings.members, m);
    }
    return !in->is_short && classes == p->findings.n_classes && p->first >= 0 && p->first < p->end &&
           p->end <= FINGERPRINT_SLICES;
}

static bool has_possible_options(const struct checkpoint_header *h)
{
    return h->max_ops >= 1 && h->max_ops <= MAX_OPS && h->shortcuts >= 0 && h->shortcuts <= MAX_OPS && h->seed >= 0;
}

static bool read_parts(struct input *in, const char *path, struct arena *arena, struct checkpoint_header *ret_header,
                       checkpoint_list *parts)
{
    const uint8_t *magic = take_bytes(in, sizeof MAGIC - 1);
    if (!magic || memcmp(magic, MAGIC, sizeof MAGIC - 1) != 0)
        return false;
    take_header(in, arena, ret_header);
    if (!has_possible_options(ret_header))
        return false;
    uint64_t n = take_number(in);
    for (uint64_t i = 0; i < n && !in->is_short; i++) {
        struct part p;
        bool is_good = take_part(in, path, arena, &p);
        vec_push(parts, p);
        if (!is_good)
            return false;
    }
    return !in->is_short && in->at == in->end;
}

bool checkpoint_file_read(const char *path, struct arena *arena, struct checkpoint_header *ret_header,
                          checkpoint_list *parts, struct error *error)
{
    struct file_map map;
    if (!file_map_open(&map, path, error))
        return false;
    bool is_good = map.size >= 8;
    if (is_good) {
        struct input hash = {map.bytes + map.size - 8, map.bytes + map.size, false};
        struct input in = {map.bytes, map.bytes + map.size - 8, false};
        is_good = take_number(&hash) == hash_bytes(map.bytes, map.size - 8, 0) &&
                  read_parts(&in, path, arena, ret_header, parts);
    }
    file_map_close(&map);
    return is_good || error_set(error, path, 0, 0, "no complete part of a taso-gen job");
}

void checkpoint_list_free(checkpoint_list *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        findings_free(&parts->items[i].findings);
    vec_free(parts);
}

static int compare_parts(const void *a, const void *b)
{
    const struct part *x = a, *y = b;
    int order = strcmp(x->family, y->family);
    return order ? order : x->first - y->first;
}

void checkpoint_list_sort(checkpoint_list *parts)
{
    vec_sort(parts, compare_parts);
}
