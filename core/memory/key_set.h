// Rows of bytes (words of a description, a name), each kept once and numbered in the order in which they came. Who has
// something for each key keeps that in an array of its own, by the key's number.
#pragma once
#include "core/memory/table.h"
#include "core/memory/vec.h"

struct arena;

struct key_set {
    VEC(struct key_bytes {
        const void *bytes;
        size_t size;
    })
    keys;
    struct table by_bytes;
};

#define KEY_NONE TABLE_NONE
uint32_t key_set_find(const struct key_set *s, const void *bytes, size_t size);   // KEY_NONE: it is not there
// The number of the key, found or added: keys.count as it was, where it is new. New ones are copied to the arena; with
// none they stay where they are.
uint32_t key_set_add(struct key_set *s, struct arena *a, const void *bytes, size_t size);
void key_set_clear(struct key_set *s);
void key_set_free(struct key_set *s);
