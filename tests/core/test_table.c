// The hash table against an array that is searched from end to end.
#include "core/memory/key_set.h"
#include "tests/support/check.h"

enum { KEYS = 600, ABSENT = 0, PRESENT = 1 };

static bool keys_are_equal(const void *owner, uint32_t id, const void *key)
{
    const uint64_t *keys = owner;
    return keys[id] == *(const uint64_t *)key;
}

typedef uint64_t hash_fn(uint64_t key);

static uint64_t well_spread(uint64_t key)
{
    return random_keyed(1, key);
}

static uint64_t identity(uint64_t key)
{
    return key;
}

static uint64_t only_high_bits(uint64_t key)
{
    return key << 50;
}

static uint64_t colliding(uint64_t key)
{
    return key % 3;
}

static uint64_t all_the_same(uint64_t key)
{
    return 42;
}

static void check_against_array(const struct table *t, const uint64_t *keys, const bool *present, hash_fn *hash)
{
    size_t count = 0;
    for (uint32_t id = 0; id < KEYS; id++) {
        uint32_t found = table_find(t, hash(keys[id]), keys_are_equal, keys, &keys[id]);
        assert_int_equal(found, present[id] ? id : TABLE_NONE);
        count += present[id];
    }
    assert_int_equal(t->count, count);
}

static void behaves_like_an_array(hash_fn *hash)
{
    struct random r = random_seed(5);
    uint64_t keys[KEYS];
    bool present[KEYS] = {0};
    for (uint32_t id = 0; id < KEYS; id++)
        keys[id] = id * 7;
    struct table t FREED_BY(table_free) = {0};
    for (int step = 0; step < 6000; step++) {
        uint32_t id = (uint32_t)random_below(&r, KEYS);
        bool wants_insertion = random_below(&r, 1000) < (step / 1000 % 2 ? 300 : 700);
        if (wants_insertion && !present[id])
            table_insert(&t, hash(keys[id]), id);
        else if (!wants_insertion)
            assert_int_equal(table_remove(&t, hash(keys[id]), id), present[id]);
        present[id] = wants_insertion;
        if (step % 300 == 0) {
            check_against_array(&t, keys, present, hash);
            struct table copy FREED_BY(table_free);
            table_copy(&copy, &t);
            table_reserve(&copy, (size_t)step);
            check_against_array(&copy, keys, present, hash);
        }
    }
    check_against_array(&t, keys, present, hash);
    table_clear(&t);
    memset(present, 0, sizeof present);
    check_against_array(&t, keys, present, hash);
}

TEST(behaves_like_an_array_for_every_hash)
{
    static hash_fn *const hashes[] = {well_spread, identity, only_high_bits, colliding, all_the_same};
    for (size_t i = 0; i < COUNT_OF(hashes); i++)
        behaves_like_an_array(hashes[i]);
}

TEST(an_empty_table_finds_nothing)
{
    uint64_t key = 1;
    struct table t FREED_BY(table_free) = {0};
    assert_int_equal(table_find(&t, 1, keys_are_equal, &key, &key), TABLE_NONE);
    assert_false(table_remove(&t, 1, 0));
    table_clear(&t);
}

TEST(a_table_of_few_gives_its_slots_back)
{
    uint64_t key = 3;
    struct table t FREED_BY(table_free) = {0};
    table_reserve(&t, 100000);
    table_insert(&t, 7, 0);
    table_clear(&t);
    assert_int_equal(t.capacity, 0);
    assert_int_equal(table_find(&t, 7, keys_are_equal, &key, &key), TABLE_NONE);
    table_insert(&t, 7, 0);
    assert_int_equal(table_find(&t, 7, keys_are_equal, &key, &key), 0);
}

TEST(equal_hashes_are_not_equal_things)
{
    const uint64_t keys[] = {10, 20};
    const uint64_t stranger = 30;
    struct table t FREED_BY(table_free) = {0};
    table_insert(&t, 7, 0);
    table_insert(&t, 7, 1);
    assert_int_equal(table_find(&t, 7, keys_are_equal, keys, &keys[0]), 0);
    assert_int_equal(table_find(&t, 7, keys_are_equal, keys, &keys[1]), 1);
    assert_int_equal(table_find(&t, 7, keys_are_equal, keys, &stranger), TABLE_NONE);
    assert_true(table_remove(&t, 7, 0));
    assert_int_equal(table_find(&t, 7, keys_are_equal, keys, &keys[1]), 1);
}

TEST(hashes_that_are_keys_are_not_compared)
{
    struct table t FREED_BY(table_free) = {0};
    for (uint32_t id = 0; id < 100; id++)
        table_insert(&t, 3 * id, id);
    for (uint32_t id = 0; id < 100; id++)
        assert_int_equal(table_find(&t, 3 * id, NULL, NULL, NULL), id);
    assert_int_equal(table_find(&t, 1, NULL, NULL, NULL), TABLE_NONE);
}

TEST(keys_are_numbered_as_they_come)
{
    ARENA(arena);
    char key[8] = "one";
    struct key_set set FREED_BY(key_set_free) = {0};
    assert_int_equal(key_set_find(&set, key, 3), KEY_NONE);
    assert_int_equal(key_set_add(&set, &arena, key, 3), 0);
    strcpy(key, "two");   // what is known is a copy
    assert_int_equal(key_set_add(&set, &arena, key, 3), 1);
    assert_int_equal(key_set_add(&set, &arena, key, 2), 2);
    assert_int_equal(key_set_add(&set, &arena, NULL, 0), 3);
    assert_int_equal(key_set_add(&set, &arena, "one", 3), 0);
    assert_int_equal(key_set_find(&set, "two", 3), 1);
    assert_int_equal(key_set_find(&set, NULL, 0), 3);
    assert_int_equal(key_set_find(&set, "tw\0", 3), KEY_NONE);
    assert_memory_equal(set.keys.items[2].bytes, "tw", 2);
    key_set_clear(&set);
    assert_int_equal(key_set_add(&set, NULL, key, 3), 0);
    assert_ptr_equal(set.keys.items[0].bytes, key);
}
