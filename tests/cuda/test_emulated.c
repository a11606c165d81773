// The device "cuda" against the reference on an emulated GPU: planning, generated kernels, epilogues handed to the
// libraries, memory, capture. Outputs are poisoned before each run; the second run plays back what was captured.
#include "backends/costs/step_cost.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/measure.h"
#include "core/system/file.h"
#include "core/text/log.h"
#include "tests/cuda/check_tiles.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/cuda/graphs.h"
#include "tests/support/temporary_path.h"

// Most of the time kernels are compiled. Each graph that is not random is sanitized in one of five ways to run it, as
// numbers are compared without; by day half of them is compared by tiles of each kind, and with matrices in columns.
#if defined(__SANITIZE_ADDRESS__)
enum { IS_SANITIZED = 1, WAYS = 5 };
#else
enum { IS_SANITIZED = 0, WAYS = 2 };
#endif

static bool is_left_to_night(size_t graph, size_t way)
{
    return getenv("TASO_FEW") && graph % WAYS != way % WAYS;
}

static bool is_sanitized_otherwise(size_t graph, size_t way)
{
    return IS_SANITIZED && is_left_to_night(graph, way);
}

static uint64_t some_seeds(uint64_t count)
{
    return getenv("TASO_FEW") ? count / 3 : count;
}

static struct backend *open_on(const struct gpu_api *api, const struct backend_options *options)
{
    struct backend *device;
    OK((device = cuda_backend_open_on(api, options, &error)));
    return device;
}

#define EMULATED(...)                                                                                                  \
    DEVICE(device, open_on(&emulated_gpu, &(struct backend_options){.seconds_per_step = 1e-4, __VA_ARGS__}))
// A coster that guesses what steps take.
#define GUESSING(tf32) EMULATED(.cost_file = "", .never_measures = true, .allows_tf32 = tf32)

TEST(agrees_with_the_reference)
{
    ARENA(arena);
    GUESSING(false);
    for (const struct listed_graph *g = list_graphs(&arena); g->text; g++)
        if (!is_sanitized_otherwise(g->number, 0))
            check_text(device, g->text, g->number + 1, 2);
}

// With the layout of tensor cores.
TEST(agrees_with_channels_last)
{
    ARENA(arena);
    GUESSING(true);
    for (const struct listed_graph *g = list_graphs(&arena); g->text; g++)
        if (strstr(g->text, "= conv ") &&
            (g->is_own ? strstr(g->text, "= concat ") != NULL : !is_sanitized_otherwise(g->number, 4)))
            check_text(device, g->text, g->number + 1, 2);
}

TEST(agrees_on_random_graphs)
{
    GUESSING(false);
    for (uint64_t seed = 1; seed <= some_seeds(12); seed++) {
        struct maker m FREED_BY(drop_graph);
        make_graph(&m, seed);
        check_model_with(device, &m.g, random_layouts(&m.g, &m.arena, seed), seed, 20);
    }
}

// Written in place, in all layouts.
TEST(agrees_on_concatenations)
{
    GUESSING(false);
    for (uint64_t seed = 1; seed <= some_seeds(16); seed++) {
        struct maker m FREED_BY(drop_graph);
        make_concat_graph(&m, seed);
        check_model(device, &m.g, seed, 20);
        check_model_with(device, &m.g, random_layouts(&m.g, &m.arena, seed), seed, 20);
    }
}

TEST(agrees_on_random_windows)
{
    GUESSING(false);
    for (uint64_t seed = 1; seed <= some_seeds(12); seed++) {
        struct maker m FREED_BY(drop_graph);
        make_window_graph(&m, seed);
        check_model(device, &m.g, seed, 20);
        check_model_with(device, &m.g, same_layouts(&m.g, &m.arena, LAYOUT_CHANNELS_LAST), seed, 20);
    }
}

static const char *read_text(const char *path, struct arena *arena)
{
    struct file_map map;
    OK(file_map_open(&map, path, &error));
    const char *text = arena_string_n(arena, (const char *)map.bytes, map.size);
    file_map_close(&map);
    return text;
}

