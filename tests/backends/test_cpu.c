// The device "cpu" against the reference, on random values: every kernel and fusion, outputs poisoned before each run.
#include "backends/costs/cost_database.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/step_cost.h"
#include "backends/cpu/cache_conditions.h"
#include "backends/cpu/fallback.h"
#include "backends/cpu/loops/functions.h"
#include "backends/cpu/loops/loops.h"
#include "backends/cpu/measure.h"
#include "backends/cpu/memory_probe.h"
#include "backends/cpu/primitive.h"
#include "backends/cpu/step_tensors.h"
#include "backends/cpu/ways.h"
#include "backends/programs/programs.h"
#include "core/system/interrupt.h"
#include "tests/backends/check_model.h"
#include "tests/backends/graphs.h"
#include "tests/backends/processor.h"
#include "tests/support/parse_graph.h"
#include "tests/support/temporary_path.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif

static void check_text(struct backend *cpu, const char *text, uint64_t seed)
{
    ARENA(arena);
    GRAPH(g, &arena, text);
    check_model(cpu, &g, seed, 1);
    for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++)
        check_model_with(cpu, &g, same_layouts(&g, &arena, layout), seed, 1);
    check_model_with(cpu, &g, random_layouts(&g, &arena, seed), seed, 1);
}

TEST(agrees_with_the_reference)
{
    ARENA(a);
    const char **graphs = texts_of(&a, CONFORMANCE, "graph");
    for (int threads = 1; threads <= 2; threads++) {
        CPU(cpu, .threads = threads);
        for (size_t i = 0; graphs[i]; i++)
            check_text(cpu, graphs[i], i + 1);
    }
}

TEST(relu_of_minus_infinity_is_0)
{
    CPU(cpu, .threads = 1);
    for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++) {
        ARENA(arena);
        struct error error = {0};
        struct tensor_value x = {.type = type_make(DTYPE_F32, 4, (int64_t[]){1, 16, 9, 9})}, z;
        struct tensor_value w = {.type = type_make(DTYPE_F32, 4, (int64_t[]){16, 16, 3, 3})};
        GRAPH(g, &arena, "x = f32 1 16 9 9; w = weight f32 16 16 3 3; y = conv x w; z = relu y");
        float *of_x = x.data = value_allocate(&arena, &x.type), *of_w = w.data = value_allocate(&arena, &w.type);
        for (int64_t i = 0; i < type_elements(&x.type); i++)
            of_x[i] = -INFINITY;
        for (int64_t i = 0; i < type_elements(&w.type); i++)
            of_w[i] = 1;
        struct given_weights given = {1, &w, NULL};
        struct model *m = backend_prepare_from(cpu, &g, same_layouts(&g, &arena, layout), NULL, &given, &error);
        assert_non_null(m);
        model_allocate_outputs(m, &z, &arena);
        assert_true(model_run(m, &x, &z, &error));
        for (int64_t i = 0; i < type_elements(&z.type); i++)
            assert_true(((float *)z.data)[i] == 0);
        model_free(m);
    }
}

// The first rows of an image with one more row than is read: to the library it must look like an image of its own.
TEST(part_of_an_image_has_dense_strides)
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
    node_id *leaders = arena_array(arena, node_id, g->nodes.count + 1);
    memset(leaders, 0xff, g->nodes.count * sizeof *leaders);
    PLAN(plan, cpu, g, layouts, arena);
    for (size_t i = 0; i < plan.steps.count; i++)
        for (node_id n = plan.steps.items[i].origin.first_node; n != NO_NODE; n = plan.next_node[n])
            leaders[n] = plan.steps.items[i].origin.first_node;
    return leaders;
}

