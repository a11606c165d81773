// The passes of this compiler on a device whose costs are computed: fingerprints, what is fused, the joint search beside
// the exhaustive truth, and what is kept of it.
#include "backends/costs/cost_database.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/trials.h"
#include "backends/layouts/choose_layouts.h"
#include "backends/planning/plan_chains.h"
#include "tests/backends/graph_on_fake.h"
#include "tests/backends/processor.h"
#include "tuning/former_choices.h"
#include "tuning/neighbourhoods.h"
#include "tuning/passes.h"
#include "tuning/tune_graph.h"

// Two blocks with a residual, of different sizes in the end.
#define NETWORK                                                                                                        \
    "x = f32 1 16 8 8; w = weight f32 16 16 3 3; v = weight f32 16 16 1 1; u = weight f32 32 16 1 1; a = conv "        \
    ":stride 1 1 :pad 1 1 1 1 x w; b = relu a; c = conv :stride 1 1 :pad 0 0 0 0 b v; d = ewadd c x; e = sigmoid d; "  \
    "f = conv :stride 1 1 :pad 0 0 0 0 e u; g = tanh f; h = ewmul g f"

#define SCATTERED(number) (&(struct fake_device){.has_layouts = true, .scatter = number})

static double count_steps(void *context)
{
    return (double)((struct backend *)context)->coster.measured.n_steps;
}

static struct passes_report search(struct backend *fake, size_t n, const struct graph *const *graphs,
                                   const char *schedule, size_t most_steps)
{
    struct passes_report report;
    struct passes *p = passes_new(fake);
    const struct passes_options options = {.n_graphs = n,
                                           .graphs = graphs,
                                           .schedule = schedule,
                                           .seconds = 1e9,
                                           .most_steps = most_steps,
                                           .seed = 1,
                                           .has_store = true,
                                           .clock = count_steps,
                                           .context = fake};
    OK(passes_search(p, &options, &report, &error));
    passes_free(p);
    return report;
}

// Of all sets of nodes that are not fused, with the best layouts for each: the least sum.
static double least_of_all_fusions(struct fixture *f)
{
    double least = INFINITY;
    size_t n = f->g.tensors.count;
    uint8_t *decisions = arena_array(&f->arena, uint8_t, n + 1);
    for (uint64_t bits = 0; bits < (uint64_t)1 << n; bits++) {
        bool is_leaf = false;
        for (tensor_id t = 0; t < n; t++) {
            bool is_apart = bits >> t & 1;
            decisions[t] = LAYOUT_ANY | (is_apart ? PLAN_APART : 0);
            is_leaf = is_leaf || (is_apart && (graph_producer(&f->g, t)->op->flags & OPERATOR_IS_LEAF));
        }
        ARENA(arena);
        uint8_t *layouts;
        struct estimate e;
        if (!is_leaf) {
            assert_true(
                layouts_find(f->fake, backend_step_cost, &f->g, decisions, &arena, &layouts, &e, &(struct error){0}));
            least = fmin(least, e.seconds);
        }
    }
    return least;
}

// Fusion alone does not change what the solver found of layouts where all is fused.
TEST(joint_search_finds_the_least)
{
    static const struct {
        const char *schedule;
        double most;   // times the least; 0: what it was
    } cases[] = {{"(exhaustive 1 (fusion 1))", 0},
                 {"(exhaustive 1 (fusion 1) (layout 1))", 0},
                 {"(annealing 1 (fusion 5) (layout 5))", 1.05},
                 {"(evolution 1 (fusion 5) (layout 5))", 1.05},
                 {"(model 1 (fusion 5) (layout 5))", 1.05}};
    for (uint64_t scatter = 1; scatter <= 6; scatter++)
        for (size_t i = 0; i < COUNT_OF(cases); i++) {
            FIXTURE(&f, SCATTERED(scatter), NETWORK);
            double least = least_of_all_fusions(&f);
            struct passes_report report = search(f.fake, 1, (const struct graph *[]){&f.g}, cases[i].schedule, 300);
            print_message("%.4f of the least, from %.4f: %s\n", report.joint.after / least, report.joint.before / least,
                          cases[i].schedule);
            assert_true(report.joint.after >= least * (1 - 1e-9) && report.joint.after <= report.joint.before);
            assert_true(cases[i].most == 0 || report.joint.after <= least * cases[i].most);
        }
}

