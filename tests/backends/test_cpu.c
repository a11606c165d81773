// The device "cpu" against the reference, on random values: every kernel and fusion, outputs poisoned before each run.
#include "backends/cpu/cpu.h"
#include "backends/reference/reference.h"
#include "core/arena.h"
#include "core/error.h"
#include "core/random.h"
#include "core/sexp.h"
#include "core/text.h"
#include "graph/text.h"
#include "operators/elements.h"
#include "tests/backends/graphs.h"
#include "tests/support/check.h"
#include <math.h>
#include <string.h>

#define MOST_LEAVES 8

struct values {
    size_t n;
    struct tensor_value items[MOST_LEAVES];
};

static void fill_leaves(const struct graph *g, const struct operator* op, struct values *values, struct arena *arena,
                        struct random *random)
{
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        if (node->op != op)
            continue;
        struct tensor_value *v = &values->items[node->attributes[0].ints[0]];
        v->type = *graph_type(g, node->first_output);
        v->data = value_allocate(arena, &v->type);
        value_fill_random(v, random, 9);
    }
    values->n = MOST_LEAVES;
}

static double tolerance_of(enum dtype dtype)
{
    return dtype == DTYPE_F16 ? 4e-3 : dtype == DTYPE_BF16 ? 3e-2 : dtype == DTYPE_F64 ? 1e-12 : 1e-5;
}

static void compare(const struct tensor_value *got, const struct tensor_value *wanted, const char *graph, int output)
{
    size_t n = (size_t)type_elements(&wanted->type);
    double *a = mem_new_array(double, n), *b = mem_new_array(double, n), most = 0, worst = 0;
    assert_true(type_equal(&got->type, &wanted->type));
    elements_to_reals(got->type.dtype, got->data, n, a);
    elements_to_reals(wanted->type.dtype, wanted->data, n, b);
    for (size_t i = 0; i < n; i++) {
        bool is_same = a[i] == b[i] || (isnan(a[i]) && isnan(b[i]));
        most = isfinite(b[i]) && fabs(b[i]) > most ? fabs(b[i]) : most;
        worst = is_same || fabs(a[i] - b[i]) <= worst ? worst : isnan(a[i] - b[i]) ? INFINITY : fabs(a[i] - b[i]);
    }
    mem_free_array(a, n);
    mem_free_array(b, n);
    bool is_exact = !dtype_is_float(wanted->type.dtype);
    if (worst > (is_exact ? 0 : tolerance_of(wanted->type.dtype) * most))
        fail_msg("output %d is off by %g of %g: %s", output, worst, most, graph);
}

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

// Two runs on different inputs: the second one must not see anything of the first.
static void check_graph(struct backend *cpu, const char *text, uint64_t seed)
{
    struct arena arena;
    struct graph g;
    struct error error = {0};
    struct values inputs = {0}, weights = {0};
    struct tensor_value got[8], wanted[8];
    struct random random = random_seed(seed);
    arena_init(&arena);
    assert_true(read_graph(text, &g, &arena));
    fill_leaves(&g, operators[OP_WEIGHT], &weights, &arena, &random);
    struct model *m = backend_prepare(cpu, &g, weights.n, weights.items, &error);
    if (!m)
        fail_msg("%s: %s", error.message, text);
    model_allocate_outputs(m, got, &arena);
    for (int run = 0; run < 2; run++) {
        fill_leaves(&g, operators[OP_INPUT], &inputs, &arena, &random);
        for (size_t i = 0; i < g.outputs.count; i++)
            memset(got[i].data, 0xff, type_bytes(&got[i].type));
        if (!model_run(m, inputs.items, got, &error) ||
            !reference_run_graph(&g, inputs.n, inputs.items, weights.n, weights.items, wanted, &arena, &error))
            fail_msg("%s: %s", error.message, text);
        for (size_t i = 0; i < g.outputs.count; i++)
            compare(&got[i], &wanted[i], text, (int)i);
    }
    model_free(m);
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
            check_graph(cpu, conformance_graphs[i], i + 1);
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
