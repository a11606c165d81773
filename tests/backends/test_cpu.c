// The device "cpu" against the reference, on random values: every kernel and fusion, outputs poisoned before each run.
#include "backends/cpu/cpu.h"
#include "backends/cpu/cpu_internal.h"
#include "backends/cpu/memory_probe.h"
#include "core/sexp.h"
#include "tests/backends/check_model.h"
#include "tests/backends/graphs.h"

static bool read_graph(const char *text, struct graph *g, struct arena *arena)
{
    struct error error = {0};
    const struct sexp *list;
    graph_init(g, arena);
    if (sexp_parse(arena, "test", text, strlen(text), &list, &error) && graph_parse(&list->items[0], "test", g, &error))
        return true;
    print_error("%s\n%s\n", text, error.message);
    return false;
}

static void check_text(struct backend *cpu, const char *text, uint64_t seed)
{
    struct arena arena;
    struct graph g;
    arena_init(&arena);
    assert_true(read_graph(text, &g, &arena));
    check_model(cpu, &g, seed, 1);
    for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++)
        check_model_with(cpu, &g, same_layouts(&g, &arena, layout), seed, 1);
    check_model_with(cpu, &g, random_layouts(&g, &arena, seed), seed, 1);
    graph_free(&g);
    arena_free(&arena);
}

static void agrees_with_the_reference(void **state)
{
    for (int threads = 1; threads <= 2; threads++) {
        struct error error = {0};
        struct backend *cpu = cpu_backend_open(&(struct backend_options){.threads = threads, .cost_file = ""}, &error);
        assert_non_null(cpu);
        for (size_t i = 0; i < COUNT_OF(conformance_graphs); i++)
            check_text(cpu, conformance_graphs[i], i + 1);
        backend_close(cpu);
    }
}

// The first rows of an image with one more row than is read: to the library it must look like an image of its own.
static void part_of_an_image_has_dense_strides(void **state)
{
    struct view rows = {.dtype = DTYPE_F32, .rank = 4, .dim = {1, 8, 5, 6}, .stride = {8 * 6 * 6, 1, 6 * 8, 8}};
    struct onednn_tensor t = cpu_tensor_of_view(&rows);
    assert_int_equal(t.stride[0], 8 * 5 * 6);
    assert_int_equal(t.stride[1], 1);
    assert_int_equal(t.stride[2], 6 * 8);
    assert_int_equal(t.stride[3], 8);
    struct view pixel = {.dtype = DTYPE_F32, .rank = 4, .dim = {1, 8, 1, 1}, .stride = {8, 1, 8, 8}};
    assert_int_equal(cpu_tensor_of_view(&pixel).stride[2], 8);
    rows.dim[0] = 2;
    assert_int_equal(cpu_tensor_of_view(&rows).stride[0], 8 * 6 * 6);
}

// The first node of the step that computes each node, or NO_NODE.
static node_id *list_leaders(struct backend *cpu, const struct graph *g, const uint8_t *layouts, struct arena *arena)
{
    struct plan plan;
    struct plan_request request = {g, &cpu->target, cpu->codes, layouts, arena};
    node_id *leaders = arena_array(arena, node_id, g->nodes.count + 1);
    memset(leaders, 0xff, g->nodes.count * sizeof *leaders);
    assert_true(plan_make(&plan, &request, NULL));
    for (size_t i = 0; i < plan.steps.count; i++)
        for (node_id n = plan.steps.items[i].first_node; n != NO_NODE; n = plan.next_node[n])
            leaders[n] = plan.steps.items[i].first_node;
    plan_free(&plan);
    return leaders;
}

