// The device "cpu" against the reference, on random values: every kernel and fusion, outputs poisoned before each run.
#include "backends/cpu/cpu.h"
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

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(agrees_with_the_reference), TEST(measures_steps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
