// Numbers by the words of a description.
#include "optimizer/search/memo.h"

#include "core/memory/hash.h"
#include <string.h>

// --- spelling --------------------------------------------------------------------------------------------------------

enum { MOST_BYTES = 10 };   // of a word: seven bits in each, all but the last with the eighth set

// Small numbers of either sign are small.
static uint64_t without_sign(int64_t word)
{
    return ((uint64_t)word << 1) ^ (word < 0 ? UINT64_MAX : 0);
}

void spelling_add(struct spelling *s, int64_t word)
{
    uint64_t rest = without_sign(word);
    vec_reserve(&s->bytes, s->bytes.count + MOST_BYTES);
    uint8_t *to = s->bytes.items + s->bytes.count;
    for (; rest >= 0x80; rest >>= 7)
        *to++ = (uint8_t)(rest | 0x80);
    *to++ = (uint8_t)rest;
    s->bytes.count = (size_t)(to - s->bytes.items);
    s->n_words++;
}

void spelling_clear(struct spelling *s)
{
    vec_clear(&s->bytes);
    s->n_words = 0;
}

void spelling_free(struct spelling *s)
{
    vec_free(&s->bytes);
    s->n_words = 0;
}

struct key_words spelling_key(const struct spelling *s)
{
    return (struct key_words){s->bytes.items, s->bytes.count, s->n_words};
}

// --- the memo --------------------------------------------------------------------------------------------------------

void memo_init(struct memo *m, size_t max_words)
{
    *m = (struct memo){.max_words = max_words};
    arena_init(&m->arena);
}

void memo_free(struct memo *m)
{
    arena_free(&m->arena);
    vec_free(&m->entries);
    table_free(&m->by_words);
    m->n_words = 0;
}

void memo_clear(struct memo *m)
{
    memo_free(m);
}

static bool has_words(const void *owner, uint32_t id, const void *key)
{
    const struct memo *m = owner;
    const struct key_words *k = key;
    const struct memo_entry *e = &m->entries.items[id];
    return e->n_bytes == k->n_bytes && memcmp(e->bytes, k->bytes, k->n_bytes) == 0;
}

static uint64_t hash_of_words(const struct key_words *key)
{
    return hash_bytes(key->bytes, key->n_bytes, 0);
}

static uint32_t find_entry(const struct memo *m, const struct key_words *key)
{
    return table_find(&m->by_words, hash_of_words(key), has_words, m, key);
}

bool memo_find(const struct memo *m, struct key_words key, double *ret_value)
{
    uint32_t found = find_entry(m, &key);
    if (found == TABLE_NONE)
        return false;
    *ret_value = m->entries.items[found].value;
    return true;
}

void memo_add(struct memo *m, struct key_words key, double value)
{
    if (m->n_words + key.n_words > m->max_words)
        memo_clear(m);
    table_insert(&m->by_words, hash_of_words(&key), (uint32_t)m->entries.count);
    const uint8_t *bytes = arena_copy(&m->arena, key.bytes, key.n_bytes, 1);
    vec_push(&m->entries, ((struct memo_entry){bytes, key.n_bytes, value}));
    m->n_words += key.n_words;
}

void memo_set(struct memo *m, struct key_words key, double value)
{
    uint32_t found = find_entry(m, &key);
    if (found == TABLE_NONE)
        memo_add(m, key, value);
    else
        m->entries.items[found].value = value;
}
