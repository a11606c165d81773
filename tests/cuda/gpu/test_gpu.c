// The device "cuda" on a GPU against the reference. Exit code 77 where there is none, unless TASO_REQUIRE_CUDA=1.
//
// Every operator, fusion and layout in f32 (1e-5), the same graphs in f16 and bf16 (1e-2) and with TF32 (1e-3), outputs
// poisoned; a captured run equals the eager one bit by bit; what is measured is found again.
#include "backends/cuda/cuda.h"
#include "tests/backends/random_graphs.h"
#include "tests/cuda/check_text.h"
#include "tests/cuda/graphs.h"
#include <stdlib.h>

#define SKIPPED 77

static struct backend *open_gpu(bool allows_tf32, struct error *error)
{
    struct backend_options options = {.cost_file = "", .never_measures = true, .allows_tf32 = allows_tf32};
    return cuda_backend_open(&options, error);
}

static void check_all(bool allows_tf32, double allowed)
{
    struct error error = {0};
    struct backend *device = open_gpu(allows_tf32, &error);
    if (!device)
        fail_msg("%s", error.message);
    for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
        check_text(device, conformance_graphs[i], i + 1, allowed);
    for (size_t i = 0; i < COUNT_OF(cuda_graphs); i++)
        check_text(device, cuda_graphs[i], i + 1, allowed);
    backend_close(device);
}

static void agrees_in_f32(void **state)
{
    check_all(false, 1);
}

static void agrees_with_tf32(void **state)
{
    check_all(true, 100);
}

// The graph with another element type in place of f32; false: an operator does not take it.
static bool is_well_typed(const char *text, const char *type, char *ret_text, size_t size)
{
    struct arena arena;
    struct graph g;
    struct error ignored = {0};
    size_t used = 0;
    for (; *text && used + 8 < size; text++) {
        bool is_type = strncmp(text, "f32", 3) == 0;
        used += (size_t)snprintf(ret_text + used, size - used, "%.*s", is_type ? 4 : 1, is_type ? type : text);
        text += is_type ? 2 : 0;
    }
    arena_init(&arena);
    bool is_read = read_graph(ret_text, &g, &arena, &ignored);
    graph_free(&g);
    arena_free(&arena);
    return is_read;
}

static void check_in_type(const char *type, double allowed)
{
    struct error error = {0};
    char text[4096];
    int n = 0;
    struct backend *device = open_gpu(false, &error);
    for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
        if (is_well_typed(conformance_graphs[i], type, text, sizeof text)) {
            check_text(device, text, i + 1, allowed);
            n++;
        }
    backend_close(device);
    assert_true(n > 60);
}

// check_model allows 4e-3 in f16 and 3e-2 in bf16.
static void agrees_in_f16(void **state)
{
    check_in_type("f16", 2.5);
}

static void agrees_in_bf16(void **state)
{
    check_in_type("bf16", 1);
}

static void agrees_on_random_graphs(void **state)
{
    struct error error = {0};
    struct backend *device = open_gpu(false, &error);
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct maker m;
        make_graph(&m, seed);
        check_model_with(device, &m.g, random_layouts(&m.g, &m.arena, seed), seed, 20);
        drop_graph(&m);
    }
    backend_close(device);
}

// The first run launches step by step, the second what was captured of it.
static void captures_what_it_runs(void **state)
{
    struct error error = {0};
    struct backend *device = open_gpu(false, &error);
    for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++) {
        struct arena arena;
        struct graph g;
        struct random random = random_seed(i);
        struct tensor_value inputs[MOST_LEAVES] = {0}, weights[MOST_LEAVES] = {0};
        struct tensor_value first[MOST_OUTPUTS], second[MOST_OUTPUTS];
        arena_init(&arena);
        assert_true(read_graph(conformance_graphs[i], &g, &arena, &error));
        fill_leaves(&g, operators[OP_WEIGHT], weights, &arena, &random);
        fill_leaves(&g, operators[OP_INPUT], inputs, &arena, &random);
        struct model *m = backend_prepare(device, &g, MOST_LEAVES, weights, &error);
        assert_non_null(m);
        model_allocate_outputs(m, first, &arena);
        model_allocate_outputs(m, second, &arena);
        assert_true(model_run(m, inputs, first, &error) && model_run(m, inputs, second, &error));
        for (size_t k = 0; k < g.outputs.count; k++)
            if (memcmp(first[k].data, second[k].data, type_bytes(&first[k].type)) != 0)
                fail_msg("a captured run differs: %s", conformance_graphs[i]);
        model_free(m);
        graph_free(&g);
        arena_free(&arena);
    }
    backend_close(device);
}

static void measures_every_step(void **state)
{
    struct error error = {0};
    struct arena arena;
    struct graph g;
    struct estimate estimate;
    struct backend_options options = {.cost_file = "", .seconds_per_step = 0.01};
    struct backend *device = cuda_backend_open(&options, &error);
    arena_init(&arena);
    assert_true(read_graph(
        "(graph " X1("(f32 1 64 56 56)") W2(
            "(f32 64 64 3 3)",
            "(f32 64 2 3 3)") "(let a (conv :pad 1 1 1 1 x w)) (let r (relu a)) (let b (conv :pad 1 1 1 1 :group 32 r "
                              "v))"
                              "(let f (reshape :shape 64 3136 b)) (let t (transpose :perm 1 0 f)) (let m (matmul f t))"
                              "(let z (softmax 1 m)) (output z))",
        &g, &arena, &error));
    if (!backend_estimate(device, &g, &estimate, &error))
        fail_msg("%s", error.message);
    assert_int_equal(estimate.n_guessed, 0);
    assert_true(estimate.seconds > 1e-6 && estimate.seconds < 1e-2);
    check_model(device, &g, 1, 10);
    backend_close(device);
    graph_free(&g);
    arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(agrees_in_f32),           TEST(agrees_with_tf32),      TEST(agrees_in_f16),      TEST(agrees_in_bf16),
        TEST(agrees_on_random_graphs), TEST(captures_what_it_runs), TEST(measures_every_step)};
    struct error error = {0};
    const char *required = getenv("TASO_REQUIRE_CUDA");
    struct backend *device = open_gpu(false, &error);
    if (!device) {
        printf("%s: %s\n", required && *required == '1' ? "failed" : "skipped", error.message);
        return required && *required == '1' ? 1 : SKIPPED;
    }
    backend_close(device);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
