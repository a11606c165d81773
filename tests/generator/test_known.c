// Counts that go only as far as they are asked for, beside those of all nodes.
#include "generator/enumerate/term.h"
#include "tests/support/check.h"

static const char text[] = "(family f (inputs 2 (f32 2 3)) (operator (relu _)) (operator (ewadd _ _))"
                           " (operator (split 1 _)) (operator (concat 1 _ _)))";
struct known {
    struct arena arena;
    struct space space;
    const struct family *family;
    struct random random;
};

static void start(struct known *k)
{
    arena_init(&k->arena);
    space_init(&k->space, &k->arena);
    assert_true(space_parse(&k->space, "test", text, strlen(text), &(struct error){0}));
    k->family = k->space.families.items[0];
    k->random = random_seed(7);
}

static void finish(struct known *k)
{
    space_free(&k->space);
    arena_free(&k->arena);
}

// --- nodes of terms --------------------------------------------------------------------------------------------------

static void add_random_term(struct known *k, struct key *key, int room)
{
    int instance = (int)random_below(&k->random, (uint64_t)k->family->n_instances);
    if (room < 7 || random_below(&k->random, 4) == 0) {
        key->bytes[key->length++] = (uint8_t)random_below(&k->random, 2);
        return;
    }
    key->bytes[key->length++] = (uint8_t)(KEY_NODE + random_below(&k->random, 2));
    key->bytes[key->length++] = (uint8_t)instance;
    int n = k->family->instances[instance].n_inputs;
    for (int i = 0; i < n; i++)
        add_random_term(k, key, (room - 2) / n);
}

static int length_of_term(const struct family *f, const uint8_t *bytes)
{
    int length = bytes[0] < KEY_NODE ? 1 : 2;
    for (int i = 0; bytes[0] >= KEY_NODE && i < f->instances[bytes[1]].n_inputs; i++)
        length += length_of_term(f, bytes + length);
    return length;
}

// A node is what follows its output's number.
static int count_nodes(const struct family *f, const struct key *key)
{
    int n = 0;
    for (int at = 0; at < key->length; at += key->bytes[at] < KEY_NODE ? 1 : 2) {
        const uint8_t *bytes = key->bytes + at;
        int length = length_of_term(f, bytes);
        bool is_known = bytes[0] < KEY_NODE;
        for (int b = 0; b < at; b += key->bytes[b] < KEY_NODE ? 1 : 2)
            is_known = is_known || (key->bytes[b] >= KEY_NODE && length_of_term(f, key->bytes + b) == length &&
                                    memcmp(key->bytes + b + 1, bytes + 1, (size_t)length - 1) == 0);
        n += !is_known;
    }
    return n;
}

TEST(nodes_are_counted_as_far_as_asked)
{
    struct known k;
    start(&k);
    for (int i = 0; i < 2000; i++) {
        struct key key = {0};
        uint8_t lengths[KEY_LENGTH];
        add_random_term(&k, &key, KEY_LENGTH);
        int n = count_nodes(k.family, &key);
        assert_int_equal(term_measure_lengths(k.family, key.bytes, 0, lengths), key.length);
        for (int at = 0; at < key.length; at += key.bytes[at] < KEY_NODE ? 1 : 2)
            assert_int_equal(lengths[at], length_of_term(k.family, key.bytes + at));
        assert_int_equal(key_count_nodes(k.family, &key), n);
        for (int most = -1; most < n + 3; most++)
            assert_int_equal(key_has_more_nodes(k.family, &key, most), n > most);
    }
    finish(&k);
}