// The best layouts are found from tables of what each step costs under each: nodes must not go from step to step.
TEST(what_joins_a_product_does_not_depend_on_layouts)
{
    static const char *const graphs[] = {
        "x = f32 1 8 16; w = weight f32 16 32; y = f32 1 8 32; m = matmul x w; s = sigmoid m; u = ewmul y s; "
        "z = ewmul m u",
        "x = f32 1 8 16; w = weight f32 16 32; y = f32 1 8 32; m = matmul x w; s = sigmoid m; u = ewmul m s; "
        "z = ewmul u y",
        "x = f32 1 8 16; w = f32 16 32; y = f32 1 8 32; m = matmul x w; s = sigmoid m; u = ewmul y s; z = ewmul m u",
    };
    CPU(cpu, .threads = 0);
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        ARENA(arena);
        GRAPH(g, &arena, graphs[i]);
        const node_id *standard = list_leaders(cpu, &g, NULL, &arena);
        for (enum layout layout = 0; layout < LAYOUT_COUNT; layout++) {
            const node_id *leaders = list_leaders(cpu, &g, same_layouts(&g, &arena, layout), &arena);
            assert_memory_equal(leaders, standard, g.nodes.count * sizeof *leaders);
        }
    }
}

// --- what 16 bits do not hold ----------------------------------------------------------------------------------------

// Entry i of input n of a graph whose result is known for all sizes.
typedef double entry_fn(int64_t i, int n);

static double same_logits(int64_t i, int n)
{
    return 3;
}

// Of large values about 0, beside scales of 1 and biases of 0.
static double far_apart(int64_t i, int n)
{
    return n == 0 ? (i % 2 ? 2e4 : -2e4) : n == 1;
}

struct known_graph {
    const char *text;
    entry_fn *entry;
    double wanted;   // the magnitude of each entry of the result
};

static void fill_entries(const struct graph *g, entry_fn *entry, struct tensor_value *ret_inputs, struct arena *arena)
{
    for (node_id n = 0; n < g->nodes.count; n++) {
        const struct node *node = &g->nodes.items[n];
        if (node->op->id != OP_INPUT)
            continue;
        int index = (int)node->attributes[0].ints[0];
        struct tensor_value *v = &ret_inputs[index];
        v->type = *graph_type(g, node->first_output);
        v->data = value_allocate(arena, &v->type);
        for (int64_t i = 0; i < type_elements(&v->type); i++) {
            double value = entry(i, index);
            elements_from_reals(v->type.dtype, &value, 1, (char *)v->data + (size_t)i * dtype_size(v->type.dtype));
        }
    }
}

static void check_entries(const struct tensor_value *v, double wanted)
{
    for (int64_t i = 0; i < type_elements(&v->type); i++) {
        double value;
        elements_to_reals(v->type.dtype, (const char *)v->data + (size_t)i * dtype_size(v->type.dtype), 1, &value);
        assert_true(fabs(fabs(value) - wanted) <= 1e-2 * wanted);
    }
}

static void check_known(struct backend *cpu, const struct known_graph *known)
{
    ARENA(arena);
    struct error error = {0};
    struct tensor_value inputs[4] = {0}, got, wanted;
    GRAPH(g, &arena, known->text);
    fill_entries(&g, known->entry, inputs, &arena);
    struct model *m = backend_prepare(cpu, &g, 0, NULL, &error);
    assert_non_null(m);
    model_allocate_outputs(m, &got, &arena);
    assert_true(model_run(m, inputs, &got, &error));
    check_entries(&got, known->wanted);
    assert_true(reference_run_graph(&g, COUNT_OF(inputs), inputs, 0, NULL, &wanted, &arena, &error));
    check_entries(&wanted, known->wanted);
    model_free(m);
}

#define HALVES(type, x_shape, w_shape, call) "x = " type " " x_shape "; s b = " type " " w_shape "; z = " call

TEST(sums_of_halves_are_no_halves)
{
    static const struct known_graph graphs[] = {
        {"x = f16 2 128256; z = softmax 1 x", same_logits, 1 / 128256.0},
        {"x = bf16 2 128256; z = softmax 1 x", same_logits, 1 / 128256.0},
        {HALVES("f16", "3 512", "512", "layernorm 1 x s b"), far_apart, 1},
        {HALVES("bf16", "3 512", "512", "layernorm 1 x s b"), far_apart, 1},
        {HALVES("f16", "3 512", "512", "rmsnorm 1 x s"), far_apart, 1},
        {HALVES("f16", "2 4 64", "4", "instancenorm x s b"), far_apart, 1},
        {HALVES("f16", "2 4 64", "4", "groupnorm 2 x s b"), far_apart, 1},
    };
    CPU(cpu, .threads = 1);
    for (size_t i = 0; i < COUNT_OF(graphs); i++)
        check_known(cpu, &graphs[i]);
}