// The engine that is faster here is the second one; a convolution with groups has none.
TEST(measures_and_keeps_engines)
{
    TEMPORARY_PATH(path);
    ARENA(arena);
    GRAPH(g, &arena,
          "x = f32 1 8 9 9; w = weight f32 8 8 3 3; v = weight f32 8 1 3 3; a = conv :pad 1 1 1 1 x w; b = conv :pad 1 "
          "1 1 1 :group 8 a v; f = reshape :shape 8 81 b; t = transpose :perm 1 0 f; m = matmul f t; z = softmax 1 m");
    struct estimate measured, read;
    for (int run = 0; run < 2; run++) {   // measured; from the file
        EMULATED(.cost_file = path, .never_measures = run == 1);
        OK(backend_estimate(device, &g, run ? &read : &measured, &error));
        check_model(device, &g, 1, 2);
    }
    assert_int_equal(measured.n_guessed, 0);
    assert_true(fabs(measured.seconds - 1e-5 * (double)measured.n_steps) < 1e-9);
    assert_true(read.n_guessed == 0 && fabs(read.seconds - measured.seconds) < 1e-3 * measured.seconds);
    const char *text = read_text(path, &arena);
    assert_non_null(strstr(text, "(costs 4 \"processor, c, 1 multiprocessors, 10 GB/s, 100 GFLOP/s, emulation, "));
    assert_non_null(strstr(text, "\"engine 1\""));
    assert_non_null(strstr(text, "\"generated\""));
    assert_null(strstr(text, "\"engine 0\""));
}

static void note_first_choice(void *context, const struct plan *plan, const struct step *step,
                              const struct step_cost *cost)
{
    LOCAL_LIST(choice_list, list);
    struct backend *device = context;
    device->methods->list_choices(device, plan, step, &list);
    assert_true(list.count >= 2);
    assert_string_equal(list.items[0].text, "engine 1");
}

// The library ranks engine 0 first, engine 1 is faster: what a file says of one convolution orders those of another.
TEST(tries_engines_of_near_shapes_first)
{
    TEMPORARY_PATH(path);
    ARENA(arena);
    struct estimate estimate;
    GRAPH(known, &arena, "x = f32 1 8 9 9; w = weight f32 8 8 3 3; z = conv :pad 1 1 1 1 x w");
    GRAPH(near, &arena, "x = f32 1 8 11 9; w = weight f32 16 8 3 3; z = conv :pad 1 1 1 1 x w");
    for (int run = 0; run < 2; run++) {   // measured; from the file
        EMULATED(.cost_file = path, .never_measures = run == 1);
        device->policy = LAYOUTS_PLAIN;
        OK(backend_estimate(device, &known, &estimate, &error));
        assert_int_equal(estimate.n_guessed, 0);
        if (run == 1)
            OK(backend_visit_steps(device, &near, note_first_choice, device, &error));
    }
}

// The fused engine takes 50 µs, the convolution alone and a kernel for what follows 10 each.
TEST(keeps_an_epilogue_apart_where_that_is_faster)
{
    TEMPORARY_PATH(path);
    ARENA(arena);
    GRAPH(g, &arena, "x = f32 1 8 9 9; w = weight f32 8 8 3 3; c = conv :pad 1 1 1 1 x w; s = ewadd c x; z = relu s");
    struct estimate estimate;
    for (int run = 0; run < 2; run++) {   // measured; from the file
        EMULATED(.cost_file = path, .never_measures = run == 1);
        OK(backend_estimate(device, &g, &estimate, &error));
        assert_true(estimate.n_steps == 1 && estimate.n_guessed == 0 && fabs(estimate.seconds - 2e-5) < 1e-9);
        check_model(device, &g, 1, 2);
    }
    assert_non_null(strstr(read_text(path, &arena), "\"apart engine 1\""));
}

// --- tiles ------------------------------------------------------------------------------------------------------------

TEST(agrees_by_tiles)
{
    ARENA(arena);
    for (int allows_tf32 = 0; allows_tf32 <= 1; allows_tf32++) {   // with channels last
        GUESSING(allows_tf32);
        struct tiling t = {.random = random_seed(1)};
        for (const struct listed_graph *g = list_graphs(&arena); g->text; g++)
            if (!is_left_to_night(g->number, 1 + (size_t)allows_tf32))
                check_tiles(device, &t, g->text, g->number + 1, allows_tf32 ? 300 : 2);
        assert_true(t.n_tiles > (getenv("TASO_FEW") ? 40 / WAYS : 50) && t.n_tiles == t.n_steps);
    }
}

static bool compile_no_tile(const char *source, const char *architecture, void **ret_code, size_t *ret_size,
                            char *ret_reason)
{
    return !strstr(source, "OWN(sum") && emulated_gpu.compile(source, architecture, ret_code, ret_size, ret_reason);
}

