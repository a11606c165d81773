// Types as text, sizes, and split trees.
#include "expressions/type.h"
#include "tests/support/cases.h"

TEST_OF_CASES(types_are_read_as_they_are_printed, c, "expressions/types.cases")
{
    ARENA(a);
    struct type t;
    struct error error;
    TEXT(text);
    bool is_right = sexp_is_call(c, "right");
    assert_int_equal(type_parse(&c->items[1], "types", &t, &error), is_right);
    if (is_right) {
        type_print(&text, &t);
        assert_string_equal(text.chars, text_of(&a, &c->items[1]));
    } else
        assert_int_equal(error.line, c->line);
}

TEST(element_types_have_names_and_codes)
{
    for (int i = DTYPE_NONE + 1; i < DTYPE_COUNT; i++) {
        enum dtype dtype = DTYPE_NONE;
        assert_true(dtype_from_name(dtype_name((enum dtype)i), &dtype));
        assert_int_equal(dtype, i);
        assert_int_equal(dtype_from_onnx(dtype_to_onnx((enum dtype)i)), i);
    }
    assert_int_equal(dtype_from_onnx(12345), DTYPE_NONE);
    assert_int_equal(dtype_size(DTYPE_F32), 4);
    assert_int_equal(dtype_size(DTYPE_STRING), 0);
    assert_true(dtype_is_number(DTYPE_U8) && dtype_is_integer(DTYPE_U8) && !dtype_is_float(DTYPE_U8));
    assert_true(!dtype_is_number(DTYPE_BOOL) && !dtype_is_number(DTYPE_C64));
}

TEST(sizes_are_counted)
{
    struct type t = type_make(DTYPE_F16, 3, (int64_t[]){2, 3, 4});
    assert_int_equal(type_elements(&t), 24);
    assert_int_equal(type_bytes(&t), 48);
    struct type scalar = type_make(DTYPE_F64, 0, NULL);
    assert_int_equal(type_elements(&scalar), 1);
    struct type large = type_make(DTYPE_F32, 2, (int64_t[]){MAX_ELEMENTS, 2});
    assert_false(type_has_allowed_size(&large));
    struct type none = type_make(DTYPE_F32, 2, (int64_t[]){MAX_ELEMENTS, 0});
    assert_true(type_has_allowed_size(&none));
    assert_int_equal(type_elements(&none), 0);
}

// --- split trees -----------------------------------------------------------------------------------------------------

static const struct split_tree *random_tree(struct arena *a, struct random *r, int depth)
{
    uint64_t kind = random_below(r, depth > 0 ? 6 : 2);
    if (kind < 2)
        return kind ? SPLIT_ANY : NULL;
    const struct split_tree *left = random_tree(a, r, depth - 1);
    return split_tree_join(a, (int64_t)random_below(r, 2), left, random_tree(a, r, depth - 1));
}

TEST(meet_is_a_semilattice)
{
    ARENA(a);
    struct random r = random_seed(1);
    for (int i = 0; i < 5000; i++) {
        ARENA_MARK(mark, &a);
        const struct split_tree *x = random_tree(&a, &r, 3), *y = random_tree(&a, &r, 3), *z = random_tree(&a, &r, 3);
        const struct split_tree *xy = split_tree_meet(&a, x, y), *yz = split_tree_meet(&a, y, z);
        assert_true(split_tree_equal(split_tree_meet(&a, x, x), x));
        assert_true(split_tree_equal(xy, split_tree_meet(&a, y, x)));
        assert_true(split_tree_equal(split_tree_meet(&a, xy, z), split_tree_meet(&a, x, yz)));
        assert_true(split_tree_equal(split_tree_meet(&a, x, SPLIT_ANY), x));
        assert_null(split_tree_meet(&a, x, NULL));
    }
}
