// The device "cuda" against the reference on an emulated GPU: planning, generated kernels, epilogues handed to the
// libraries, memory, capture. Outputs are poisoned before each run; the second run plays back what was captured.
#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/step_cost.h"
#include "backends/cuda/cuda.h"
#include "backends/cuda/measure.h"
#include "core/system/file.h"
#include "core/text/log.h"
#include "tests/backends/graphs.h"
#include "tests/backends/random_graphs.h"
#include "tests/cuda/check_text.h"
#include "tests/cuda/check_tiles.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/cuda/graphs.h"
#include "tests/support/parse_graph.h"
#include <unistd.h>

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

static struct backend *open_device(bool allows_tf32)
{
    struct error error = {0};
    struct backend_options options = {
        .cost_file = "", .never_measures = true, .allows_tf32 = allows_tf32, .seconds_per_step = 1e-4};
    struct backend *device = cuda_backend_open_on(&emulated_gpu, &options, &error);
    if (!device)
        fail_msg("%s", error.message);
    return device;
}

TEST(agrees_with_the_reference)
{
    DEVICE(device, open_device(false));
    for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
        if (!is_sanitized_otherwise(i, 0))
            check_text(device, conformance_graphs[i], i + 1, 2);
    for (size_t i = 0; i < COUNT_OF(cuda_graphs); i++)
        if (!is_sanitized_otherwise(i, 0))
            check_text(device, cuda_graphs[i], i + 1, 2);
}

// With the layout of tensor cores.
TEST(agrees_with_channels_last)
{
    DEVICE(device, open_device(true));
    for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
        if (strstr(conformance_graphs[i], "(conv ") && !is_sanitized_otherwise(i, 4))
            check_text(device, conformance_graphs[i], i + 1, 2);
    for (size_t i = 0; i < COUNT_OF(cuda_graphs); i++)
        if (strstr(cuda_graphs[i], "(concat ") && strstr(cuda_graphs[i], "(conv "))
            check_text(device, cuda_graphs[i], i + 1, 2);
}

TEST(agrees_on_random_graphs)
{
    DEVICE(device, open_device(false));
    for (uint64_t seed = 1; seed <= some_seeds(12); seed++) {
        struct maker m FREED_BY(drop_graph);
        make_graph(&m, seed);
        check_model_with(device, &m.g, random_layouts(&m.g, &m.arena, seed), seed, 20);
    }
}

// Written in place, in all layouts.
TEST(agrees_on_concatenations)
{
    DEVICE(device, open_device(false));
    for (uint64_t seed = 1; seed <= some_seeds(16); seed++) {
        struct maker m FREED_BY(drop_graph);
        make_concat_graph(&m, seed);
        check_model(device, &m.g, seed, 20);
        check_model_with(device, &m.g, random_layouts(&m.g, &m.arena, seed), seed, 20);
    }
}

TEST(agrees_on_random_windows)
{
    DEVICE(device, open_device(false));
    for (uint64_t seed = 1; seed <= some_seeds(12); seed++) {
        struct maker m FREED_BY(drop_graph);
        make_window_graph(&m, seed);
        check_model(device, &m.g, seed, 20);
        check_model_with(device, &m.g, same_layouts(&m.g, &m.arena, LAYOUT_CHANNELS_LAST), seed, 20);
    }
}