// The choices that were found are in the cost database, and a graph is planned by them, to the same cost.
TEST(what_is_found_is_kept)
{
    for (uint64_t scatter = 1; scatter <= 10; scatter++) {
        FIXTURE(&f, SCATTERED(scatter), NETWORK);
        struct estimate estimate;
        struct passes_report first =
            search(f.fake, 1, (const struct graph *[]){&f.g}, "(annealing 1 (fusion 5) (layout 5))", 60);
        struct passes *p = passes_new(f.fake);
        f.fake->policy = LAYOUTS_TUNED;
        f.fake->tuned = passes_decisions(p);
        assert_true(backend_estimate(f.fake, &f.g, &estimate, &(struct error){0}));
        assert_true(fabs(estimate.seconds / first.joint.after - 1) < 1e-9);
        passes_free(p);
        struct passes_report second =
            search(f.fake, 1, (const struct graph *[]){&f.g}, "(annealing 1 (fusion 5) (layout 5))", 60);
        assert_true(second.joint.at_start == first.joint.after && second.joint.before == first.joint.before);
    }
}

// The same with a step in vain, which is where it begins.
TEST(the_better_graph_is_taken)
{
    static const char worse[] = "x = f32 1 16 8 8; w = weight f32 16 16 3 3; a = conv :stride 1 1 :pad 1 1 1 1 x w; "
                                "b = relu a; t = transpose :perm 0 2 3 1 b; m = softmax 3 t";
    static const char better[] =
        "x = f32 1 16 8 8; w = weight f32 16 16 3 3; a = conv :stride 1 1 :pad 1 1 1 1 x w; b = relu a";
    ARENA(arena);
    GRAPH(g, &arena, worse);
    GRAPH(h, &arena, better);
    const struct graph *graphs[] = {&g, &h};
    DEVICE(fake, fake_backend_open(SCATTERED(3), &(struct error){0}));
    struct passes_report report = search(fake, 2, graphs, "(annealing 1 (graph 1) (fusion 3))", 20);
    assert_int_equal(report.graph, 1);
    assert_true(report.joint.of[PASS_GRAPH].gain > 1 && report.joint.after < report.joint.before);
}

// Equal neighbourhoods have equal fingerprints in other graphs, too, with other weights and whatever is folded of them.
TEST(fingerprints_are_of_neighbourhoods)
{
    static const char chain[] =
        "x = f32 4 4; w = weight f32 4 4; m = matmul x w; a = relu m; b = relu a; c = relu b; d = relu c";
    static const char same[] =
        "x = input 3 f32 4 4; w = weight 5 f32 4 4; v = exp w; m = matmul x v; a = relu m; b = relu a; c = tanh b";
    ARENA(arena);
    GRAPH(g, &arena, chain);
    GRAPH(h, &arena, same);
    uint64_t of_g[16], of_h[16];
    for (int hops = 0; hops <= 3; hops++) {
        neighbourhoods_find(&g, hops, of_g);
        neighbourhoods_find(&h, hops, of_h);
        // nodes of g: x w m a b c d; of h: x w v m a b c
        assert_true(of_g[0] == 0 && of_g[1] == 0 && of_h[2] == 0);
        assert_int_equal(of_g[2] == of_h[3], hops < 3);
        assert_int_equal(of_g[3] == of_h[4], hops < 2);
        assert_int_equal(of_g[4] == of_h[5], hops < 1);
        assert_int_equal(of_g[3] == of_g[4], hops < 1);
    }
}

static void say(struct backend *b, const struct plan *plan, const struct step *step, double seconds)
{
    struct step_key key FREED_BY(step_key_free) = step_key_of(b, plan, step, PRECISION_EXACT);
    cost_database_add(b->costs, key.text.chars, &(struct step_cost){.seconds = seconds});
}