// The best layouts are found from tables of what each step costs under each: nodes must not go from step to step.
static void what_joins_a_product_does_not_depend_on_layouts(void **state)
{
    static const char *const graphs[] = {
        "(graph (let x (input 0) (f32 1 8 16)) (let w (weight 0) (f32 16 32)) (let y (input 1) (f32 1 8 32))"
        " (let m (matmul x w)) (let s (sigmoid m)) (let u (ewmul y s)) (let z (ewmul m u)) (output z))",
        "(graph (let x (input 0) (f32 1 8 16)) (let w (weight 0) (f32 16 32)) (let y (input 1) (f32 1 8 32))"
        " (let m (matmul x w)) (let s (sigmoid m)) (let u (ewmul m s)) (let z (ewmul u y)) (output z))",
        "(graph (let x (input 0) (f32 1 8 16)) (let w (input 1) (f32 16 32)) (let y (input 2) (f32 1 8 32))"
        " (let m (matmul x w)) (let s (sigmoid m)) (let u (ewmul y s)) (let z (ewmul m u)) (output z))",
    };
    struct error error = {0};
    struct backend *cpu = cpu_backend_open(&(struct backend_options){.cost_file = ""}, &error);
    assert_non_null(cpu);
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        struct arena arena;
        struct graph g;
        arena_init(&arena);
        assert_true(read_graph(graphs[i], &g, &arena));
        const node_id *standard = list_leaders(cpu, &g, NULL, &arena);
        for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++) {
            const node_id *leaders = list_leaders(cpu, &g, same_layouts(&g, &arena, layout), &arena);
            assert_memory_equal(leaders, standard, g.nodes.count * sizeof *leaders);
        }
        graph_free(&g);
        arena_free(&arena);
    }
    backend_close(cpu);
}

static void measures_steps(void **state)
{
    struct arena arena;
    struct graph g;
    struct error error = {0};
    struct estimate first, again;
    struct text text = {0};
    struct backend_options options = {.cost_file = "", .seconds_per_step = 0.005};
    struct backend *cpu = cpu_backend_open(&options, &error);
    assert_non_null(cpu);
    arena_init(&arena);
    assert_true(read_graph("(graph (let x (input 0) (f32 1 16 28 28)) (let w (weight 0) (f32 16 16 3 3))"
                           " (let c (conv :pad 1 1 1 1 x w)) (let z (relu c)) (let p (poolmax :kernel 2 2 z))"
                           " (output p))",
                           &g, &arena));
    assert_true(backend_estimate(cpu, &g, &first, &error));
    assert_true(backend_estimate(cpu, &g, &again, &error));
    assert_true(first.seconds > 0 && first.seconds < 1 && first.seconds == again.seconds);
    assert_int_equal(first.n_steps, 4);
    assert_int_equal(first.n_guessed, 0);
    assert_true(backend_explain(cpu, &g, &text, &error));
    assert_non_null(strstr(text.chars, ":pad 1 1 1 1"));
    text_free(&text);
    backend_close(cpu);
    graph_free(&g);
    arena_free(&arena);
}

// Steps that are bound by their weights are measured for one speed of memory, that of the database.
static void keeps_the_usual_speed_of_memory(void **state)
{
    char folder[] = "/tmp/taso-XXXXXX", file[64];
    double usual[2];
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/costs", folder);
    for (int i = 0; i < 2; i++) {
        struct error error = {0};
        struct backend_options options = {.threads = 1, .cost_file = file};
        struct backend *cpu = cpu_backend_open(&options, &error);
        assert_non_null(cpu);
        struct yardstick *y = yardstick_of((struct cpu_backend *)cpu);
        assert_ptr_equal(y, yardstick_of((struct cpu_backend *)cpu));
        usual[i] = yardstick_usual(y);
        assert_true(usual[i] > 0 && yardstick_read(y) > 0);
        backend_close(cpu);
    }
    assert_true(fabs(usual[0] - usual[1]) <= 1e-4 * usual[0]);
    assert_int_equal(remove(file), 0);
    assert_int_equal(remove(folder), 0);
}

// Where weights blow up what is rounded, a column that is summed in another order would stand out in a softmax.
static void equal_columns_have_equal_sums(void **state)
{
    enum { ROWS = 83, COLUMNS = 1000 };
    static float x[ROWS], w[ROWS * COLUMNS], z[COLUMNS];
    struct random random = random_seed(1);
    for (int row = 0; row < ROWS; row++) {
        float weight = (float)random_normal(&random);
        x[row] = (float)random_normal(&random);
        for (int column = 0; column < COLUMNS; column++)
            w[row * COLUMNS + column] = weight;
    }
    vector_functions_best()->combine_rows(z, x, w, ROWS, COLUMNS);
    for (int column = 1; column < COLUMNS; column++)
        assert_memory_equal(&z[column], &z[0], sizeof z[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(agrees_with_the_reference),
                                       TEST(part_of_an_image_has_dense_strides),
                                       TEST(what_joins_a_product_does_not_depend_on_layouts),
                                       TEST(measures_steps),
                                       TEST(keeps_the_usual_speed_of_memory),
                                       TEST(equal_columns_have_equal_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