// --- weights while a model is prepared -------------------------------------------------------------------------------

enum { N_LAYERS = 8, WIDTH = 256 };

struct lent_weights {
    float *values[N_LAYERS];
    size_t n_acquired, n_held, most_held;
};

static const void *lend(void *context, size_t index, struct error *error)
{
    struct lent_weights *w = context;
    w->n_acquired++;
    w->n_held++;
    w->most_held = w->n_held > w->most_held ? w->n_held : w->most_held;
    return w->values[index];
}

static void take_back(void *context, size_t index, const void *data)
{
    struct lent_weights *w = context;
    assert_ptr_equal(data, w->values[index]);
    w->n_held--;
}

// Layers relu(x . w), or relu(x . abs w), or x . abs w + the first rows of w.
enum layers { PACKED, COMPUTED, READ };

#define LAYER(factor, result)                                                                                          \
    "w# = weight f32 256 256; a# = abs w#; m# = matmul x# " factor                                                     \
    "; r# = slice :start 0 0 :size 2 256 :step 1 1 w#; x@ = " result "; "
static const char *const layers[] = {
    [PACKED] = LAYER("w#", "relu m#"), [COMPUTED] = LAYER("a#", "relu m#"), [READ] = LAYER("a#", "ewadd m# r#")};

static float *run_layers(struct backend *cpu, const struct graph *g, const struct tensor_value *weights, float *input,
                         size_t *ret_held, struct arena *arena)
{
    struct error error = {0};
    struct tensor_value x = {*graph_type(g, graph_output_of(g, 0, 0)), input}, z;
    size_t before = mem_in_use();
    struct model *m = backend_prepare(cpu, g, N_LAYERS, weights, &error);
    assert_non_null(m);
    *ret_held = mem_in_use() - before;
    model_allocate_outputs(m, &z, arena);
    assert_true(model_run(m, &x, &z, &error));
    model_free(m);
    return z.data;
}

// Gives what the prepared model holds.
static size_t check_lending(enum layers kind)
{
    ARENA(arena);
    TEXT(text);
    struct graph g FREED_BY(graph_free);
    struct random random = random_seed(1);
    struct lent_weights lent = {.n_held = 0};
    struct weight_source source = {&lent, lend, take_back};
    struct type type = type_make(DTYPE_F32, 2, (int64_t[]){WIDTH, WIDTH});
    struct tensor_value given[N_LAYERS], listed[N_LAYERS];
    float input[2 * WIDTH];
    size_t held[2];
    CPU(cpu, .threads = 1, .weights = &source);
    text_add(&text, "x1 = f32 2 256; ");
    graph_text_add_blocks(&text, layers[kind], N_LAYERS);
    parse_graph(&g, &arena, text.chars);
    for (int i = 0; i < N_LAYERS; i++) {
        given[i] = (struct tensor_value){type, value_allocate(&arena, &type)};
        listed[i] = (struct tensor_value){type, NULL};
        lent.values[i] = given[i].data;
        for (int k = 0; k < WIDTH * WIDTH; k++)
            lent.values[i][k] = (float)random_normal(&random) / WIDTH;
    }
    for (int i = 0; i < 2 * WIDTH; i++)
        input[i] = (float)random_normal(&random);
    const float *a = run_layers(cpu, &g, given, input, &held[0], &arena);
    assert_int_equal(lent.n_acquired, 0);
    const float *b = run_layers(cpu, &g, listed, input, &held[1], &arena);
    assert_memory_equal(a, b, 2 * WIDTH * sizeof *a);
    assert_true(lent.n_acquired == N_LAYERS && lent.n_held == 0);
    assert_int_equal(lent.most_held, kind == READ ? N_LAYERS : 1);
    return held[1];
}

