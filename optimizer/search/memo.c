#include "optimizer/search/memo.h"

#include "core/hash.h"
#include <string.h>

void memo_init(struct memo *m, size_t max_words)
{
    *m = (struct memo){.max_words = max_words};
}

void memo_free(struct memo *m)
{
    vec_free(&m->words);
    vec_free(&m->entries);
    table_free(&m->by_words);
}

void memo_clear(struct memo *m)
{
    memo_free(m);
}

struct key {
    const int64_t *words;
    size_t count;
};

static bool has_words(const void *owner, uint32_t id, const void *key)
{
    const struct memo *m = owner;
    const struct key *k = key;
    const struct memo_entry *e = &m->entries.items[id];
    return e->count == k->count && memcmp(m->words.items + e->first, k->words, k->count * sizeof *k->words) == 0;
}

static uint64_t hash_of_words(const int64_t *words, size_t count)
{
    return hash_bytes(words, count * sizeof *words, count);
}

static uint32_t find_entry(const struct memo *m, const int64_t *words, size_t count)
{
    struct key k = {words, count};
    return table_find(&m->by_words, hash_of_words(words, count), has_words, m, &k);
}

bool memo_find(const struct memo *m, const int64_t *words, size_t count, double *ret_value)
{
    uint32_t found = find_entry(m, words, count);
    if (found == TABLE_NONE)
        return false;
    *ret_value = m->entries.items[found].value;
    return true;
}

void memo_add(struct memo *m, const int64_t *words, size_t count, double value)
{
    if (m->words.count + count > m->max_words)
        memo_clear(m);
    table_insert(&m->by_words, hash_of_words(words, count), (uint32_t)m->entries.count);
    vec_push(&m->entries, ((struct memo_entry){m->words.count, count, value}));
    vec_reserve(&m->words, m->words.count + count);
    memcpy(m->words.items + m->words.count, words, count * sizeof *words);
    m->words.count += count;
}

void memo_set(struct memo *m, const int64_t *words, size_t count, double value)
{
    uint32_t found = find_entry(m, words, count);
    if (found == TABLE_NONE)
        memo_add(m, words, count, value);
    else
        m->entries.items[found].value = value;
}
