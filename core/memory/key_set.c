// A key is found by its hash and compared byte by byte.
#include "core/memory/key_set.h"

#include "core/memory/arena.h"
#include "core/memory/hash.h"
#include <string.h>

static bool is_key(const void *owner, uint32_t id, const void *key)
{
    const struct key_bytes *known = &((const struct key_set *)owner)->keys.items[id], *asked = key;
    return known->size == asked->size && (asked->size == 0 || memcmp(known->bytes, asked->bytes, asked->size) == 0);
}

static uint32_t find(const struct key_set *s, const struct key_bytes *key, uint64_t *ret_hash)
{
    *ret_hash = hash_bytes(key->bytes, key->size, key->size);
    return table_find(&s->by_bytes, *ret_hash, is_key, s, key);
}

uint32_t key_set_find(const struct key_set *s, const void *bytes, size_t size)
{
    uint64_t hash;
    return find(s, &(struct key_bytes){bytes, size}, &hash);
}

uint32_t key_set_add(struct key_set *s, struct arena *a, const void *bytes, size_t size)
{
    uint64_t hash;
    struct key_bytes key = {bytes, size};
    uint32_t found = find(s, &key, &hash);
    if (found != KEY_NONE)
        return found;
    if (a)
        key.bytes = arena_copy(a, bytes, size, _Alignof(max_align_t));
    vec_push(&s->keys, key);
    table_insert(&s->by_bytes, hash, (uint32_t)s->keys.count - 1);
    return (uint32_t)s->keys.count - 1;
}

void key_set_clear(struct key_set *s)
{
    vec_clear(&s->keys);
    table_clear(&s->by_bytes);
}

void key_set_free(struct key_set *s)
{
    vec_free(&s->keys);
    table_free(&s->by_bytes);
}
