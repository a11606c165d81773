// The device "cuda" on a GPU against the reference. Exit code 77 where there is none, unless TASO_REQUIRE_CUDA=1.
//
// Every operator, fusion and layout in f32 (1e-5), the same graphs in f16 and with TF32 (1e-2) and in bf16 (3e-2), outputs
// poisoned; a captured run equals the eager one bit by bit; what is measured is found again.
//
//     test_gpu [PART [FIRST]]      the tests whose names contain PART ("f16", "random"), without the first FIRST of them:
//                                  a kernel that reads where it may not ends everything that the process does on the GPU
#include "backends/cuda/cuda.h"
#include "tests/cuda/check_tiles.h"
#include "tests/cuda/graphs.h"

#define SKIPPED 77
#define GRAPH_TEXT_SIZE 4096
#define MOST_TESTS 2048
#define TILES_OF_GRAPH 4

// check_model allows 1e-5 in f32, 4e-3 in f16 and 3e-2 in bf16. TF32 has as many digits as f16.
static struct way {
    const char *name, *type;
    bool allows_tf32;
    double allowed;   // a factor
    struct backend *device;
} ways[] = {
    {"f32", "f32", false, 1, NULL},
    {"TF32", "f32", true, 1000, NULL},
    {"f16", "f16", false, 2.5, NULL},
    {"bf16", "bf16", false, 1, NULL},
};
struct check {
    char name[128];
    struct way *way;
    const char *text;
    uint64_t seed;
};
static struct check checks[MOST_TESTS];

static struct backend *open_gpu(bool allows_tf32, struct error *error)
{
    struct backend_options options = {.cost_file = "", .never_measures = true, .allows_tf32 = allows_tf32};
    return cuda_backend_open(&options, error);
}

// --- graphs ----------------------------------------------------------------------------------------------------------

// The graph with another element type in place of f32; false: an operator does not take it.
static bool is_well_typed(const char *text, const char *type, char *ret_text, size_t size)
{
    ARENA(arena);
    struct graph g FREED_BY(graph_free);
    struct error ignored = {0};
    size_t used = 0;
    for (; *text && used + 8 < size; text++) {
        bool is_type = strncmp(text, "f32", 3) == 0;
        used += (size_t)snprintf(ret_text + used, size - used, "%.*s", is_type ? 4 : 1, is_type ? type : text);
        text += is_type ? 2 : 0;
    }
    return graph_read_text(&g, &arena, ret_text, &ignored);
}

// The check's way on its device, and its graph with that element type.
static struct way *begin_check(const struct check *c, char text[GRAPH_TEXT_SIZE])
{
    if (!c->way->device)
        OK((c->way->device = open_gpu(c->way->allows_tf32, &error)));
    assert_true(is_well_typed(c->text, c->way->type, text, GRAPH_TEXT_SIZE));
    return c->way;
}

static void agrees(void **state)
{
    const struct check *c = *state;
    char text[GRAPH_TEXT_SIZE];
    struct way *way = begin_check(c, text);
    check_text(way->device, text, c->seed, way->allowed);
    check_matrices(way->device, text, c->seed, way->allowed);
}

static void agrees_by_tiles(void **state)
{
    const struct check *c = *state;
    char text[GRAPH_TEXT_SIZE];
    struct tiling t = {.random = random_seed(c->seed)};
    struct way *way = begin_check(c, text);
    for (int i = 0; i < TILES_OF_GRAPH; i++)
        check_tiles(way->device, &t, text, c->seed, way->allowed);
    assert_true(t.n_tiles == t.n_steps);
}

// Graphs of the device alone name their types.
static void add_checks(struct CMUnitTest *tests, size_t *n, struct way *way, const struct listed_graph *g,
                       bool by_tiles)
{
    char text[GRAPH_TEXT_SIZE];
    for (; g->text; g++) {
        if ((by_tiles && !strstr(g->text, "conv ") && !strstr(g->text, "matmul ")) ||
            (g->is_own && (by_tiles || strcmp(way->type, "f32") != 0)) ||
            !is_well_typed(g->text, way->type, text, sizeof text))
            continue;
        struct check *c = &checks[*n];
        *c = (struct check){.way = way, .text = g->text, .seed = g->number + 1};
        snprintf(c->name, sizeof c->name, "%s%s %.90s", by_tiles ? "tiles in " : "", way->name, g->text);
        tests[(*n)++] =
            (struct CMUnitTest){.name = c->name, .test_func = by_tiles ? agrees_by_tiles : agrees, .initial_state = c};
    }
}

