// Layouts of graphs with too many choices for the least sum: concatenations of concatenations, planned for the
// processor, at costs made up by the words of each step.
#include "backends/backend.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/step_cost.h"
#include "backends/cpu/cpu.h"
#include "backends/layouts/choose_layouts.h"
#include "backends/planning/plan_text.h"
#include "core/memory/hash.h"
#include "tests/backends/random_graphs.h"

// The processor's plans; what a step costs follows from its words and this number.
static uint64_t scatter_of_costs;

static bool make_up_cost(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                         double best, struct step_cost *ret_cost, struct error *error)
{
    struct words words = {0};
    step_spell(plan, step, &words);
    struct random random =
        random_seed(hash_bytes(words.list.items, words.list.count * sizeof(int64_t), scatter_of_costs));
    *ret_cost = (struct step_cost){.seconds = 1e-5 + 1e-5 * random_unit(&random)};
    vec_free(&words.list);
    return true;
}

static struct backend *open_device(uint64_t scatter)
{
    static struct backend_methods methods;
    struct backend *b = cpu_backend_open(&(struct backend_options){.threads = 1, .cost_file = ""}, &(struct error){0});
    assert_non_null(b);
    methods = *b->methods;
    methods.has_exact_costs = true;
    methods.measure = make_up_cost;
    b->methods = &methods;
    scatter_of_costs = scatter;
    return b;
}

static void convolve(struct maker *m, tensor_id x, int64_t channels, int64_t kernel)
{
    tensor_id inputs[2] = {x,
                           add_leaf(m, true, 4, (int64_t[]){channels, graph_type(&m->g, x)->dim[1], kernel, kernel})};
    struct arguments a = {0};
    give(&a, "pad", 4, (int64_t[]){kernel / 2, kernel / 2, kernel / 2, kernel / 2});
    assert_true(add_node(m, OP_CONV, &a, 2, inputs));
}

static void begin_graph(struct maker *m, int64_t channels, int64_t size)
{
    *m = (struct maker){.random = random_seed(1)};
    arena_init(&m->arena);
    graph_init(&m->g, &m->arena);
    keep(m, add_leaf(m, false, 4, (int64_t[]){1, channels, size, size}));
}

static void concatenate(struct maker *m, uint32_t n, const tensor_id *inputs)
{
    struct arguments a = {0};
    give(&a, "axis", 1, (int64_t[]){1});
    assert_true(add_node(m, OP_CONCAT, &a, n, inputs));
}

// A dense block: each layer reads the concatenation of all former ones.
static void make_dense_graph(struct maker *m, uint32_t layers)
{
    tensor_id features[32];
    begin_graph(m, 32, 4);
    convolve(m, m->tensors[0], 32, 3);
    features[0] = m->tensors[m->n - 1];
    for (uint32_t i = 1; i <= layers; i++) {
        if (i > 1)
            concatenate(m, i, features);
        add_node(m, OP_RELU, NULL, 1, &m->tensors[m->n - 1]);
        convolve(m, m->tensors[m->n - 1], 64, 1);
        convolve(m, m->tensors[m->n - 1], 16, 3);
        features[i] = m->tensors[m->n - 1];
    }
    concatenate(m, layers + 1, features);
    graph_add_output(&m->g, m->tensors[m->n - 1]);
}

// Half of a U-net's way down and up again: each level reads its image from the way down. (U-net++: those of all
// levels.)
static void make_u_graph(struct maker *m, uint32_t levels, bool is_nested)
{
    tensor_id down[32];
    begin_graph(m, 16, 8);
    for (uint32_t i = 0; i < levels; i++) {
        convolve(m, m->tensors[m->n - 1], 16, 3);
        down[i] = m->tensors[m->n - 1];
        add_node(m, OP_RELU, NULL, 1, &down[i]);
    }
    for (uint32_t i = levels; i-- > 0;) {
        tensor_id inputs[32] = {m->tensors[m->n - 1]};
        memcpy(inputs + 1, is_nested ? down : down + i, sizeof *down * (is_nested ? i + 1 : 1));
        concatenate(m, is_nested ? i + 2 : 2, inputs);
        convolve(m, m->tensors[m->n - 1], 16, 3);
    }
    graph_add_output(&m->g, m->tensors[m->n - 1]);
}

#define MOST_BYTES ((size_t)16 << 20)   // that choosing layouts for a graph of these tests may hold
#define MOST_GAP 0.05

// Near the bound, not dearer than standard layouts, the same on a device with a past. True: they are the best.
static bool check_layouts(struct backend *used, struct maker *m, uint64_t scatter)
{
    struct estimate e, again, found, standard;
    uint8_t *layouts;
    struct backend *fresh = open_device(scatter);
    size_t before = mem_in_use();
    OK(layouts_find(fresh, backend_step_cost, &m->g, NULL, &m->arena, &layouts, &e, &error));
    assert_true(mem_in_use() - before < MOST_BYTES);
    OK(backend_estimate_with(fresh, &m->g, layouts, &found, &error));
    assert_true(found.seconds <= e.seconds * (1 + 1e-9));
    OK(backend_estimate_with(fresh, &m->g, NULL, &standard, &error));
    assert_true(e.seconds <= standard.seconds * (1 + 1e-12));
    assert_true(e.gap >= 0 && e.gap < MOST_GAP);
    OK(layouts_find(used, backend_step_cost, &m->g, NULL, &m->arena, &layouts, &again, &error));
    if (again.seconds != e.seconds || again.gap != e.gap)
        fail_msg("%.17g s and %.17g s, gaps %g and %g", e.seconds, again.seconds, e.gap, again.gap);
    print_message("%zu tensors: %.4g %% above the bound, %.3g of standard\n", m->g.tensors.count, 1e2 * e.gap,
                  e.seconds / standard.seconds);
    backend_close(fresh);
    return e.gap == 0;
}

TEST(layouts_of_dense_graphs_are_near_a_bound)
{
    int n_least = 0;
    for (uint64_t scatter = 1; scatter <= 3; scatter++) {
        DEVICE(used, open_device(scatter));
        for (uint32_t n = 4; n <= 24; n += 10) {
            struct maker m;
            make_dense_graph(&m, n);
            n_least += check_layouts(used, &m, scatter);
            drop_graph(&m);
            make_u_graph(&m, n, false);
            assert_true(check_layouts(used, &m, scatter));
            drop_graph(&m);
            make_u_graph(&m, n, true);
            n_least += check_layouts(used, &m, scatter);
            drop_graph(&m);
        }
    }
    assert_true(n_least >= 6 && n_least < 18);   // some are small
}
