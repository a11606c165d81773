#include "core/memory/heap.h"
#include "tests/support/check.h"
#include <sys/resource.h>

TEST(counts_what_is_in_use)
{
    size_t before = mem_in_use();
    char *block = mem_alloc(100);
    assert_int_equal(mem_in_use() - before, 100);
    block = mem_resize(block, 100, 40);
    assert_int_equal(mem_in_use() - before, 40);
    mem_free(block, 40);
    assert_int_equal(mem_in_use(), before);
}

TEST(nothing_is_null)
{
    assert_null(mem_alloc(0));
    assert_null(mem_alloc_zero(0));
    mem_free(NULL, 0);
    char *block = mem_resize(NULL, 0, 8);
    assert_non_null(block);
    assert_null(mem_resize(block, 8, 0));
}

TEST(zeroed_blocks_are_zero)
{
    static const char zeros[4096];
    char *block = mem_alloc_zero(sizeof zeros);
    assert_memory_equal(block, zeros, sizeof zeros);
    mem_free(block, sizeof zeros);
}

static const size_t impossible[] = {SIZE_MAX, (size_t)PTRDIFF_MAX + 1};

TEST_OF_EACH(impossible_sizes_reach_the_hook, size, impossible)
{
    MUST_RUN_OUT(mem_alloc(*size));
    assert_int_equal(bytes_wanted, *size);
}

TEST(a_limit_bounds_what_is_in_use)
{
    enum { LIMIT = 1 << 20 };
    size_t before = mem_in_use();
    mem_set_limit(before + LIMIT);
    assert_true(mem_available() <= LIMIT);
    char *block = mem_alloc(LIMIT / 2);
    assert_true(mem_available() <= LIMIT / 2);
    for (volatile int is_huge = 0; is_huge < 2; is_huge++) {
        const volatile size_t more = is_huge ? SIZE_MAX - 1 : LIMIT / 2 + 1;
        MUST_RUN_OUT(mem_alloc(more));
        assert_int_equal(bytes_wanted, more);
        MUST_RUN_OUT(mem_resize(block, LIMIT / 2, is_huge ? more : LIMIT + 1));
    }
    block = mem_resize(block, LIMIT / 2, LIMIT);
    mem_set_limit(1);   // what is in use already may shrink
    block = mem_resize(block, LIMIT, LIMIT / 4);
    mem_free(block, LIMIT / 4);
    mem_set_limit(SIZE_MAX);
    assert_int_equal(mem_in_use(), before);
}

static int look_within_limit(int room)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%zu", &pages) != 1)
        return 77;
    fclose(file);
    rlim_t most = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + (rlim_t)room;
    setrlimit(RLIMIT_AS, &(struct rlimit){most, RLIM_INFINITY});
    return mem_available() > (size_t)room ? 1 : mem_available() < (size_t)room / 2 ? 2 : 0;
}

TEST(a_limit_of_the_process_bounds_what_is_available)
{
    assert_in_range(mem_available(), 1, SIZE_MAX);
    int status = end_of(look_within_limit, 64 << 20);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77));
}

TEST(sums_that_do_not_fit_are_no_small_numbers)
{
    assert_true(mem_sum(SIZE_MAX, 1) == SIZE_MAX && mem_sum(SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 1) == SIZE_MAX);
    assert_true(mem_sum(SIZE_MAX, 0) == SIZE_MAX && mem_sum(2, 3) == 5);
}

TEST(products_that_do_not_fit_are_no_small_blocks)
{
    volatile size_t huge = SIZE_MAX / 4 + 2;
    assert_int_equal(mem_product(huge, 4), SIZE_MAX);
    assert_int_equal(mem_product(huge, 0), 0);
    assert_int_equal(mem_product(1 << 10, 1 << 10), 1 << 20);
    MUST_RUN_OUT(mem_new_array(int, huge));
    assert_int_equal(bytes_wanted, SIZE_MAX);
}

TEST(peak_is_known_and_plausible)
{
    size_t peak = mem_peak_resident();
    assert_true(peak > 100 << 10);
    assert_true(peak < (size_t)64 << 30);
}