// A weight that was computed to be packed is gone.
TEST(weights_are_there_while_they_are_needed)
{
    size_t one = WIDTH * WIDTH * sizeof(float), packed = check_lending(PACKED), computed = check_lending(COMPUTED);
    assert_true(packed > N_LAYERS * one && computed < packed + one);
    check_lending(READ);
}

TEST(measures_steps)
{
    ARENA(arena);
    struct estimate first, again;
    TEXT(text);
    CPU(cpu, .seconds_per_step = 0.005);
    GRAPH(g, &arena,
          "x = f32 1 16 28 28; w = weight f32 16 16 3 3; c = conv :pad 1 1 1 1 x w; z = relu c; "
          "p = poolmax :kernel 2 2 z");
    OK(backend_estimate(cpu, &g, &first, &error));
    OK(backend_estimate(cpu, &g, &again, &error));
    assert_true(first.seconds > 0 && first.seconds == again.seconds);
    assert_true(first.n_steps == 4 || first.n_steps == 3);   // the copy in front of the convolution may go
    assert_int_equal(first.n_guessed, 0);
    OK(backend_explain(cpu, &g, false, &text, &error));
    assert_non_null(strstr(text.chars, ":pad 1 1 1 1"));
}

static void measure_a_convolution(struct backend *cpu, int channels)
{
    ARENA(arena);
    TEXT(text);
    struct estimate e;
    text_printf(&text, "x = f32 1 %d 9 9; w = weight f32 8 %d 3 3; z = conv x w", channels, channels);
    GRAPH(g, &arena, text.chars);
    assert_true(backend_estimate(cpu, &g, &e, &(struct error){0}));
}

// Of the library and of our own, beside what the heap counts for us.
static size_t bytes_of_others(void)
{
#ifdef __GLIBC__
    struct mallinfo2 heap = mallinfo2();
    return heap.uordblks + heap.hblkhd > mem_in_use() ? heap.uordblks + heap.hblkhd - mem_in_use() : 0;
#else
    return 0;
#endif
}

// The library kept the code of every kernel that was measured: 26 MB, as large as a small model.
TEST(measuring_leaves_nothing_in_memory)
{
    enum { FIRST = 8, N = 64 };
    CPU(cpu, .threads = 1, .seconds_per_step = 1e-5);
    measure_a_convolution(cpu, FIRST);
    backend_rest(cpu);
    size_t ours = mem_in_use(), of_others = bytes_of_others();
    for (int i = 1; i <= N; i++)
        measure_a_convolution(cpu, FIRST + 8 * i);
    assert_true(bytes_of_others() < of_others + N * ((size_t)4 << 10));
    size_t while_measuring = mem_in_use();
    backend_rest(cpu);
    assert_true(while_measuring > ours && mem_in_use() < ours + (while_measuring - ours) / 2);
}

// Operands of that many MiB, twice: they and the result are what is kept.
static void measure_a_sum(struct backend *cpu, int mebibytes)
{
    ARENA(arena);
    TEXT(text);
    struct estimate e;
    text_printf(&text, "x y = f32 %d 262144; z = ewadd x y", mebibytes);
    GRAPH(g, &arena, text.chars);
    assert_true(backend_estimate(cpu, &g, &e, &(struct error){0}));
}

// Memory that the system gives anew for each step is cleared for each: what one step was measured in serves the next
// one. Much is not kept, nor is anything where there is little memory, nor after a rest.
TEST(measuring_keeps_its_memory)
{
    enum { SMALL = 3, LARGE = 16 };
    CPU(cpu, .threads = 1, .seconds_per_step = 1e-5);
    const struct arena *kept = &((struct cpu_backend *)cpu)->measured;
    measure_a_sum(cpu, SMALL);
    size_t of_first = kept->total;
    assert_true(of_first >= (size_t)3 * SMALL << 20);
    const void *block = kept->block;
    measure_a_sum(cpu, SMALL - 1);
    assert_true(kept->block == block && kept->total == of_first);
    backend_rest(cpu);
    assert_int_equal(kept->total, 0);
    measure_a_sum(cpu, LARGE);
    assert_int_equal(kept->total, 0);
    mem_set_limit(mem_in_use() + ((size_t)64 << 20));
    measure_a_sum(cpu, SMALL + 1);
    assert_int_equal(kept->total, 0);
    mem_set_limit(SIZE_MAX);
}