TEST(does_without_a_tile_that_does_not_compile)
{
    struct gpu_api api = emulated_gpu;
    struct tiling t = {.random = random_seed(1)};
    TEXT(prelude);
    text_printf(&prelude, "%s// in no cache of kernels\n", emulated_prelude);
    api.prelude = prelude.chars;
    api.compile = compile_no_tile;
    DEVICE(device, open_on(&api, &(struct backend_options){.cost_file = ""}));
    check_tiles(device, &t,
                "x = f32 1 8 9 9; w = weight f32 16 8 3 3; v = weight f32 16 2 1 1; c = conv :pad 1 1 1 1 x w; "
                "z = conv :group 8 c v",
                1, 2);
    assert_int_equal(t.n_tiles, 2);
}

// Parts begin at a part's number times the stages, which is computed in 32 bits.
TEST(refuses_parts_beyond_32_bits)
{
    struct contraction c = {.outer = 300000, .window = 1};
    struct kernel_tile tile;
    struct kernel_tile_shape ignored;
    c.of[SIDE_ROWS].count = c.of[SIDE_BATCHES].count = 1;
    c.of[SIDE_COLUMNS].count = 32;
    assert_true(kernel_tile_parse("tile m:1 n:1 r:1 c:32 k:1 s:0 t:1 p:7000", &tile));
    assert_true(kernel_tile_shape_of(&c, &tile, &ignored));
    assert_true(kernel_tile_parse("tile m:1 n:1 r:1 c:32 k:1 s:0 t:1 p:7200", &tile));
    assert_false(kernel_tile_shape_of(&c, &tile, &ignored));
}

static void note_choice(void *context, const struct plan *plan, const struct step *step, const struct step_cost *cost)
{
    struct kernel_tile tile;
    *(int *)context += kernel_tile_parse(cost->choice, &tile);
}

// Tiles are the fastest here. With the sums of all threads in one place they are wrong.
TEST(takes_tiles_that_are_right)
{
    setenv("TASO_EMULATED_TILES", "-9e-6", 1);
    for (int is_wrong = 0; is_wrong <= 1; is_wrong++) {
        ARENA(arena);
        char *prelude = arena_string(&arena, emulated_prelude), *told = NULL;
        size_t size = 0;
        int n_tiles = 0;
        struct gpu_api api = emulated_gpu;
        struct log log = {open_memstream(&told, &size), "test", LOG_WARNING};
        struct backend_options options = {.cost_file = "", .seconds_per_step = 1e-4, .log = &log};
        GRAPH(g, &arena,
              "x = f32 1 8 9 9; w = weight f32 16 8 3 3; v = weight f32 16 2 1 1; c = conv :pad 1 1 1 1 x w; "
              "g = conv :group 8 c v; s = ewadd g c; z = relu s");
        char *own = strstr(prelude, "name[t]");
        assert_non_null(own);
        own[5] = is_wrong ? '0' : 't';
        api.prelude = prelude;
        DEVICE(device, open_on(&api, &options));
        OK(backend_visit_steps(device, &g, note_choice, &n_tiles, &error));
        check_model(device, &g, 1, 2);
        fclose(log.out);
        assert_int_equal(n_tiles, is_wrong ? 0 : 2);
        assert_int_equal(strstr(told, " of its largest entry: not taken") != NULL, is_wrong);
        free(told);
    }
    unsetenv("TASO_EMULATED_TILES");
}

// --- matrices ---------------------------------------------------------------------------------------------------------

TEST(agrees_with_matrices_in_columns)
{
    ARENA(arena);
    GUESSING(false);
    for (const struct listed_graph *g = list_graphs(&arena); g->text; g++)
        if (!is_left_to_night(g->number, 3))
            check_matrices(device, g->text, g->number + 1, 2);
}