TEST(vectors_keep_their_items_as_they_grow)
{
    VEC(uint64_t) v = {0};
    for (uint64_t i = 0; i < 10000; i++) {
        vec_push(&v, i * i);
        assert_int_equal(vec_last(&v), i * i);
        assert_true(v.capacity >= v.count);
    }
    for (uint64_t i = 0; i < 10000; i++)
        assert_int_equal(v.items[i], i * i);
    assert_int_equal(vec_pop(&v), 9999 * 9999);
    vec_clear(&v);
    assert_int_equal(v.count, 0);
    vec_free(&v);
    assert_null(v.items);
    assert_int_equal(v.capacity, 0);
}

TEST(vectors_reserve_what_is_asked)
{
    VEC(struct { char name[24]; }) v = {0};
    vec_reserve(&v, 1000);
    assert_true(v.capacity >= 1000);
    void *items = v.items;
    vec_reserve(&v, 10);
    assert_ptr_equal(items, v.items);
    vec_free(&v);
}

static bool has_smaller_key(const void *context, const void *a, const void *b)
{
    const uint32_t *keys = context;
    return keys[*(const uint16_t *)a] < keys[*(const uint16_t *)b];
}

// Places in a table of keys that are all different: each comes when all smaller ones are gone.
TEST(heaps_give_what_stands_before_all_others)
{
    enum { N = 300 };
    struct random r = random_seed(3);
    VEC(uint16_t) v = {0};
    uint32_t keys[N];
    bool is_there[N] = {false};
    for (uint32_t i = 0; i < N; i++)
        keys[i] = (uint32_t)random_below(&r, 1 << 20) * N + i;
    for (uint16_t i = 0; i < N || v.count;) {
        if (i < N && (v.count == 0 || random_below(&r, 3))) {
            heap_push(&v, i, has_smaller_key, keys);
            is_there[i++] = true;
            continue;
        }
        uint16_t first = heap_pop(&v, has_smaller_key, keys);
        assert_true(is_there[first]);
        is_there[first] = false;
        for (uint32_t k = 0; k < N; k++)
            assert_true(!is_there[k] || keys[k] > keys[first]);
    }
    vec_free(&v);
}

TEST(heaps_are_made_of_anything)
{
    VEC(uint16_t) v = {0};
    uint32_t keys[50];
    for (uint16_t i = 0; i < 50; i++) {
        keys[i] = (i * 37u) % 50;
        vec_push(&v, i);
    }
    heap_make(&v, has_smaller_key, keys);
    for (uint32_t i = 0; i < 50; i++)
        assert_int_equal(keys[heap_pop(&v, has_smaller_key, keys)], i);
    vec_free(&v);
}

// Leaves by one of three ways, with memory of every kind in use.
static int leave(int way)
{
    LOCAL_ARRAY(uint64_t, items, 3);
    LOCAL_VEC(uint64_t, vec);
    items[2] = 7;
    vec_push(&vec, items[2]);
    for (int i = 0; i < 2; i++) {
        LOCAL_ZEROS(uint32_t, zeros, 1000);
        vec_push(&vec, zeros[999]);
        if (way == 0)
            return (int)vec.count;
        if (way == 1)
            break;
    }
    return (int)(vec.items[0] + vec.items[1]);
}

TEST(what_is_local_ends_with_its_block)
{
    const int expected[] = {2, 7, 7};
    size_t before = mem_in_use();
    for (int way = 0; way < 3; way++) {
        assert_int_equal(leave(way), expected[way]);
        assert_int_equal(mem_in_use(), before);
    }
}

static bool is_asked(int *n_asked, bool answer)
{
    ++*n_asked;
    return answer;
}

TEST(questions_of_all_items_end_with_the_one_that_decides)
{
    static const int items[] = {4, 7, 7, 1};
    int n_asked = 0;
    assert_true(ANY(int, i, 4, is_asked(&n_asked, items[i] == 7)));
    assert_int_equal(n_asked, 2);
    assert_false(ALL(int, i, 4, is_asked(&n_asked, items[i] == 4)));
    assert_int_equal(n_asked, 4);
    assert_false(ANY(int, i, 4, is_asked(&n_asked, items[i] > 7)));
    assert_true(ALL(int, i, 4, is_asked(&n_asked, items[i] < 8)));
    assert_int_equal(n_asked, 12);
    assert_false(ANY(int, i, 0, items[i] == items[i]));
    assert_true(ALL(int, i, 0, items[i] != items[i]));
    assert_int_equal(COUNT(size_t, i, 4, items[i] & 6), 3);
    assert_true(ANY(int, i, 4, ALL(int, k, 4, items[i] >= items[k])));
}
