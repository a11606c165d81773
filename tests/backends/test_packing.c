// Packings: read as they are printed, refused where an entry would stand outside, and unpacked as they are described.
#include "backends/contract/packing.h"
#include "tests/support/cases.h"

static bool parse(struct arena *arena, const char *text, struct packing *ret_packing)
{
    const struct sexp *list;
    struct error error;
    return sexp_parse(arena, "test", text, strlen(text), &list, &error) && list->count == 1 &&
           packing_parse(&list->items[0], "test", ret_packing, &error);
}

static const char *const good[] = {
    "(packing (dims 64 3 7 7) (padded 64 3 7 7) (strides 2352 784 112 16) (blocks (0 16)))",
    "(packing (dims 3 5) (padded 4 8) (strides 8 16) (blocks (1 4) (0 2)))",
    "(packing (dims 1) (padded 1) (strides 1) (blocks))",
};

TEST(test_prints_what_it_reads)
{
    ARENA(arena);
    struct packing p, again;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        TEXT(text);
        assert_true(parse(&arena, good[i], &p));
        packing_print(&text, &p);
        assert_string_equal(text.chars, good[i]);
        assert_true(parse(&arena, text.chars, &again));
        assert_true(packing_equal(&p, &again));
    }
}

TEST_OF_CASES(test_refuses_what_is_outside, c, "backends/packing.cases")
{
    struct packing p;
    assert_false(packing_parse(c, "test", &p, &(struct error){0}));
}

// Rows of 5 columns, padded to 8, in blocks of 4 columns and 2 rows within these.
TEST(test_unpacks_blocks)
{
    ARENA(arena);
    struct packing p;
    float packed[32] = {0}, plain[15];
    assert_true(parse(&arena, good[1], &p));
    assert_int_equal(packing_bytes(&p), sizeof packed);
    assert_int_equal(packing_elements(&p), 15);
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 5; column++)
            packed[row / 2 * 8 + column / 4 * 16 + column % 4 * 2 + row % 2] = (float)(row * 5 + column);
    packing_unpack(&p, packed, plain);
    for (int i = 0; i < 15; i++)
        assert_float_equal(plain[i], i, 0);
}