// Two threads that read 1 MB of weights take 21 us, one 35: costs of NasRNN were now this one, now a half of that one.
TEST(a_whole_run_counts_more_than_a_share)
{
    assert_true(cpu_seconds_beside_others(21e-6, 17.5e-6) == 21e-6);
    assert_true(cpu_seconds_beside_others(6e-6, 1e-6) == 6e-6);         // threads meet
    assert_true(cpu_seconds_beside_others(16e-6, 17.5e-6) == 16e-6);    // each in a cache of its own
    assert_true(cpu_seconds_beside_others(4e-3, 17.5e-6) == 17.5e-6);   // a time slice
    assert_true(cpu_seconds_beside_others(16e-3, 8e-3) == 8e-3);
}

// The step of that kernel in a plan of the graph, which lives in the arena.
static const struct step *find_step(struct backend *cpu, const struct graph *g, const struct cpu_kernel *kernel,
                                    struct arena *arena, struct plan *ret_plan)
{
    struct plan_request request = backend_plan_request(cpu, g, NULL, arena);
    assert_true(plan_make(ret_plan, &request, &(struct error){0}));
    for (size_t i = 0; i < ret_plan->steps.count; i++)
        if (ret_plan->steps.items[i].kernel == &kernel->base)
            return &ret_plan->steps.items[i];
    fail_msg("no step");
    return NULL;
}

static const struct {
    const char *graph;
    const struct cpu_kernel *kernel;
    int64_t of_result, of_operands[2];   // first sizes, of an excerpt for two threads
} excerpts[] = {
    {"x = f32 16 256 32 32; w = weight f32 256 256 3 3; b = f32 16 256 32 32; c = conv :pad 1 1 1 1 x w; z = ewadd c b",
     &cpu_kernel_conv,
     2,
     {2, 256}},
    {"x = f32 16 256 32 32; w = weight f32 256 256 1 1; c = conv x w",
     &cpu_kernel_conv,
     16,
     {16, 256}},   // it does not take long
    {"x = f32 8 4096 512; w = weight f32 512 512; z = matmul x w", &cpu_kernel_linear, 2, {8192, 512}},
    {"x = f32 9 256 32 32; w = weight f32 256 256 3 3; c = conv :pad 1 1 1 1 x w",
     &cpu_kernel_conv,
     3,
     {3, 256}},   // threads share none of them evenly
};

TEST(long_steps_have_excerpts)
{
    CPU(cpu, .threads = 2);
    for (size_t i = 0; i < COUNT_OF(excerpts); i++) {
        ARENA(arena);
        struct plan plan FREED_BY(plan_free);
        struct excerpt excerpt;
        GRAPH(g, &arena, excerpts[i].graph);
        const struct step *whole = find_step(cpu, &g, excerpts[i].kernel, &arena, &plan);
        const struct step *few = cpu_excerpt((struct cpu_backend *)cpu, &plan, whole, &excerpt);
        int64_t n = whole->results[0].dim[0];
        assert_int_equal(few->results[0].dim[0], excerpts[i].of_result);
        assert_int_equal(few->operands[0].dim[0], excerpts[i].of_operands[0]);
        assert_int_equal(few->operands[1].dim[0], excerpts[i].of_operands[1]);
        assert_true(excerpt.share == (double)excerpts[i].of_result / (double)n);
        assert_true((few == whole) == (excerpt.share == 1));
        assert_true(few->n_loops == whole->n_loops && (!few->n_loops || few->loops->dim[0] == excerpts[i].of_result));
    }
}

// A run that outlasts the time between two questions whether to end.
static int n_long_runs;
static bool run_long(void *state, const struct execution *e)
{
    double start = clock_seconds();
    n_long_runs++;
    while (clock_seconds() - start < 0.05)
        continue;
    return true;
}

