#include "tests/support/check.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
static int __asan_address_is_poisoned(const volatile void *address)
{
    return address != NULL;
}
#endif

TEST(alignment_is_kept)
{
    ARENA(a);
    for (size_t round = 0; round < 200; round++)
        for (size_t align = 1; align <= 256; align *= 2) {
            unsigned char *p = arena_alloc(&a, round % 7, align);
            assert_non_null(p);
            assert_int_equal((uintptr_t)p % align, 0);
        }
}

TEST(copies_are_copies)
{
    ARENA(a);
    const int numbers[] = {3, 1, 4, 1, 5};
    assert_memory_equal(arena_copy_array(&a, numbers, 5), numbers, sizeof numbers);
    assert_string_equal(arena_string(&a, "one"), "one");
    assert_string_equal(arena_string_n(&a, "twothree", 3), "two");
    assert_string_equal(arena_string_n(&a, NULL, 0), "");
    assert_string_equal(arena_printf(&a, "%d-%s", 7, "x"), "7-x");
    assert_string_equal(arena_printf(&a, "%s", ""), "");
    const uint64_t *zeros = arena_array(&a, uint64_t, 50);
    for (int i = 0; i < 50; i++)
        assert_int_equal(zeros[i], 0);
}

// A model's packed weights, each in a block of its own that doubles, left a rest in each.
TEST(what_is_reserved_lies_in_one_piece)
{
    enum { N = 64, SIZE = 100000 };
    ARENA(a);
    arena_alloc(&a, 10, 1);
    arena_reserve(&a, N * SIZE);
    size_t total = a.total;
    unsigned char *first = arena_alloc(&a, SIZE, 1);
    for (int i = 1; i < N; i++)
        assert_ptr_equal(arena_alloc(&a, SIZE, 1), first + (size_t)i * SIZE);
    assert_true(a.total == total && total < N * SIZE + (1 << 21));
    arena_reserve(&a, 1);
}

// Else the system has small pages at both ends, where caches have other neighbours in each process.
TEST(large_blocks_are_whole_huge_pages)
{
    enum { PAGE = 1 << 21 };
    for (size_t size = PAGE; size < 4 * (size_t)PAGE; size += PAGE / 3) {
        ARENA(a);
        uintptr_t first = (uintptr_t)arena_alloc(&a, size, 64);
        assert_true(first % PAGE == 64 && a.total % PAGE == 0 && a.total < size + 2 * PAGE);
        assert_int_equal(a.total, mem_in_use());
    }
}

TEST(a_large_request_gets_its_own_block)
{
    struct arena a;
    arena_init(&a);
    char *before = arena_string(&a, "before");
    char *large = arena_alloc(&a, 10 << 20, 1);
    memset(large, 'x', 10 << 20);
    char *after = arena_string(&a, "after");
    assert_string_equal(before, "before");
    assert_string_equal(after, "after");
    assert_true(a.total >= 10 << 20);
    assert_int_equal(a.total, mem_in_use());
    arena_free(&a);
    assert_int_equal(a.total, 0);
}

// Requests of many sizes, none of which fits into what the ones before left.
TEST(kept_blocks_do_not_pile_up)
{
    ARENA(a);
    arena_string(&a, "kept");
    struct arena_mark mark = arena_mark(&a);
    for (size_t size = 1 << 20; size < 5 << 20; size += 4096) {
        arena_alloc(&a, 1 << 19, 1);
        arena_alloc(&a, size, 1);
        arena_release(&a, mark);
        assert_true(a.total < 3 * (size + (1 << 19)));
        assert_int_equal(a.total, mem_in_use());
    }
    assert_int_equal(arena_used(&a), sizeof "kept");
}

TEST(release_gives_the_same_memory_again)
{
    ARENA(a);
    arena_string(&a, "kept");
    struct arena_mark mark = arena_mark(&a);
    size_t total = 0;
    void *first = NULL;
    for (int round = 0; round < 5; round++) {
        void *p = arena_alloc(&a, 100, 8);
        for (int i = 0; i < 1000; i++)
            arena_alloc(&a, 100, 8);
        if (round == 0) {
            first = p;
            total = a.total;
        }
        assert_ptr_equal(p, first);
        assert_int_equal(a.total, total);
        arena_release(&a, mark);
    }
}