// The engine that is faster here is the second one; a convolution with groups has none.
TEST(measures_and_keeps_engines)
{
    char path[] = "/tmp/taso-costs-XXXXXX";
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct estimate measured, read;
    struct error error = {0};
    struct backend_options options = {.cost_file = path, .seconds_per_step = 1e-4};
    close(mkstemp(path));
    assert_true(read_graph(
        "(graph " X1("(f32 1 8 9 9)")
            W2("(f32 8 8 3 3)",
               "(f32 8 1 3 3)") "(let a (conv :pad 1 1 1 1 x w)) (let b (conv :pad 1 1 1 1 :group 8 a v))"
                                "(let f (reshape :shape 8 81 b)) (let t (transpose :perm 1 0 f)) (let m (matmul f t))"
                                "(let z (softmax 1 m)) (output z))",
        &g, &arena, &error));
    struct backend *device = cuda_backend_open_on(&emulated_gpu, &options, &error);
    assert_true(backend_estimate(device, &g, &measured, &error));
    assert_int_equal(measured.n_guessed, 0);
    assert_true(fabs(measured.seconds - 1e-5 * (double)measured.n_steps) < 1e-9);
    check_model(device, &g, 1, 2);
    backend_close(device);
    struct file_map map;
    assert_true(file_map_open(&map, path, &error));
    const char *text = arena_string_n(&arena, (const char *)map.bytes, map.size);
    assert_non_null(strstr(text, "(costs 4 \"processor, c, 1 multiprocessors, 10 GB/s, 100 GFLOP/s, emulation, "));
    assert_non_null(strstr(text, "\"engine 1\""));
    assert_non_null(strstr(text, "\"generated\""));
    assert_null(strstr(text, "\"engine 0\""));
    file_map_close(&map);
    options.never_measures = true;
    device = cuda_backend_open_on(&emulated_gpu, &options, &error);
    assert_true(backend_estimate(device, &g, &read, &error));
    assert_true(read.n_guessed == 0 && fabs(read.seconds - measured.seconds) < 1e-3 * measured.seconds);
    backend_close(device);
    unlink(path);
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
    char path[] = "/tmp/taso-costs-XXXXXX";
    ARENA(arena);
    struct error error = {0};
    struct estimate estimate;
    struct backend_options options = {.cost_file = path, .seconds_per_step = 1e-4};
    close(mkstemp(path));
    GRAPH(known, &arena,
          "(graph " X1("(f32 1 8 9 9)") W1("(f32 8 8 3 3)") "(let z (conv :pad 1 1 1 1 x w)) (output z))");
    GRAPH(near, &arena,
          "(graph " X1("(f32 1 8 11 9)") W1("(f32 16 8 3 3)") "(let z (conv :pad 1 1 1 1 x w)) (output z))");
    for (int run = 0; run < 2; run++) {   // measured; from the file
        options.never_measures = run == 1;
        DEVICE(device, cuda_backend_open_on(&emulated_gpu, &options, &error));
        device->policy = LAYOUTS_PLAIN;
        assert_true(backend_estimate(device, &known, &estimate, &error) && estimate.n_guessed == 0);
        if (run == 1)
            assert_true(backend_visit_steps(device, &near, note_first_choice, device, &error));
    }
    unlink(path);
}

// The fused engine takes 50 µs, the convolution alone and a kernel for what follows 10 each.
TEST(keeps_an_epilogue_apart_where_that_is_faster)
{
    char path[] = "/tmp/taso-costs-XXXXXX";
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct estimate estimate;
    struct error error = {0};
    struct backend_options options = {.cost_file = path, .seconds_per_step = 1e-4};
    close(mkstemp(path));
    assert_true(read_graph("(graph " X1("(f32 1 8 9 9)")
                               W1("(f32 8 8 3 3)") "(let c (conv :pad 1 1 1 1 x w)) (let s (ewadd c x))"
                                                   "(let z (relu s)) (output z))",
                           &g, &arena, &error));
    for (int run = 0; run < 2; run++) {   // measured; from the file
        options.never_measures = run == 1;
        DEVICE(device, cuda_backend_open_on(&emulated_gpu, &options, &error));
        assert_true(backend_estimate(device, &g, &estimate, &error));
        assert_true(estimate.n_steps == 1 && estimate.n_guessed == 0 && fabs(estimate.seconds - 2e-5) < 1e-9);
        check_model(device, &g, 1, 2);
    }
    struct file_map map;
    assert_true(file_map_open(&map, path, &error));
    assert_non_null(strstr(arena_string_n(&arena, (const char *)map.bytes, map.size), "\"apart engine 1\""));
    file_map_close(&map);
    unlink(path);
}

// --- tiles ------------------------------------------------------------------------------------------------------------