// --- more ------------------------------------------------------------------------------------------------------------

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
    ARENA(of_graphs);
    for (const char **text = texts_of(&of_graphs, CONFORMANCE, "graph"); *text; text++) {
        ARENA(arena);
        GRAPH(g, &arena, *text);
        struct random random = random_seed(1);
        struct tensor_value inputs[MOST_LEAVES] = {0}, weights[MOST_LEAVES] = {0};
        struct tensor_value first[MOST_OUTPUTS], second[MOST_OUTPUTS];
        fill_leaves(&g, operators[OP_WEIGHT], weights, &arena, &random);
        fill_leaves(&g, operators[OP_INPUT], inputs, &arena, &random);
        struct model *m = backend_prepare(device, &g, MOST_LEAVES, weights, &error);
        assert_non_null(m);
        model_allocate_outputs(m, first, &arena);
        model_allocate_outputs(m, second, &arena);
        assert_true(model_run(m, inputs, first, &error) && model_run(m, inputs, second, &error));
        for (size_t k = 0; k < g.outputs.count; k++)
            if (memcmp(first[k].data, second[k].data, type_bytes(&first[k].type)) != 0)
                fail_msg("a captured run differs: %s", *text);
        model_free(m);
    }
    backend_close(device);
}

static void measures_every_step(void **state)
{
    struct error error = {0};
    ARENA(arena);
    GRAPH(g, &arena,
          "x = f32 1 64 56 56; w = weight f32 64 64 3 3; v = weight f32 64 2 3 3; a = conv :pad 1 1 1 1 x w; "
          "r = relu a; b = conv :pad 1 1 1 1 :group 32 r v; f = reshape :shape 64 3136 b; t = transpose :perm 1 0 f; "
          "m = matmul f t; z = softmax 1 m");
    struct estimate estimate;
    struct backend_options options = {.cost_file = "", .seconds_per_step = 0.01};
    struct backend *device = cuda_backend_open(&options, &error);
    if (!backend_estimate(device, &g, &estimate, &error))
        fail_msg("%s", error.message);
    assert_int_equal(estimate.n_guessed, 0);
    assert_true(estimate.seconds > 1e-6 && estimate.seconds < 1e-2);
    check_model(device, &g, 1, 10);
    backend_close(device);
}

// --- all -------------------------------------------------------------------------------------------------------------

static size_t list_tests(struct CMUnitTest *ret_tests, struct arena *arena)
{
    const struct CMUnitTest more[] = {UNIT_TEST(agrees_on_random_graphs), UNIT_TEST(captures_what_it_runs),
                                      UNIT_TEST(measures_every_step)};
    const struct listed_graph *graphs = list_graphs(arena);
    size_t n = 0;
    for (int by_tiles = 1; by_tiles >= 0; by_tiles--)
        for (size_t i = 0; i < COUNT_OF(ways); i++)
            add_checks(ret_tests, &n, &ways[i], graphs, by_tiles);
    memcpy(&ret_tests[n], more, sizeof more);
    return n + COUNT_OF(more);
}

// Those that are asked for, first.
static size_t keep_asked(struct CMUnitTest *tests, size_t n, const char *part, size_t first)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (strstr(tests[i].name, part))
            tests[kept++] = tests[i];
    first = first < kept ? first : kept;
    memmove(tests, tests + first, (kept - first) * sizeof *tests);
    return kept - first;
}

int main(int argc, char **argv)
{
    static struct CMUnitTest tests[MOST_TESTS];
    struct error error = {0};
    ARENA(arena);
    const char *required = getenv("TASO_REQUIRE_CUDA");
    struct backend *device = open_gpu(false, &error);
    if (!device) {
        printf("%s: %s\n", required && *required == '1' ? "failed" : "skipped", error.message);
        return required && *required == '1' ? 1 : SKIPPED;
    }
    backend_close(device);
    setenv("TASO_TESTS", TESTS_FOLDER, 0);
    size_t n = keep_asked(tests, list_tests(tests, &arena), argc > 1 ? argv[1] : "",
                          argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : 0);
    int failed = _cmocka_run_group_tests("gpu", tests, n, NULL, NULL);
    for (size_t i = 0; i < COUNT_OF(ways); i++)
        backend_close(ways[i].device);
    return failed != 0;
}
