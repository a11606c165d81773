// The device "cuda" against the reference on an emulated GPU: planning, generated kernels, epilogues handed to the
// libraries, memory, capture. Outputs are poisoned before each run; the second run plays back what was captured.
#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/cuda/cuda.h"
#include "core/system/file.h"
#include "tests/backends/graphs.h"
#include "tests/backends/random_graphs.h"
#include "tests/cuda/check_text.h"
#include "tests/cuda/emulated_gpu.h"
#include "tests/cuda/graphs.h"
#include <unistd.h>

// Of random graphs: most of the time their kernels are compiled.
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

static void agrees_with_the_reference(void **state)
{
    struct backend *device = open_device(false);
    for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
        check_text(device, conformance_graphs[i], i + 1, 2);
    for (size_t i = 0; i < COUNT_OF(cuda_graphs); i++)
        check_text(device, cuda_graphs[i], i + 1, 2);
    backend_close(device);
}

// With the layout of tensor cores.
static void agrees_with_channels_last(void **state)
{
    struct backend *device = open_device(true);
    for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
        if (strstr(conformance_graphs[i], "(conv "))
            check_text(device, conformance_graphs[i], i + 1, 2);
    for (size_t i = 0; i < COUNT_OF(cuda_graphs); i++)
        if (strstr(cuda_graphs[i], "(concat ") && strstr(cuda_graphs[i], "(conv "))
            check_text(device, cuda_graphs[i], i + 1, 2);
    backend_close(device);
}

static void agrees_on_random_graphs(void **state)
{
    struct backend *device = open_device(false);
    for (uint64_t seed = 1; seed <= some_seeds(12); seed++) {
        struct maker m;
        make_graph(&m, seed);
        check_model_with(device, &m.g, random_layouts(&m.g, &m.arena, seed), seed, 20);
        drop_graph(&m);
    }
    backend_close(device);
}

// Written in place, in all layouts.
static void agrees_on_concatenations(void **state)
{
    struct backend *device = open_device(false);
    for (uint64_t seed = 1; seed <= some_seeds(16); seed++) {
        struct maker m;
        make_concat_graph(&m, seed);
        check_model(device, &m.g, seed, 20);
        check_model_with(device, &m.g, random_layouts(&m.g, &m.arena, seed), seed, 20);
        drop_graph(&m);
    }
    backend_close(device);
}

static void agrees_on_random_windows(void **state)
{
    struct backend *device = open_device(false);
    for (uint64_t seed = 1; seed <= some_seeds(12); seed++) {
        struct maker m;
        make_window_graph(&m, seed);
        check_model(device, &m.g, seed, 20);
        check_model_with(device, &m.g, same_layouts(&m.g, &m.arena, LAYOUT_CHANNELS_LAST), seed, 20);
        drop_graph(&m);
    }
    backend_close(device);
}

// The engine that is faster here is the second one; a convolution with groups has none.
static void measures_and_keeps_engines(void **state)
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
    assert_non_null(strstr(text, "(costs 3 \"processor, c, 1 multiprocessors, 10 GB/s, 100 GFLOP/s, emulation, "));
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

// The fused engine takes 50 µs, the convolution alone and a kernel for what follows 10 each.
static void keeps_an_epilogue_apart_where_that_is_faster(void **state)
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
        struct backend *device = cuda_backend_open_on(&emulated_gpu, &options, &error);
        assert_true(backend_estimate(device, &g, &estimate, &error));
        assert_true(estimate.n_steps == 1 && estimate.n_guessed == 0 && fabs(estimate.seconds - 2e-5) < 1e-9);
        check_model(device, &g, 1, 2);
        backend_close(device);
    }
    struct file_map map;
    assert_true(file_map_open(&map, path, &error));
    assert_non_null(strstr(arena_string_n(&arena, (const char *)map.bytes, map.size), "\"apart engine 1\""));
    file_map_close(&map);
    unlink(path);
}

RUN_TESTS(TEST(agrees_with_the_reference), TEST(agrees_with_channels_last), TEST(agrees_on_random_graphs),
          TEST(agrees_on_concatenations), TEST(agrees_on_random_windows), TEST(measures_and_keeps_engines),
          TEST(keeps_an_epilogue_apart_where_that_is_faster))