static bool has_run(void *context)
{
    return n_long_runs > 0;
}

TEST(no_run_begins_once_an_end_is_asked_for)
{
    static const struct interrupt_listener listener = {has_run, NULL};
    CPU(cpu, .threads = 1);
    ARENA(arena);
    struct plan plan FREED_BY(plan_free);
    struct step_cost cost = {0};
    GRAPH(g, &arena, "x = f32 2 4 8; y = f32 2 8 4; z = matmul x y");
    struct cpu_kernel slow = cpu_kernel_matmul;
    struct step step = *find_step(cpu, &g, &cpu_kernel_matmul, &arena, &plan);
    struct listed_choice standard = {.text = ""};
    const choice_list among = {.items = &standard, .count = 1};
    slow.run = run_long;
    step.kernel = &slow.base;
    interrupt_listen(&listener);
    assert_false(cpu_measure(cpu, &plan, &step, &among, INFINITY, &cost, &(struct error){0}));
    interrupt_listen(NULL);
    assert_int_equal(n_long_runs, 1);
}

// 211 steps that others disturbed took 79 s, where 50 ms are meant for each.
TEST(patience_with_disturbed_steps_ends)
{
    const double budget = 0.05;
    double patience = cpu_patience_after(INFINITY, 0, 0), sum = 0;
    assert_true(cpu_sampling_limit(patience, budget, true) == 3 * budget);
    assert_true(cpu_sampling_limit(patience, budget, false) == budget);
    for (int i = 0; i < 211; i++) {
        double spent = cpu_sampling_limit(patience, budget, true);
        patience = cpu_patience_after(patience, budget, spent);
        assert_true(spent >= budget && spent <= 3 * budget);
        sum += spent;
    }
    assert_true(sum < 211 * 1.25 * budget + 1.01);
    for (int i = 0; i < 100; i++)   // nobody disturbs any more
        patience = cpu_patience_after(patience, budget, 0.2 * budget);
    assert_true(cpu_sampling_limit(patience, budget, true) == 3 * budget);
}

// The library computes some steps by a definition of its own, or applies what stands behind entry by entry: both take up
// to hundreds of times what they need.
static void expect_no_slow_kernel(struct backend *cpu, const char *text, enum layout layout)
{
    ARENA(arena);
    struct error error = {0};
    GRAPH(g, &arena, text);
    PLAN(plan, cpu, &g, same_layouts(&g, &arena, layout), &arena);
    size_t n = 0;
    char **memory = arena_array(&arena, char *, plan.memory.count + 1);   // none is known
    for (size_t i = 0; i < plan.steps.count; i++) {
        struct step_request r = {(struct cpu_backend *)cpu, &plan, &plan.steps.items[i], memory, &arena, &error};
        if (r.step->kernel != &cpu_kernel_conv.base)
            continue;
        struct cpu_primitive *c = cpu_kernel_conv.prepare(&r);
        assert_non_null(c);
        assert_true(c->primitive ? !onednn_is_reference(c->primitive) : cpu_fallback_is_generated(c->fallback));
        assert_true(!c->loop || !c->primitive || c->loops || !onednn_applies_slowly(c->primitive));
        cpu_kernel_conv.free(c);
        n++;
    }
    assert_int_equal(n, 1);
}

#define CONVOLUTION(size, w, code) "x = f32 " size "; y = f32 1 64 56 56; w = f32 " w "; " code

TEST(no_kernel_of_convolutions_is_slow)
{
    CPU(cpu, .threads = 1);
    expect_no_slow_kernel(cpu, CONVOLUTION("1 32 56 56", "64 32 1 1", "c = conv x w; s = ewadd c y; z = relu s; "),
                          LAYOUT_ROWS);
    expect_no_slow_kernel(cpu, CONVOLUTION("1 32 56 56", "64 32 1 1", "c = conv x w; z = sigmoid c; "), LAYOUT_ROWS);
    // A window that lies in the pads altogether.
    if (programs_have_compiler(((struct cpu_backend *)cpu)->programs))
        expect_no_slow_kernel(cpu, CONVOLUTION("1 64 28 28", "192 64 1 3", "z = conv :pad 1 1 1 1 x w; "),
                              LAYOUT_BLOCKS_OF_16);
}

