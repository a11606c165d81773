// Code by text, on a table that only counts what is compiled and loaded.
#include "backends/cuda/kernel_cache.h"
#include "core/system/interrupt.h"
#include "tests/support/check.h"

static atomic_size_t n_compiled;
static size_t n_loaded, n_unloaded;

static void describe(char *ret_text, size_t size)
{
    snprintf(ret_text, size, "counted");
}

static bool compile(const char *source, const char *architecture, void **ret_code, size_t *ret_size, char *ret_reason)
{
    n_compiled++;
    *ret_size = 1;
    *ret_code = calloc(1, *ret_size);
    return true;
}

static struct gpu_kernel *load(struct gpu *gpu, const void *code, size_t size, char *ret_reason)
{
    n_loaded++;
    return malloc(1);
}

static void unload(struct gpu *gpu, struct gpu_kernel *kernel)
{
    n_unloaded++;
    free(kernel);
}

static const struct gpu_api counting = {
    .describe = describe, .compile = compile, .free_code = free, .load = load, .unload = unload};

static struct kernel_cache *open_cache(void)
{
    setenv("XDG_CACHE_HOME", "/dev/null", 1);   // nothing is kept
    n_compiled = n_loaded = n_unloaded = 0;
    return kernel_cache_new(&counting, NULL, "sm_90");
}

static void expect_compiled(struct kernel_cache *cache, size_t n)
{
    assert_int_equal(n_compiled, n);
    assert_int_equal(n_loaded, n);
    kernel_cache_free(cache);
    assert_int_equal(n_unloaded, n);
}

// Steps expect all their texts before they ask for the first.
TEST(what_is_expected_and_wanted_is_compiled_once)
{
    struct kernel_cache *cache = open_cache();
    for (const char *const *text = (const char *const[]){"a", "b", "c", NULL}; *text; text++)
        kernel_cache_expect(cache, *text);
    for (const char *const *text = (const char *const[]){"b", "a", "c", "d", NULL}; *text; text++)
        assert_non_null(kernel_cache_find(cache, *text, &(struct error){0}));
    expect_compiled(cache, 4);
}

static bool want_end(void *context)
{
    return true;
}

TEST(what_is_only_expected_is_not_compiled_once_an_end_is_wanted)
{
    struct kernel_cache *cache = open_cache();
    kernel_cache_expect(cache, "a");
    interrupt_listen(&(struct interrupt_listener){.wants_end = want_end});
    kernel_cache_make_expected(cache);
    assert_int_equal(n_compiled, 0);
    interrupt_listen(NULL);
    kernel_cache_make_expected(cache);
    expect_compiled(cache, 1);
}