// Figure 5 of the TASO paper: (x * y)' and y' * x', where a product is four times as fast on matrices in columns. By
// rule both results are in rows, and the first is copied; the best layouts of the first are columns. Convolutions in
// f32 that are as much faster with channels last, with copies of the first image and the last.
TEST(chooses_layouts_by_cost)
{
    static const char *const graphs[] = {
        "x = f32 12 16; y = f32 16 20; m = matmul x y; z = transpose :perm 1 0 m",
        "x = f32 12 16; y = f32 16 20; a = transpose :perm 1 0 x; b = transpose :perm 1 0 y; z = matmul b a",
        "x = f32 1 8 9 9; w = weight f32 8 8 3 3; a = conv :pad 1 1 1 1 x w; z = conv :pad 1 1 1 1 a w",
    };
    static const double plain[] = {5e-5, 1e-5, 8e-5}, best[] = {1e-5, 1e-5, 4e-5};
    setenv("TASO_EMULATED_ROWS", "4e-5", 1);
    EMULATED(.cost_file = "");
    unsetenv("TASO_EMULATED_ROWS");
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        ARENA(arena);
        GRAPH(g, &arena, graphs[i]);
        struct estimate estimate;
        device->policy = LAYOUTS_PLAIN;
        OK(backend_estimate(device, &g, &estimate, &error));
        assert_true(fabs(estimate.seconds - plain[i]) < 1e-9);
        device->policy = LAYOUTS_BEST;
        OK(backend_estimate(device, &g, &estimate, &error));
        assert_true(fabs(estimate.seconds - best[i]) < 1e-9);
        check_model(device, &g, i + 1, 2);
    }
}

// --- weights ----------------------------------------------------------------------------------------------------------

TEST(takes_copies_enough_to_be_cold)
{
    static const size_t cache = 62914560;
    for (size_t bytes = 1; bytes < 4 * cache; bytes = bytes * 5 / 3 + 1) {
        struct rotation r = measure_rotation(bytes, cache);
        assert_true(r.copies >= 1 && r.copies <= MEASURE_MOST_LAUNCHES + 1);
        if (r.is_swept)
            assert_true(r.copies == MEASURE_MOST_LAUNCHES + 1 && MEASURE_MOST_LAUNCHES * bytes <= 2 * cache);
        else
            assert_true((size_t)r.copies * bytes > 2 * cache);
    }
    assert_int_equal(measure_rotation((size_t)1 << 20, cache).copies, 121);   // a product of 512 x 512
    assert_true(measure_rotation(4096, cache).is_swept);
    assert_int_equal(measure_rotation(0, cache).copies, 1);
}

// 100 µs where weights are not in the cache: those of 256 bytes, of which the cache holds as many as a sample has
// launches, and of 2 KB; but not in small models.
TEST(small_weights_are_cold_in_large_models)
{
    ARENA(arena);
    setenv("TASO_EMULATED_COLD", "1e-4", 1);
    EMULATED(.cost_file = "");
    unsetenv("TASO_EMULATED_COLD");
    GRAPH(g, &arena, "x = f32 4 8; w = weight f32 8 8; v = weight f32 8 64; a = matmul x w; z = matmul a v");
    for (int is_small = 0; is_small <= 1; is_small++) {
        struct estimate estimate;
        backend_expect_model(device, is_small ? 4096 : (size_t)1 << 30);
        OK(backend_estimate(device, &g, &estimate, &error));
        double wanted = 2 * (is_small ? 1e-5 : 1.1e-4);
        if (fabs(estimate.seconds - wanted) > 1e-8)
            fail_msg("%g seconds in a model that is %s", estimate.seconds, is_small ? "small" : "large");
    }
}

// --- bounds -----------------------------------------------------------------------------------------------------------

static void check_bound(void *context, const struct plan *plan, const struct step *step, const struct step_cost *cost)
{
    struct backend *device = context;
    double least = device->methods->least(device, plan, step);
    assert_false(cost->is_guessed);
    if (!(least >= 1e-6 && least <= cost->seconds))
        fail_msg("%s: at least %g seconds, and measured to take %g", step->kernel->name, least, cost->seconds);
}

// The seconds that an H200 was measured to take, where no device is.
TEST(bounds_what_was_measured)
{
    static const char *const graphs[] = {
        "x = f32 1024 1024; y = f32 1024 3072; z = matmul x y",
        "x = f32 1 512; w = weight f32 512 4096; z = matmul x w",
        "x = f32 1 256 56 56; w = weight f32 256 256 1 1; z = conv :act relu x w",
        "x = f32 1 448 8 8; w = weight f32 448 1 4 1; z = conv :stride 2 1 :pad 1 0 1 0 :group 448 x w",
    };
    struct backend *device FREED_BY(close_device);
    setenv("TASO_CUDA_PLUGIN", "/nowhere", 1);
    OK((device = cuda_backend_open(&(struct backend_options){.cost_file = getenv("TASO_RECORDED")}, &error)));
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        ARENA(arena);
        GRAPH(g, &arena, graphs[i]);
        OK(backend_visit_steps(device, &g, check_bound, device, &error));
    }
}