static size_t cooled_bytes(struct backend *cpu, const struct graph *g, enum layout layout, size_t model_bytes,
                           struct arena *arena)
{
    struct error error = {0};
    size_t bytes = 0;
    backend_expect_model(cpu, model_bytes);
    PLAN(plan, cpu, g, same_layouts(g, arena, layout), arena);
    for (size_t i = 0; i < plan.steps.count; i++) {
        struct step_request r = {(struct cpu_backend *)cpu, &plan, &plan.steps.items[i], NULL, arena, &error};
        struct cache_conditions *around = cache_conditions_make(&r);
        assert_non_null(around);
        for (int run = 0; run < 3; run++)
            cache_conditions_settle(around);
        assert_true(cache_conditions_state(around) && cache_conditions_memory(around));
        bytes += cache_conditions_weight_bytes(around);
        cache_conditions_free(around);
    }
    return bytes;
}

// Alone, a kernel that does not pack its weights would find them in the caches, and seem twice as fast as in a model.
TEST(weights_are_cold_packed_or_not)
{
    ARENA(arena);
    CPU(cpu, .threads = 1);
    GRAPH(g, &arena, "x = f32 64 128; w = weight f32 128 128; y = matmul x w");
    size_t packed = cooled_bytes(cpu, &g, LAYOUT_ROWS, (size_t)1 << 30, &arena);
    assert_true(packed >= 128 * 128 * sizeof(float));
    assert_int_equal(cooled_bytes(cpu, &g, LAYOUT_COLUMNS, (size_t)1 << 30, &arena), 128 * 128 * sizeof(float));
    assert_int_equal(cooled_bytes(cpu, &g, LAYOUT_COLUMNS, 1 << 20, &arena), 0);
}

// A weight that a kernel packs is not there a second time while it is measured.
TEST(packed_weights_are_there_once)
{
    struct error error = {0};
    ARENA(of_step);
    ARENA(arena);
    CPU(cpu, .threads = 1);
    GRAPH(g, &arena, "x = f32 4 2048; w = weight f32 2048 2048; y = matmul x w");
    PLAN(plan, cpu, &g, NULL, &arena);
    struct step_request r = {(struct cpu_backend *)cpu, &plan, &plan.steps.items[0], NULL, &of_step, &error};
    cpu_sweep_bytes((struct cpu_backend *)cpu);
    size_t before = mem_in_use(), weights = (size_t)16 << 20;   // much more than a huge page
    struct cache_conditions *around = cache_conditions_make(&r);
    assert_non_null(around);
    assert_true(cache_conditions_weight_bytes(around) >= weights && mem_in_use() - before < weights + weights / 2);
    cache_conditions_free(around);
}

// Steps that are bound by their weights are measured for one speed of memory, that of the database.
TEST(keeps_the_usual_speed_of_memory)
{
    TEMPORARY_PATH(file);
    double usual[2];
    for (int i = 0; i < 2; i++) {
        struct backend_options options = {.threads = 1, .cost_file = file};
        DEVICE(cpu, cpu_backend_open(&options, &(struct error){0}));
        assert_non_null(cpu);
        struct memory_probe *y = memory_probe_of((struct cpu_backend *)cpu);
        assert_ptr_equal(y, memory_probe_of((struct cpu_backend *)cpu));
        usual[i] = memory_probe_usual(y);
        assert_true(usual[i] > 0 && memory_probe_read(y).seconds > 0);
        static const char read[] = "memory: 2 MiB that were flushed, in several streams";
        for (double times = 2; times >= 1; times--) {   // as costs are divided that were of another speed
            cost_database_replace(cpu->costs, read, &(struct step_cost){.seconds = times * usual[i]});
            y = memory_probe_of((struct cpu_backend *)cpu);
            assert_true(fabs(memory_probe_usual(y) - times * usual[i]) <= 1e-4 * usual[i]);
        }
    }
    assert_true(fabs(usual[0] - usual[1]) <= 1e-4 * usual[0]);
}

