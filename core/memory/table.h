// A hash table of (hash, id). A hash is not an identity: the owner of the ids says whether two things are equal, so a
// collision costs time and never a candidate. Open addressing, linear probing, power-of-two capacity.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TABLE_NONE UINT32_MAX   // no such id; never insert it

struct table {
    struct table_slot {
        uint64_t hash;
        uint32_t id;
    } * slots;
    size_t count, capacity;
};

// Is the thing that `owner` knows as `id` equal to `key`?
typedef bool table_equal_fn(const void *owner, uint32_t id, const void *key);

// `equal` may be NULL where hashes are made of the keys by steps that can be undone: equal ones are equal keys.
uint32_t table_find(const struct table *t, uint64_t hash, table_equal_fn *equal, const void *owner, const void *key);
void table_insert(struct table *t, uint64_t hash, uint32_t id);   // the caller knows that it is absent
bool table_remove(struct table *t, uint64_t hash, uint32_t id);
void table_reserve(struct table *t, size_t count);                // room for that many in all
void table_copy(struct table *ret_copy, const struct table *t);   // of the same ids
void table_clear(struct table *t);
void table_free(struct table *t);