TEST(agrees_by_tiles)
{
    for (int allows_tf32 = 0; allows_tf32 <= 1; allows_tf32++) {   // with channels last
        DEVICE(device, open_device(allows_tf32));
        struct tiling t = {.random = random_seed(1)};
        for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
            if (!is_left_to_night(i, 1 + (size_t)allows_tf32))
                check_tiles(device, &t, conformance_graphs[i], i + 1, allows_tf32 ? 300 : 2);
        for (size_t i = 0; i < COUNT_OF(cuda_graphs); i++)
            if (!is_left_to_night(i, 1 + (size_t)allows_tf32))
                check_tiles(device, &t, cuda_graphs[i], i + 1, allows_tf32 ? 300 : 2);
        assert_true(t.n_tiles > 50 / WAYS && t.n_tiles == t.n_steps);
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
    struct backend_options options = {.cost_file = ""};
    struct tiling t = {.random = random_seed(1)};
    TEXT(prelude);
    text_printf(&prelude, "%s// in no cache of kernels\n", emulated_prelude);
    api.prelude = prelude.chars;
    api.compile = compile_no_tile;
    DEVICE(device, cuda_backend_open_on(&api, &options, &(struct error){0}));
    assert_non_null(device);
    check_tiles(device, &t,
                "(graph " X1("(f32 1 8 9 9)")
                    W2("(f32 16 8 3 3)", "(f32 16 2 1 1)") "(let c (conv :pad 1 1 1 1 x w)) (let z (conv :group 8 c v))"
                                                           "(output z))",
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
        struct error error = {0};
        struct log log = {open_memstream(&told, &size), "test", LOG_WARNING};
        struct backend_options options = {.cost_file = "", .seconds_per_step = 1e-4, .log = &log};
        GRAPH(g, &arena,
              "(graph " X1("(f32 1 8 9 9)")
                  W2("(f32 16 8 3 3)", "(f32 16 2 1 1)") "(let c (conv :pad 1 1 1 1 x w)) (let g (conv :group 8 c v))"
                                                         "(let s (ewadd g c)) (let z (relu s)) (output z))");
        char *own = strstr(prelude, "name[t]");
        assert_non_null(own);
        own[5] = is_wrong ? '0' : 't';
        api.prelude = prelude;
        DEVICE(device, cuda_backend_open_on(&api, &options, &error));
        if (!device || !backend_visit_steps(device, &g, note_choice, &n_tiles, &error))
            fail_msg("%s", error.message);
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
    DEVICE(device, open_device(false));
    for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
        if (!is_left_to_night(i, 3))
            check_matrices(device, conformance_graphs[i], i + 1, 2);
    for (size_t i = 0; i < COUNT_OF(cuda_graphs); i++)
        if (!is_left_to_night(i, 3))
            check_matrices(device, cuda_graphs[i], i + 1, 2);
}

// Figure 5 of the TASO paper: (x * y)' and y' * x', where a product is four times as fast on matrices in columns. By
// rule both results are in rows, and the first is copied; the best layouts of the first are columns. Convolutions in
// f32 that are as much faster with channels last, with copies of the first image and the last.
TEST(chooses_layouts_by_cost)
{
    static const char *const graphs[] = {
        "(graph " X2("(f32 12 16)", "(f32 16 20)") "(let m (matmul x y)) (let z (transpose :perm 1 0 m)) (output z))",
        "(graph " X2("(f32 12 16)", "(f32 16 20)") "(let a (transpose :perm 1 0 x)) (let b (transpose :perm 1 0 y))"
                                                   "(let z (matmul b a)) (output z))",
        "(graph " X1("(f32 1 8 9 9)") W1("(f32 8 8 3 3)") "(let a (conv :pad 1 1 1 1 x w))"
                                                          "(let z (conv :pad 1 1 1 1 a w)) (output z))",
    };
    static const double plain[] = {5e-5, 1e-5, 8e-5}, best[] = {1e-5, 1e-5, 4e-5};
    struct error error = {0};
    struct backend_options options = {.cost_file = "", .seconds_per_step = 1e-4};
    setenv("TASO_EMULATED_ROWS", "4e-5", 1);
    DEVICE(device, cuda_backend_open_on(&emulated_gpu, &options, &error));
    unsetenv("TASO_EMULATED_ROWS");
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        ARENA(arena);
        GRAPH(g, &arena, graphs[i]);
        struct estimate estimate;
        device->policy = LAYOUTS_PLAIN;
        assert_true(backend_estimate(device, &g, &estimate, &error) && fabs(estimate.seconds - plain[i]) < 1e-9);
        device->policy = LAYOUTS_BEST;
        assert_true(backend_estimate(device, &g, &estimate, &error) && fabs(estimate.seconds - best[i]) < 1e-9);
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
    struct error error = {0};
    struct backend_options options = {.cost_file = "", .seconds_per_step = 1e-4};
    setenv("TASO_EMULATED_COLD", "1e-4", 1);
    DEVICE(device, cuda_backend_open_on(&emulated_gpu, &options, &error));
    unsetenv("TASO_EMULATED_COLD");
    GRAPH(g, &arena,
          "(graph " X1("(f32 4 8)") W2("(f32 8 8)", "(f32 8 64)") "(let a (matmul x w))"
                                                                  "(let z (matmul a v)) (output z))");
    for (int is_small = 0; is_small <= 1; is_small++) {
        struct estimate estimate;
        backend_expect_model(device, is_small ? 4096 : (size_t)1 << 30);
        assert_true(backend_estimate(device, &g, &estimate, &error));
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
        "(graph " X1("(f32 1024 1024)") "(let y (input 1) (f32 1024 3072)) (let z (matmul x y)) (output z))",
        "(graph " X1("(f32 1 512)") W1("(f32 512 4096)") "(let z (matmul x w)) (output z))",
        "(graph " X1("(f32 1 256 56 56)") W1("(f32 256 256 1 1)") "(let z (conv :act relu x w)) (output z))",
        "(graph " X1("(f32 1 448 8 8)") W1("(f32 448 1 4 1)") "(let z (conv :stride 2 1 :pad 1 0 1 0 :group 448 x w))"
                                                              "(output z))",
    };
    struct error error = {0};
    struct backend_options options = {.cost_file = getenv("TASO_RECORDED")};
    setenv("TASO_CUDA_PLUGIN", "/nowhere", 1);
    DEVICE(device, cuda_backend_open(&options, &error));
    if (!device)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        ARENA(arena);
        GRAPH(g, &arena, graphs[i]);
        assert_true(backend_visit_steps(device, &g, check_bound, device, &error));
    }
}
