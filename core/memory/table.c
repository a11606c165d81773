// Linear probing from a slot chosen by the high bits of a multiplied hash (so that weak hashes spread too). A removal
// shifts the following run back instead of leaving a tombstone: a probe always ends at the first empty slot.
#include "core/memory/table.h"
#include "core/memory/memory.h"
#include <assert.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

static bool is_empty(const struct table_slot *slot)
{
    return slot->id == TABLE_NONE;
}

static size_t home_of(const struct table *t, uint64_t hash)
{
    unsigned capacity_bits = 63u - (unsigned)__builtin_clzll(t->capacity);
    return (size_t)((hash * 0x9E3779B97F4A7C15u) >> (64u - capacity_bits));
}

static size_t next_slot(const struct table *t, size_t i)
{
    return (i + 1) & (t->capacity - 1);
}

static void place(struct table *t, uint64_t hash, uint32_t id)
{
    size_t i = home_of(t, hash);
    while (!is_empty(&t->slots[i]))
        i = next_slot(t, i);
    t->slots[i] = (struct table_slot){hash, id};
}

static struct table_slot *new_empty_slots(size_t capacity)
{
    struct table_slot *slots = mem_new_array(struct table_slot, capacity);
    for (size_t i = 0; i < capacity; i++)
        slots[i] = (struct table_slot){0, TABLE_NONE};
    return slots;
}

static bool is_crowded(size_t capacity, size_t count)
{
    return count > capacity / 4 * 3;
}

static void grow_to(struct table *t, size_t capacity)
{
    struct table old = *t;
    t->capacity = capacity;
    t->slots = new_empty_slots(t->capacity);
    for (size_t i = 0; i < old.capacity; i++)
        if (!is_empty(&old.slots[i]))
            place(t, old.slots[i].hash, old.slots[i].id);
    mem_free_array(old.slots, old.capacity);
}

// May the slot at `i` move into the hole? Only if its home does not lie (cyclically) between the hole and itself.
static bool may_move_to(const struct table *t, size_t hole, size_t i)
{
    size_t mask = t->capacity - 1, home = home_of(t, t->slots[i].hash);
    return ((i - home) & mask) >= ((i - hole) & mask);
}

static void close_hole(struct table *t, size_t hole)
{
    for (size_t i = next_slot(t, hole); !is_empty(&t->slots[i]); i = next_slot(t, i)) {
        if (!may_move_to(t, hole, i))
            continue;
        t->slots[hole] = t->slots[i];
        hole = i;
    }
    t->slots[hole] = (struct table_slot){0, TABLE_NONE};
}

uint32_t table_find(const struct table *t, uint64_t hash, table_equal_fn *equal, const void *owner, const void *key)
{
    if (t->count == 0)
        return TABLE_NONE;
    for (size_t i = home_of(t, hash); !is_empty(&t->slots[i]); i = next_slot(t, i))
        if (t->slots[i].hash == hash && (!equal || equal(owner, t->slots[i].id, key)))
            return t->slots[i].id;
    return TABLE_NONE;
}

void table_reserve(struct table *t, size_t count)
{
    size_t capacity = t->capacity;
    while (is_crowded(capacity, count))
        capacity = capacity ? 2 * capacity : FIRST_CAPACITY;
    if (capacity != t->capacity)
        grow_to(t, capacity);
}

void table_insert(struct table *t, uint64_t hash, uint32_t id)
{
    assert(id != TABLE_NONE);
    table_reserve(t, t->count + 1);
    place(t, hash, id);
    t->count++;
}

bool table_remove(struct table *t, uint64_t hash, uint32_t id)
{
    if (t->count == 0)
        return false;
    for (size_t i = home_of(t, hash); !is_empty(&t->slots[i]); i = next_slot(t, i)) {
        if (t->slots[i].hash != hash || t->slots[i].id != id)
            continue;
        close_hole(t, i);
        t->count--;
        return true;
    }
    return false;
}

void table_copy(struct table *ret_copy, const struct table *t)
{
    *ret_copy = *t;
    ret_copy->slots = mem_new_array(struct table_slot, t->capacity);
    if (t->capacity)
        memcpy(ret_copy->slots, t->slots, t->capacity * sizeof *t->slots);
}

// Slots of which few were in use would take longer to clear, and to find anything in, than to make anew.
static bool is_sparse(const struct table *t)
{
    return t->capacity > FIRST_CAPACITY && t->count < t->capacity / 8;
}

void table_clear(struct table *t)
{
    if (is_sparse(t))
        table_free(t);
    for (size_t i = 0; i < t->capacity; i++)
        t->slots[i] = (struct table_slot){0, TABLE_NONE};
    t->count = 0;
}

void table_free(struct table *t)
{
    mem_free_array(t->slots, t->capacity);
    *t = (struct table){0};
}
