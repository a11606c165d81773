// Plans: what becomes a step, a view or an epilogue, memory without overlaps, keys of steps, and estimates.
#include "backends/costs/graph_cost.h"
#include "backends/costs/layout_policy.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"
#include "tests/backends/graph_on_fake.h"
#include "tests/support/cases.h"

// The operators of each step, steps separated by bars; "copy" where entries are only moved, ' where done once.
static void summarize(struct text *out, const struct plan *plan)
{
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *s = &plan->steps.items[i];
        text_add(out, i ? " | " : "");
        text_add(out, s->is_constant ? "'" : "");
        if (s->origin.first_node == NO_NODE)
            text_add(out, "copy");
        for (node_id n = s->origin.first_node; n != NO_NODE; n = plan->next_node[n])
            text_printf(out, "%s%s", n == s->origin.first_node ? "" : " ", plan->graph->nodes.items[n].op->name);
    }
}

static void check_steps(struct fixture *f, const char *steps)
{
    TEXT(text);
    struct plan_request request = {&f->g, &f->fake->target, f->fake->codes, NULL, &f->arena};
    OK(plan_make(&f->plan, &request, &error));
    summarize(&text, &f->plan);
    if (strcmp(text.chars, steps) != 0)
        plan_print(&text, &f->plan);
    assert_string_equal(text.chars, steps);
}

static int count_copies(const struct plan *plan)
{
    int n = 0;
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *s = &plan->steps.items[i];
        n += s->node != NO_NODE && plan->graph->nodes.items[s->node].op == operators[OP_CONCAT] ? s->n_loops : 0;
    }
    return n;
}

TEST_OF_CASES(plans_steps_and_parts_in_place, c, "backends/plan.cases")
{
    FIXTURE(&f, sexp_is_call(c, "parts") ? &(struct fake_device){.has_parts = true} : PLAIN, c->items[1].text);
    check_steps(&f, c->items[2].text);
    if (sexp_is_call(c, "parts"))
        assert_int_equal(count_copies(&f.plan), c->items[3].integer);
}

TEST(refuses_opaque_nodes)
{
    struct estimate estimate;
    struct error error = {0};
    FIXTURE(&f, PLAIN, "(graph (let x (input 0) (f32 2)) (let (y) (opaque 0 x) (f32 2)) (output y))");
    assert_false(backend_estimate(f.fake, &f.g, &estimate, &error));
    assert_int_equal(error.code, EXIT_UNSUPPORTED);
}

TEST(estimates_are_sums_over_steps)
{
    struct estimate estimate;
    FIXTURE(&f, PLAIN, "x = f32 1000 1000; y = relu x; z = reducesum :axes 0 1 y");
    assert_true(backend_estimate(f.fake, &f.g, &estimate, &(struct error){0}));
    assert_int_equal(estimate.n_steps, 2);
    double bytes = 4e6 * 3 + 4;
    assert_true(estimate.seconds > 0.999 * (2e-5 + bytes / 1e10) && estimate.seconds < 1.001 * (2e-5 + bytes / 1e10));
}

// --- memory ----------------------------------------------------------------------------------------------------------

TEST(lays_memory_out_without_overlaps)
{
    struct random random = random_seed(7);
    for (int round = 0; round < 200; round++) {
        ARENA(arena);
        struct plan plan = {.arena = &arena};
        uint32_t n = 1 + (uint32_t)random_below(&random, 60);
        size_t most = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t first = (uint32_t)random_below(&random, 30);
            vec_push(&plan.memory, ((struct plan_memory){.dtype = DTYPE_F32,
                                                         .elements = (int64_t)random_below(&random, 1000),
                                                         .first_step = first,
                                                         .last_step = first + (uint32_t)random_below(&random, 9)}));
        }
        plan_lay_out_memory(&plan);
        for (uint32_t step = 0; step < 40; step++) {
            size_t alive = 0;
            for (uint32_t i = 0; i < n; i++) {
                const struct plan_memory *a = &plan.memory.items[i];
                if (a->first_step > step || a->last_step < step)
                    continue;
                assert_int_equal(a->offset % 64, 0);
                assert_true(a->offset + 4 * (size_t)a->elements <= plan.arena_bytes);
                alive += 4 * (size_t)a->elements;
                for (uint32_t k = 0; k < i; k++) {
                    const struct plan_memory *b = &plan.memory.items[k];
                    if (b->first_step <= step && b->last_step >= step)
                        assert_true(a->offset + 4 * (size_t)a->elements <= b->offset ||
                                    b->offset + 4 * (size_t)b->elements <= a->offset);
                }
            }
            most = alive > most ? alive : most;
        }
        assert_true(plan.arena_bytes <= 2 * most + 64 * n);
        vec_free(&plan.memory);
    }
}

struct life {
    int units;   // of 256 bytes, the least being 64 less than that
    uint32_t first_step, last_step;
};