// One result for each of `rows` rows of n entries, or for each of n columns of `rows` entries.
static void reduce_matrix(enum scalar_function f, float *x, int64_t rows, int64_t n, bool is_by_rows, float *z)
{
    struct instruction reduce = {.kind = INSTRUCTION_REDUCE, .fn = (uint8_t)f};
    int64_t along = is_by_rows ? 1 : n, across = is_by_rows ? n : 1;
    struct loop_access read = {.memory = 0, .dtype = DTYPE_F32, .stride = {across, along}};
    struct loop_result written = {VALUE_OF_INSTRUCTION, {.memory = 1, .dtype = DTYPE_F32, .stride = {1}}};
    struct loop loop = {.rank = 1,
                        .n_reduced = 1,
                        .dim = {is_by_rows ? rows : n, is_by_rows ? n : rows},
                        .n_operands = 1,
                        .n_instructions = 1,
                        .n_results = 1,
                        .operands = &read,
                        .instructions = &reduce,
                        .results = &written};
    struct step step = {.n_loops = 1, .loops = &loop};
    ARENA(arena);
    loops_run(loops_prepare(&step, 2, &arena), NULL, (char *[]){(char *)x, (char *)z});
}

// A NaN anywhere is found, at every length around those of vectors and blocks; sums are right at each.
TEST(reductions_see_every_entry)
{
    enum { MOST = 300, ROWS = 2 };
    static float a[ROWS * MOST], z[MOST];
    for (int n = 1; n <= MOST; n += n < 70 ? 1 : 23) {
        for (int i = 0; i < ROWS * n; i++)
            a[i] = (float)(i % 7);
        double sum = 0;
        for (int i = n; i < ROWS * n; i++)
            sum += (double)a[i];
        reduce_matrix(FN_ADD, a, ROWS, n, true, z);
        assert_true((double)z[1] == sum);
        for (int i = 0; i < n; i++) {
            float kept = a[n + i];
            a[n + i] = 100;
            reduce_matrix(FN_MAX, a, ROWS, n, true, z);
            assert_true(z[0] <= 6 && z[1] == 100);
            reduce_matrix(FN_MAX, a, ROWS, n, false, z);
            assert_true(z[i] == 100);
            a[n + i] = NAN;
            reduce_matrix(FN_MIN, a, ROWS, n, true, z);
            assert_true(z[0] == 0 && isnan(z[1]));
            reduce_matrix(FN_MIN, a, ROWS, n, false, z);
            assert_true(isnan(z[i]));
            a[n + i] = kept;
        }
    }
}

// Nothing is reduced, and no memory read.
TEST(reductions_of_nothing_have_their_start)
{
    float x = 1, z[3] = {7, 7, 7};
    reduce_matrix(FN_ADD, &x, 3, 0, true, z);
    assert_true(z[0] == 0 && z[1] == 0 && z[2] == 0);
    reduce_matrix(FN_MAX, &x, 0, 3, false, z);
    assert_true(z[0] == -INFINITY && z[2] == -INFINITY);
}

// No entry beyond a block is touched, and what is computed of one entry does not depend on its place in the block.
TEST(ends_of_blocks_are_left_alone)
{
    static const enum scalar_function curves[] = {FN_EXP, FN_ERF, FN_TANH, FN_LOG, FN_SIGMOID};
    enum { MOST = 40 };
    float a[MOST], z[MOST + 1], one;
    for (int i = 0; i < MOST; i++)
        a[i] = 0.1f * (float)(i + 1);
    for (size_t k = 0; k < COUNT_OF(curves); k++)
        for (int n = 1; n <= MOST; n++) {
            z[n] = -7;
            functions_apply(curves[k], z, a, NULL, NULL, n);
            functions_apply(curves[k], &one, &a[n - 1], NULL, NULL, 1);
            assert_true(z[n] == -7 && fabsf(z[n - 1] - one) <= 1e-6f * fabsf(one));
        }
}
