// Layouts of graphs with too many choices for the least sum: concatenations of concatenations, planned for the
// processor, at costs made up by the words of each step.
#include "backends/costs/graph_cost.h"
#include "backends/costs/step_cost.h"
#include "backends/cpu/cpu.h"
#include "backends/layouts/choose_layouts.h"
#include "backends/planning/plan_text.h"
#include "core/memory/hash.h"
#include "tests/backends/device.h"
#include "tests/support/parse_graph.h"

// The processor's plans; what a step costs follows from its words and this number.
static uint64_t scatter_of_costs;

static bool make_up_cost(struct backend *b, const struct plan *plan, const struct step *step, const choice_list *among,
                         double best, struct step_cost *ret_cost, struct error *error)
{
    struct words words = {0};
    step_encode(plan, step, &words);
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

static void add_features(struct text *text, int first, int last)
{
    for (int i = first; i <= last; i++)
        text_printf(text, " f%d", i);
}

// A dense block: each layer reads the concatenation of all former ones.
static void print_dense_graph(struct text *text, int layers)
{
    text_add(text, "x = f32 1 32 4 4; w = weight f32 32 32 3 3; f0 = conv :pad 1 1 1 1 x w; r0 = relu f0");
    for (int i = 0; i < layers; i++) {
        if (i > 0) {
            text_printf(text, "; c%d = concat 1", i);
            add_features(text, 0, i);
            text_printf(text, "; r%d = relu c%d", i, i);
        }
        text_printf(text, "; v%d = weight f32 64 %d 1 1; p%d = conv r%d v%d", i, 32 + 16 * i, i, i, i);
        text_printf(text, "; w%d = weight f32 16 64 3 3; f%d = conv :pad 1 1 1 1 p%d w%d", i, i + 1, i, i);
    }
    text_add(text, "; z = concat 1");
    add_features(text, 0, layers);
}

// Half of a U-net's way down and up again: each level reads its image from the way down. (U-net++: those of all
// levels.)
static void print_u_graph(struct text *text, int levels, bool is_nested)
{
    text_add(text, "r0 = f32 1 16 8 8");
    for (int i = 1; i <= levels; i++)
        text_printf(text, "; w%d = weight f32 16 16 3 3; f%d = conv :pad 1 1 1 1 r%d w%d; r%d = relu f%d", i, i, i - 1,
                    i, i, i);
    for (int i = levels; i >= 1; i--) {
        text_printf(text, "; c%d = concat 1 %c%d", i, i < levels ? 'u' : 'r', i < levels ? i + 1 : i);
        add_features(text, is_nested ? 1 : i, i);
        text_printf(text, "; v%d = weight f32 16 %d 3 3; u%d = conv :pad 1 1 1 1 c%d v%d", i,
                    is_nested ? 16 * (i + 1) : 32, i, i, i);
    }
}

#define MOST_BYTES ((size_t)16 << 20)   // that choosing layouts for a graph of these tests may hold
#define MOST_GAP 0.05

// Near the bound, not dearer than standard layouts, the same on a device with a past. True: they are the best.
static bool check_layouts(struct backend *used, const char *text, uint64_t scatter)
{
    ARENA(arena);
    GRAPH(g, &arena, text);
    struct estimate e, again, found, standard;
    uint8_t *layouts;
    struct backend *fresh = open_device(scatter);
    size_t before = mem_in_use();
    OK(layouts_find(fresh, backend_step_cost, &g, NULL, &arena, &layouts, &e, &error));
    assert_true(mem_in_use() - before < MOST_BYTES);
    OK(backend_estimate_with(fresh, &g, layouts, &found, &error));
    assert_true(found.seconds <= e.seconds * (1 + 1e-9));
    OK(backend_estimate_with(fresh, &g, NULL, &standard, &error));
    assert_true(e.seconds <= standard.seconds * (1 + 1e-12));
    assert_true(e.gap >= 0 && e.gap < MOST_GAP);
    OK(layouts_find(used, backend_step_cost, &g, NULL, &arena, &layouts, &again, &error));
    if (again.seconds != e.seconds || again.gap != e.gap)
        fail_msg("%.17g s and %.17g s, gaps %g and %g", e.seconds, again.seconds, e.gap, again.gap);
    print_message("%zu tensors: %.4g %% above the bound, %.3g of standard\n", g.tensors.count, 1e2 * e.gap,
                  e.seconds / standard.seconds);
    backend_close(fresh);
    return e.gap == 0;
}

TEST(layouts_of_dense_graphs_are_near_a_bound)
{
    int n_least = 0;
    for (uint64_t scatter = 1; scatter <= 3; scatter++) {
        DEVICE(used, open_device(scatter));
        for (int n = 4; n <= 24; n += 10) {
            TEXT(dense);
            print_dense_graph(&dense, n);
            n_least += check_layouts(used, dense.chars, scatter);
            TEXT(u);
            print_u_graph(&u, n, false);
            assert_true(check_layouts(used, u.chars, scatter));
            TEXT(nested);
            print_u_graph(&nested, n, true);
            n_least += check_layouts(used, nested.chars, scatter);
        }
    }
    assert_true(n_least >= 6 && n_least < 18);   // some are small
}