// Each of these is laid out in as little as lives at once by one order alone: by size, bytes times steps, steps, end
// and beginning.
TEST(lays_memory_out_in_the_best_order)
{
    enum { N = 4 };
    static const struct {
        struct life lives[N];
        int most_at_once;
    } cases[] = {{{{2, 3, 4}, {4, 5, 6}, {3, 0, 3}, {2, 2, 5}}, 7},
                 {{{4, 0, 1}, {4, 1, 3}, {2, 2, 2}, {3, 2, 5}}, 9},
                 {{{4, 4, 6}, {6, 1, 2}, {3, 1, 4}, {3, 4, 4}}, 10},
                 {{{3, 5, 6}, {4, 3, 4}, {3, 4, 5}, {3, 5, 6}}, 9},
                 {{{4, 2, 2}, {3, 2, 4}, {6, 4, 6}, {3, 1, 2}}, 10}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan = {0};
        for (int k = 0; k < N; k++) {
            const struct life *l = &cases[i].lives[k];
            vec_push(&plan.memory, ((struct plan_memory){.dtype = DTYPE_F32,
                                                         .elements = 64 * l->units - 16,
                                                         .first_step = l->first_step,
                                                         .last_step = l->last_step}));
        }
        plan_lay_out_memory(&plan);
        assert_int_equal(plan.arena_bytes, 256 * cases[i].most_at_once);
        vec_free(&plan.memory);
    }
}

// --- keys ------------------------------------------------------------------------------------------------------------

#define SUMS(body) "x y = f32 2 3; w = weight f32 2 3; " body

// The key of the only step; gives its number of parts.
static int key_of(const char *body, struct text *ret_key, struct text *ret_exact)
{
    FIXTURE(&f, PLAIN, body);
    struct plan_request request = {&f.g, &f.fake->target, f.fake->codes, NULL, &f.arena};
    assert_true(plan_make(&f.plan, &request, &(struct error){0}));
    assert_int_equal(f.plan.steps.count, 1);
    int n_parts = step_print_key(ret_key, &f.plan, &f.plan.steps.items[0]);
    step_print(ret_exact, &f.plan, &f.plan.steps.items[0]);
    return n_parts;
}

static void expect_keys(const char *a, const char *b, bool is_equal, int n_parts)
{
    TEXT(key);
    TEXT(exact);
    TEXT(other_key);
    TEXT(other_exact);
    assert_int_equal(key_of(a, &key, &exact), n_parts);
    key_of(b, &other_key, &other_exact);
    assert_string_not_equal(exact.chars, other_exact.chars);
    assert_true((strcmp(key.chars, other_key.chars) == 0) == is_equal);
}

TEST(loops_alike_have_one_key)
{
    const char *sum = SUMS("a = ewadd x y; r = ewadd a w; ");
    const char *mixed = SUMS("a = ewmul x y; r = ewadd a w; ");
    expect_keys(sum, SUMS("a = ewadd x w; r = ewadd y a; "), true, 1);
    expect_keys(mixed, SUMS("a = ewadd x y; r = ewmul a w; "), true, 1);
    expect_keys(mixed, sum, false, 1);
    expect_keys(sum, SUMS("a = ewadd x y; r = ewadd a x; "), false, 1);
    expect_keys(sum, SUMS("a = ewadd x w; r = ewadd a w; "), false, 1);
    expect_keys(SUMS("a = relu x; r = ewadd a w; "), SUMS("a = ewadd x w; r = relu a; "), true, 1);
}

#define FIVE "a = ewadd x y; b = ewmul a x; c = ewadd b w; d = ewadd c y; e = ewadd d b; "

// Long sums are taken to cost the same for each part; short ones and those with costlier functions are not.
TEST(long_sums_share_a_key)
{
    const char *nine = SUMS(FIVE "f = ewadd e a; g = ewadd f x; h = ewadd g y; r = ewadd h w; ");
    expect_keys(nine, SUMS(FIVE "f = ewmul e a; g = ewmul f x; h = ewadd g y; r = ewadd h w; "), true, 13);
    expect_keys(nine, SUMS(FIVE "f = ewadd e a; g = ewadd f x; r = ewadd g y; "), true, 13);
    expect_keys(nine, SUMS(FIVE "f = ewadd e a; g = ewadd f x; r = exp g; "), false, 13);
    expect_keys(nine, SUMS(FIVE "r = ewadd e w; "), false, 13);
}

// Two for each multiply-add, but one less for each sum.
TEST(multiply_adds_count_as_two)
{
    FIXTURE(&f, PLAIN, "x = f32 1 6 9 8; w = weight f32 5 6 3 1; c = conv x w");
    struct plan_request request = backend_plan_request(f.fake, &f.g, NULL, &f.arena);
    assert_true(plan_make(&f.plan, &request, &(struct error){0}));
    assert_int_equal(f.plan.steps.count, 1);
    assert_true(step_work(&f.plan, &f.plan.steps.items[0]).operations == 5 * 7 * 8 * (2 * 18 - 1));
}

// Constants as a file that nobody made may want them, also where nothing is left of them when the model runs.
TEST(models_that_no_memory_holds_are_refused)
{
    static const char *const graphs[] = {
        "(graph (let x (input 0) (f32 4)) (let w (weight 0) (f32 16777216 16777216)) (let s (reducesum :axes 1 w))"
        " (let y (relu x)) (output y s))",
        "(graph (let x (input 0) (f32 1 1)) (let y (broadcast :shape 16777216 16777216 x)) (output y))"};
    for (size_t i = 0; i < COUNT_OF(graphs); i++) {
        FIXTURE(&f, PLAIN, graphs[i]);
        struct error error = {0};
        assert_false(backend_has_room(f.fake, &f.g, NULL, &error));
        assert_true(error.code == EXIT_UNSUPPORTED && strstr(error.message, " MiB of memory, and "));
    }
}
