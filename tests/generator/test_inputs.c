// Sets of inputs up to renaming: as many as are counted are visited, each once, and what is fixed stays.
#include "generator/enumerate/inputs.h"
#include "tests/support/check.h"

struct visits {
    uint32_t set, fixed, n;
    uint32_t seen[64];
};

static bool add_renamed_set(void *context, const uint8_t *order)
{
    struct visits *v = context;
    uint32_t renamed = 0, taken = 0;
    for (int i = 0; i < MAX_LEAVES; i++) {
        taken |= 1u << order[i];
        renamed |= v->set >> i & 1 ? 1u << order[i] : 0;
        if (v->fixed >> i & 1)
            assert_int_equal(order[i], i);
    }
    assert_int_equal(taken, UINT32_MAX);
    for (uint32_t i = 0; i < v->n; i++)
        assert_int_not_equal(v->seen[i], renamed);
    assert_true(v->n > 0 || renamed == v->set);
    v->seen[v->n++] = renamed;
    return true;
}

TEST(every_renamed_set_is_visited_once)
{
    static const struct {
        uint32_t set, fixed, count;
    } cases[] = {{0x00, 0x00, 1}, {0x01, 0x00, 4}, {0x01, 0x01, 1}, {0x03, 0x00, 6}, {0x03, 0x01, 3},
                 {0x0f, 0x03, 1}, {0x13, 0x01, 6}, {0x37, 0x00, 4}, {0x71, 0x10, 4}, {0x51, 0x00, 8}};
    const char *text = "(family f (inputs 4 (f32 2 2)) (inputs 2 (f32 3)) (inputs 1 (f32)) (operator (relu _)))";
    ARENA(arena);
    struct space space FREED_BY(space_free);
    space_init(&space, &arena);
    assert_true(space_parse(&space, "test", text, strlen(text), &(struct error){0}));
    const struct family *f = space.families.items[0];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct visits v = {.set = cases[i].set, .fixed = cases[i].fixed};
        inputs_visit_alike(f, cases[i].set, cases[i].fixed, add_renamed_set, &v);
        assert_int_equal(v.n, cases[i].count);
        assert_int_equal(inputs_count_alike(f, cases[i].set, cases[i].fixed), cases[i].count);
        assert_true(inputs_are_first(f, cases[i].set));
    }
    assert_false(inputs_are_first(f, 0x02));
    assert_false(inputs_are_first(f, 0x21));
}