// Each step takes 1 ms, and all that may be joined 0.1.
static void say_all(struct backend *b, const struct graph *g, struct arena *arena)
{
    PLAN(plan, b, g, NULL, arena);
    for (uint32_t last = 0; last < plan.steps.count; last++) {
        uint32_t steps[CHAIN_MOST], n = 0;
        struct plan_chain chain;
        say(b, &plan, &plan.steps.items[last], 1e-3);
        for (uint32_t at = last; at != UINT32_MAX && n < CHAIN_MOST; at = plan_find_before(&plan, &b->target, at)) {
            steps[CHAIN_MOST - ++n] = at;
            plan_chain_make(&plan, &b->target, (int)n, steps + CHAIN_MOST - n, &chain);
            if (n > 1 && b->target.is_chain(&chain.joined))
                say(b, &plan, &chain.joined, 1e-4);
        }
    }
}

// Not their parts, by which the model does not run.
TEST(joined_steps_are_tuned_as_one)
{
    static const char text[] = "(graph (let x (input 0) (f32 1 16 40 40)) (let u (weight 0) (f32 96 16 1 1))"
                               " (let v (weight 1) (f32 96 1 3 3)) (let e (conv x u)) (let f (relu e))"
                               " (let d (conv :pad 1 1 1 1 :group 96 f v)) (output d))";
    const struct tuning_options options = {.seconds = 0};
    ARENA(arena);
    GRAPH(g, &arena, text);
    CPU(b, .threads = 1);
    say_all(b, &g, &arena);
    struct graph_tuning *t = graph_tuning_new(b, &g, LAYOUTS_STANDARD, &options);
    assert_non_null(t);
    struct tuning_progress p = plan_tuning_progress(graph_tuning_of_plan(t));
    assert_int_equal(p.n_steps, 1);
    assert_true(fabs(p.before / 1e-4 - 1) < 1e-9);
    graph_tuning_free(t);
}

// A tuned choice goes again, though the one before it was measured beside other programs, and costs more.
TEST(former_choices_come_back)
{
    for (int is_doubtful = 0; is_doubtful < 2; is_doubtful++) {
        FIXTURE(&f, SCATTERED(1), NETWORK);
        const struct step_cost before = {.seconds = 1e-3, .choice = "before", .is_doubtful = is_doubtful};
        const struct step_cost tuned = {.seconds = 5e-4, .choice = "tuned"};
        struct step_cost found;
        PLAN(plan, f.fake, &f.g, NULL, &f.arena);
        const struct step *step = &plan.steps.items[0];
        struct step_key key FREED_BY(step_key_free) = step_key_of(f.fake, &plan, step, PRECISION_EXACT);
        cost_database_add(f.fake->costs, key.text.chars, &before);
        struct former_choices *former = former_choices_note(f.fake);
        cost_database_add(f.fake->costs, key.text.chars, &tuned);
        assert_true(cost_database_find(f.fake->costs, key.text.chars, &found));
        assert_string_equal(found.choice, "tuned");
        // A step that is seen since then, and tuned, and one that is not.
        const struct step *newer = &plan.steps.items[1];
        backend_adopt_choice(f.fake, &plan, newer, PRECISION_EXACT, &tuned);
        cost_database_add(f.fake->costs, "measured", &before);
        struct former_choices *later = former_choices_note(f.fake);
        former_choices_restore(former, f.fake);
        assert_false(backend_recall_cost(f.fake, &plan, newer, &found));
        assert_true(cost_database_find(f.fake->costs, "measured", &found));
        assert_true(cost_database_find(f.fake->costs, key.text.chars, &found));
        assert_string_equal(found.choice, "before");
        assert_true(found.is_doubtful == is_doubtful);
        // The same choice, at the cost that it is to have beside a tuned one.
        cost_database_replace(f.fake->costs, key.text.chars, &(struct step_cost){.seconds = 4e-4, .choice = "before"});
        former_choices_restore(former, f.fake);
        assert_true(cost_database_find(f.fake->costs, key.text.chars, &found));
        assert_true(fabs(found.seconds / 1e-3 - 1) < 1e-9);
        former_choices_restore(later, f.fake);
        assert_true(backend_recall_cost(f.fake, &plan, newer, &found) && strcmp(found.choice, "tuned") == 0);
        former_choices_free(later);
        former_choices_free(former);
    }
}