TEST(a_mark_of_an_empty_arena_releases_everything)
{
    ARENA(a);
    struct arena_mark mark = arena_mark(&a);
    arena_release(&a, mark);
    void *first = arena_alloc(&a, 8, 8);
    arena_alloc(&a, 5000, 8);
    arena_release(&a, mark);
    assert_ptr_equal(arena_alloc(&a, 8, 8), first);
}

TEST(kept_blocks_too_small_are_passed_by)
{
    ARENA(a);
    arena_alloc(&a, 8, 8);
    struct arena_mark mark = arena_mark(&a);
    for (int i = 0; i < 100; i++)
        arena_alloc(&a, 200, 8);
    arena_release(&a, mark);
    char *large = arena_alloc(&a, 1 << 20, 8);
    memset(large, 1, 1 << 20);
    for (int i = 0; i < 100; i++)
        memset(arena_alloc(&a, 200, 8), 2, 200);
    for (int i = 0; i < 1 << 20; i++)
        assert_int_equal(large[i], 1);
}

// Half of all memory, twice which is no small number.
TEST(what_no_block_has_room_for_is_refused)
{
    ARENA(a);
    MUST_RUN_OUT(arena_alloc(&a, SIZE_MAX / 2 + 100, 8));
}

struct piece {
    unsigned char *bytes;
    size_t size;
    unsigned char filling;
};

static void check_piece(const struct piece *p)
{
    for (size_t i = 0; i < p->size; i++)
        assert_int_equal(p->bytes[i], p->filling);
}

// Under AddressSanitizer, which then finds whoever uses them still.
static void check_no_piece_is_accessible(const struct piece *pieces, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t byte = 0; byte < pieces[i].size; byte++)
            assert_true(__asan_address_is_poisoned(pieces[i].bytes + byte));
}

// Random allocations, marks and releases; the pieces that are alive must never be touched by anything else.
TEST(pieces_never_overlap)
{
    struct random r = random_seed(11);
    ARENA(a);
    VEC(struct piece) pieces = {0};
    struct {
        struct arena_mark mark;
        size_t pieces;
    } marks[8];
    size_t depth = 0;
    for (int step = 0; step < 20000; step++) {
        uint64_t choice = random_below(&r, 100);
        if (choice < 4 && depth < COUNT_OF(marks)) {
            marks[depth].mark = arena_mark(&a);
            marks[depth++].pieces = pieces.count;
        } else if (choice < 8 && depth > 0) {
            arena_release(&a, marks[--depth].mark);
            check_no_piece_is_accessible(pieces.items + marks[depth].pieces, pieces.count - marks[depth].pieces);
            pieces.count = marks[depth].pieces;
        } else {
            struct piece p = {.size = random_below(&r, choice == 99 ? 5000 : 60), .filling = (unsigned char)step};
            p.bytes = arena_alloc(&a, p.size, (size_t)1 << random_below(&r, 6));
            memset(p.bytes, p.filling, p.size);
            vec_push(&pieces, p);
        }
        if (step % 500 == 0)
            for (size_t i = 0; i < pieces.count; i++)
                check_piece(&pieces.items[i]);
    }
    vec_free(&pieces);
}

static size_t used_in_block(struct arena *a, size_t size)
{
    ARENA_MARK(mark, a);
    arena_alloc(a, size, 1);
    return arena_used(a);
}

TEST(a_mark_of_a_block_ends_with_it)
{
    ARENA(arena);
    arena_alloc(&arena, 100, 1);
    assert_int_equal(used_in_block(&arena, 50), 150);
    assert_int_equal(arena_used(&arena), 100);
    assert_int_equal(used_in_block(&arena, 100000), 100100);
    assert_int_equal(arena_used(&arena), 100);
}
