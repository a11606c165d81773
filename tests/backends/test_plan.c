// Plans: what becomes a step, a view or an epilogue, memory without overlaps, estimates, and the cost database.
#include "backends/backend.h"
#include "backends/costs/cost_database.h"
#include "backends/costs/graph_cost.h"
#include "backends/costs/in_model.h"
#include "backends/costs/layout_policy.h"
#include "backends/costs/step_cost.h"
#include "backends/costs/verdicts.h"
#include "backends/fake/fake.h"
#include "backends/planning/plan_memory.h"
#include "backends/planning/plan_text.h"
#include "backends/planning/planner.h"
#include "core/system/file.h"
#include "core/text/log.h"
#include "tests/support/parse_graph.h"
#include <sys/wait.h>
#include <unistd.h>

struct fixture {
    struct arena arena;
    struct graph g;
    struct backend *fake;
    struct plan plan;
};

static void read_graph_for(const struct fake_device *device, struct fixture *f, const char *text)
{
    struct error error = {0};
    *f = (struct fixture){0};
    arena_init(&f->arena);
    parse_graph(&f->g, &f->arena, text);
    f->fake = fake_backend_open(device, &error);
    assert_non_null(f->fake);
}

static void read_graph(struct fixture *f, const char *text)
{
    read_graph_for(&(struct fake_device){0}, f, text);
}

static void drop(struct fixture *f)
{
    if (f->plan.graph)
        plan_free(&f->plan);
    backend_close(f->fake);
    graph_free(&f->g);
    arena_free(&f->arena);
}

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

#define BERT_HEADS                                                                                                     \
    "(graph (let x (input 0) (f32 8 32)) (let w (weight 0) (f32 32 32)) (let b (weight 1) (f32 32))"                   \
    " (let m (matmul x w)) (let bb (broadcast :shape 8 32 b)) (let a (ewadd m bb)) (let r (reshape :shape 8 4 8 a))"   \
    " (let t (transpose :perm 1 0 2 r)) (let u (transpose :perm 1 2 0 r)) (let s (matmul t u))"                        \
    " (let z (softmax 2 s)) (output z))"

static const struct {
    const char *graph, *steps;
} plans[] = {
    {"(graph (let x (input 0) (f32 4 4)) (let y (relu x)) (let z (tanh y)) (let s (ewadd z x)) (output s))",
     "relu tanh ewadd"},
    {"(graph (let x (input 0) (f32 4 4)) (let y (relu x)) (let z (tanh y)) (output y z))", "relu tanh"},
    // two chains join; the matrix products keep what follows them alone
    {"(graph (let x (input 0) (f32 1 8)) (let w (weight 0) (f32 8 8)) (let v (weight 1) (f32 8 8))"
     " (let a (matmul x w)) (let b (matmul x v)) (let c (relu a)) (let d (sigmoid b)) (let e (sub c d)) (output e))",
     "matmul relu | matmul sigmoid sub"},
    // all uses of the product lead to one tensor: they are its epilogue
    {"(graph (let x (input 0) (f32 2 8)) (let w (weight 0) (f32 8 8)) (let a (matmul x w)) (let c (relu a))"
     " (let d (tanh a)) (let e (ewmul c d)) (output e))",
     "matmul relu tanh ewmul"},
    // somebody else needs it: no epilogue
    {"(graph (let x (input 0) (f32 2 8)) (let w (weight 0) (f32 8 8)) (let a (matmul x w)) (let c (relu a))"
     " (let r (reducesum :axes 1 a)) (output c r))",
     "matmul | relu | reducesum"},
    {BERT_HEADS, "matmul ewadd | matmul | softmax"},
    // views cost nothing, but outputs are dense
    {"(graph (let x (input 0) (f32 2 6)) (let t (transpose :perm 1 0 x)) (output t))", "copy"},
    {"(graph (let x (input 0) (f32 2 6)) (let (a b) (split 1 :sizes 2 4 x)) (let r (relu b)) (output a r))",
     "relu | copy"},
    // weights alone: done once
    {"(graph (let x (input 0) (f32 2 3)) (let w (weight 0) (f32 3)) (let e (exp w)) (let b (broadcast :shape 2 3 e))"
     " (let y (ewmul x b)) (output y))",
     "'exp | ewmul"},
    // right before who needs it, wherever the graph has it
    {"(graph (let x (input 0) (f32 2 8)) (let w (weight 0) (f32 8 8)) (let v (weight 1) (f32 8 8)) (let e (exp w))"
     " (let s (tanh v)) (let t (sqrt s)) (let a (matmul x e)) (let r (reducesum :axes 1 a))"
     " (let b (broadcast :shape 2 8 r)) (let m (matmul b t)) (output m))",
     "'exp | matmul | reducesum | 'tanh sqrt | matmul"},
    {"(graph (let x (input 0) (i64 3)) (let y (neg x)) (let z (cast :to f32 y)) (output z))", "neg | cast"},
    // a group that somebody else reads already does not grow
    {"(graph (let x (input 0) (f32 2 3)) (let y (exp x)) (let r (reducesum :axes 1 y))"
     " (let b (broadcast :shape 2 3 r)) (let z (div y b)) (output z))",
     "exp | reducesum | div"},
};

static void check_steps(struct fixture *f, const char *steps)
{
    TEXT(text);
    struct error error = {0};
    struct plan_request request = {&f->g, &f->fake->target, f->fake->codes, NULL, &f->arena};
    if (!plan_make(&f->plan, &request, &error))
        fail_msg("%s", error.message);
    summarize(&text, &f->plan);
    if (strcmp(text.chars, steps) != 0)
        plan_print(&text, &f->plan);
    assert_string_equal(text.chars, steps);
}

TEST(plans_steps)
{
    for (size_t i = 0; i < COUNT_OF(plans); i++) {
        struct fixture f;
        read_graph(&f, plans[i].graph);
        check_steps(&f, plans[i].steps);
        drop(&f);
    }
}

// --- concatenations --------------------------------------------------------------------------------------------------

#define MATRICES(body)                                                                                                 \
    "(graph (let x (input 0) (f32 4 8)) (let y (input 1) (f32 4 8)) (let w (weight 0) (f32 8 8)) (let v (weight 1) "   \
    "(f32 8 8))" body ")"

static const struct {
    const char *graph, *steps;
    int n_copies;   // by the steps of concatenations
} concatenations[] = {
    // everybody writes its part, through epilogues too, and the output is where they write
    {MATRICES("(let a (matmul x w)) (let b (relu a)) (let c (matmul x v)) (let z (concat 1 b c)) (output z)"),
     "matmul relu | matmul", 0},
    {MATRICES("(let a (exp x)) (let b (softmax 1 y)) (let z (concat 0 a b)) (let t (tanh z)) (output t)"),
     "exp | softmax | tanh", 0},
    {MATRICES("(let m (matmul x w)) (let n (matmul y v)) (let s (ewadd m n)) (let a (relu s)) (let b (exp x))"
              "(let z (concat 1 a b)) (output z)"),
     "matmul | matmul ewadd relu | exp", 0},
    // inputs, weights, outputs, and what is given twice are copied
    {MATRICES("(let a (exp x)) (let z (concat 1 y a)) (output z)"), "exp | concat", 1},
    {MATRICES("(let a (exp x)) (let z (concat 0 a w)) (output z)"), "exp | concat", 1},
    {MATRICES("(let a (exp x)) (let b (tanh y)) (let z (concat 1 a b a)) (output z)"), "exp | tanh | concat", 1},
    {MATRICES("(let a (exp x)) (let b (tanh y)) (let z (concat 1 a b)) (output z a)"), "exp | tanh | concat", 1},
    {MATRICES("(let t (transpose :perm 1 0 x)) (let a (exp x)) (let e (exp t)) (let u (transpose :perm 1 0 e))"
              "(let z (concat 0 u a)) (output z)"),
     "exp | exp | concat", 1},
    // one of two places
    {MATRICES("(let a (exp x)) (let b (tanh y)) (let c (concat 1 a b)) (let d (concat 1 b a)) (output c d)"),
     "exp | tanh | concat", 2},
    // within one another, on other axes, and beginnings of others
    {MATRICES("(let a (exp x)) (let b (tanh y)) (let c (concat 1 a b)) (let d (matmul x w)) (let e (concat 1 d c))"
              "(output e)"),
     "exp | tanh | matmul", 0},
    {MATRICES("(let a (exp x)) (let b (tanh y)) (let c (concat 1 a b)) (let d (concat 1 b b)) (let e (concat 0 d c))"
              "(output e)"),
     "exp | tanh | concat | concat", 2},
    {MATRICES("(let a (exp x)) (let b (tanh y)) (let c (concat 1 a b)) (let d (softmax 1 c)) (let e (concat 1 a b d))"
              "(output e)"),
     "exp | tanh | softmax", 0},
    // neighbours are too few to be written one by one
    {"(graph (let x (input 0) (f32 9 1)) (let a (exp x)) (let b (tanh x)) (let z (concat 1 a b)) (output z))",
     "exp | tanh | concat", 2},
    // a group of loops writes several parts
    {MATRICES("(let a (exp x)) (let b (tanh a)) (let z (concat 1 b a)) (output z)"), "exp tanh", 0},
};

static int count_copies(const struct plan *plan)
{
    int n = 0;
    for (size_t i = 0; i < plan->steps.count; i++) {
        const struct step *s = &plan->steps.items[i];
        n += s->node != NO_NODE && plan->graph->nodes.items[s->node].op == operators[OP_CONCAT] ? s->n_loops : 0;
    }
    return n;
}

TEST(writes_parts_in_place)
{
    for (size_t i = 0; i < COUNT_OF(concatenations); i++) {
        struct fixture f;
        read_graph_for(&(struct fake_device){.has_parts = true}, &f, concatenations[i].graph);
        check_steps(&f, concatenations[i].steps);
        assert_int_equal(count_copies(&f.plan), concatenations[i].n_copies);
        drop(&f);
    }
}

TEST(refuses_opaque_nodes)
{
    struct fixture f;
    struct estimate estimate;
    struct error error = {0};
    read_graph(&f, "(graph (let x (input 0) (f32 2)) (let (y) (opaque 0 x) (f32 2)) (output y))");
    assert_false(backend_estimate(f.fake, &f.g, &estimate, &error));
    assert_int_equal(error.code, EXIT_UNSUPPORTED);
    drop(&f);
}

TEST(estimates_are_sums_over_steps)
{
    struct fixture f;
    struct estimate estimate;
    struct error error = {0};
    read_graph(&f, "(graph (let x (input 0) (f32 1000 1000)) (let y (relu x)) (let z (reducesum :axes 0 1 y))"
                   " (output z))");
    assert_true(backend_estimate(f.fake, &f.g, &estimate, &error));
    assert_int_equal(estimate.n_steps, 2);
    double bytes = 4e6 * 3 + 4;
    assert_true(estimate.seconds > 0.999 * (2e-5 + bytes / 1e10) && estimate.seconds < 1.001 * (2e-5 + bytes / 1e10));
    drop(&f);
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

#define SUMS(body)                                                                                                     \
    "(graph (let x (input 0) (f32 2 3)) (let y (input 1) (f32 2 3)) (let w (weight 0) (f32 2 3))" body " (output r))"

// The key of the only step; gives its number of parts.
static int key_of(const char *body, struct text *ret_key, struct text *ret_exact)
{
    struct fixture f;
    struct error error = {0};
    read_graph(&f, body);
    struct plan_request request = {&f.g, &f.fake->target, f.fake->codes, NULL, &f.arena};
    assert_true(plan_make(&f.plan, &request, &error));
    assert_int_equal(f.plan.steps.count, 1);
    int n_parts = step_print_key(ret_key, &f.plan, &f.plan.steps.items[0]);
    step_print(ret_exact, &f.plan, &f.plan.steps.items[0]);
    drop(&f);
    return n_parts;
}

static void expect_keys(const char *a, const char *b, bool is_equal, int n_parts)
{
    struct text keys[2] = {{0}}, exact[2] = {{0}};
    assert_int_equal(key_of(a, &keys[0], &exact[0]), n_parts);
    key_of(b, &keys[1], &exact[1]);
    assert_string_not_equal(exact[0].chars, exact[1].chars);
    if (is_equal)
        assert_string_equal(keys[0].chars, keys[1].chars);
    else
        assert_string_not_equal(keys[0].chars, keys[1].chars);
    for (int i = 0; i < 2; i++) {
        text_free(&keys[i]);
        text_free(&exact[i]);
    }
}

TEST(loops_alike_have_one_key)
{
    const char *sum = SUMS("(let a (ewadd x y)) (let r (ewadd a w))");
    const char *mixed = SUMS("(let a (ewmul x y)) (let r (ewadd a w))");
    expect_keys(sum, SUMS("(let a (ewadd x w)) (let r (ewadd y a))"), true, 1);
    expect_keys(mixed, SUMS("(let a (ewadd x y)) (let r (ewmul a w))"), true, 1);
    expect_keys(mixed, sum, false, 1);
    expect_keys(sum, SUMS("(let a (ewadd x y)) (let r (ewadd a x))"), false, 1);
    expect_keys(sum, SUMS("(let a (ewadd x w)) (let r (ewadd a w))"), false, 1);
    expect_keys(SUMS("(let a (relu x)) (let r (ewadd a w))"), SUMS("(let a (ewadd x w)) (let r (relu a))"), true, 1);
}

#define FIVE "(let a (ewadd x y)) (let b (ewmul a x)) (let c (ewadd b w)) (let d (ewadd c y)) (let e (ewadd d b))"

// Long sums are taken to cost the same for each part; short ones and those with costlier functions are not.
TEST(long_sums_share_a_key)
{
    const char *nine = SUMS(FIVE "(let f (ewadd e a)) (let g (ewadd f x)) (let h (ewadd g y)) (let r (ewadd h w))");
    expect_keys(nine, SUMS(FIVE "(let f (ewmul e a)) (let g (ewmul f x)) (let h (ewadd g y)) (let r (ewadd h w))"),
                true, 13);
    expect_keys(nine, SUMS(FIVE "(let f (ewadd e a)) (let g (ewadd f x)) (let r (ewadd g y))"), true, 13);
    expect_keys(nine, SUMS(FIVE "(let f (ewadd e a)) (let g (ewadd f x)) (let r (exp g))"), false, 13);
    expect_keys(nine, SUMS(FIVE "(let r (ewadd e w))"), false, 13);
}

// --- the database ----------------------------------------------------------------------------------------------------

TEST(databases_survive_and_merge)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    struct error error = {0};
    struct cost_database *a, *b;
    struct step_cost cost;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    assert_true(cost_database_open(&a, path, "one", &error));
    assert_true(cost_database_open(&b, path, "two", &error));
    cost_database_add(a, "x", &(struct step_cost){.seconds = 1.5e-3, .spread = 0.25});
    cost_database_add(b, "x", &(struct step_cost){.seconds = 2.5e-3, .spread = 0.125});
    cost_database_add(b, "say \"y\"", &(struct step_cost){.seconds = 1});
    assert_true(cost_database_write(a, &error));
    assert_true(cost_database_write(b, &error));
    cost_database_free(a);
    cost_database_free(b);
    assert_true(cost_database_open(&a, path, "one", &error));
    assert_int_equal(cost_database_count(a), 3);
    assert_true(cost_database_find(a, "x", &cost));
    assert_true(cost.seconds == 1.5e-3 && cost.spread == 0.25);
    cost_database_add(a, "w inexact", &(struct step_cost){.seconds = 1, .error = 1.26e-6, .choice = "winograd"});
    cost_database_add(a, "z", &(struct step_cost){.seconds = 1.0 / 3, .spread = 1.0 / 3});
    assert_true(cost_database_find(a, "z", &cost));
    assert_true(cost.seconds == 0.33333 && cost.spread == 0.333);   // as it would be read again
    assert_false(cost_database_find(a, "say \"y\"", &cost));
    assert_true(cost_database_write(a, &error));
    cost_database_free(a);
    assert_true(cost_database_open(&a, path, "one", &error));
    assert_true(cost_database_find(a, "w inexact", &cost));
    assert_true(cost.error == 1.3e-6 && strcmp(cost.choice, "winograd") == 0);
    cost_database_free(a);
    assert_true(file_write_text(path, "(costs 1 \"d\")\n(x 1 2)\n", 22, &error));
    assert_false(cost_database_open(&a, path, "one", &error));
    assert_int_equal(error.line, 2);
    unlink(path);
    rmdir(folder);
}

TEST(verdicts_are_rows)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64], row[256];
    struct error error = {0};
    struct cost_database *costs;
    struct verdict v;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    assert_true(cost_database_open(&costs, path, "one", &error));
    assert_false(verdict_find(costs, 7, &v));
    verdict_keep(costs, 7, &(struct verdict){~(uint64_t)0, 3, {1.0460001, 1.031, 1.06, 7}, 0.075, 0.01, 0});
    verdict_keep(costs, 8, &(struct verdict){.original = 5, .seconds = 1});
    assert_true(verdict_find(costs, 7, &v) && v.gain.ratio == 1.046);   // as it would be read again
    assert_true(cost_database_write(costs, &error));
    cost_database_free(costs);
    assert_true(cost_database_open(&costs, path, "one", &error));
    assert_true(verdict_find(costs, 7, &v) && v.original == ~(uint64_t)0 && v.result == 3 && v.run > 0);
    assert_true(v.gain.ratio == 1.046 && v.gain.low == 1.031 && v.gain.high == 1.06 && v.gain.n_loads == 7);
    assert_true(verdict_find(costs, 8, &v) && v.original == 5 && v.result == 0 && v.gain.n_loads == 0);
    for (size_t i = 0; i < cost_database_count(costs); i++)
        assert_true(verdict_has(cost_database_text(costs, i)));
    cost_database_free(costs);
    static const char some[] = "0000000000000003", none[] = "0000000000000000";
    static const struct {
        const char *result, *gain;
        bool is_sound;
    } rows[] = {
        {some, " 1 1 1 7", true},
        {none, " 0 0 0 0", true},
        {some, "", false},
        {some, " 1 2 3 7", false},
        {some, " 1 0 3 7", false},
        {some, " 1 nan 3 7", false},
        {some, " 1 1 1 0", false},
        {some, " 1 1 inf 7", false},
        {some, " 1 1 1 -7", false},
        {some, " 1 1 1 7 7", false},
        {some, " 1", false},
        {some, " 1 1 1", false},
        {some, " 1 1 1 7x", false},
        {some, " 1 1 1 9999", false},
        {none, "", false},
        {none, " 1 1 1 7", false},
        {"3", " 1 1 1 7", false},
        {"0", "", false},
        {"", "", false},
        {"-3", " 1 1 1 7", false},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        int n = snprintf(row, sizeof row,
                         "(costs 4 \"one\")\n(\"contest 0000000000000007\" 1 0 \"0000000000000005 %s%s\")\n",
                         rows[i].result, rows[i].gain);
        assert_true(file_write_text(path, row, (size_t)n, &error) && cost_database_open(&costs, path, "one", &error));
        assert_int_equal(verdict_find(costs, 7, &v), rows[i].is_sound);
        cost_database_free(costs);
    }
    unlink(path);
    rmdir(folder);
}

static void add_and_write(const char *path, const char *text, struct step_cost cost)
{
    struct error error = {0};
    struct cost_database *costs;
    assert_true(cost_database_open(&costs, path, "one", &error));
    cost_database_add(costs, text, &cost);
    assert_true(cost_database_write(costs, &error));
    cost_database_free(costs);
}

static void expect_cost(const char *path, const char *text, double seconds, bool is_doubtful, bool is_in_model)
{
    struct error error = {0};
    struct cost_database *costs;
    struct step_cost cost;
    assert_true(cost_database_open(&costs, path, "one", &error));
    assert_true(cost_database_find(costs, text, &cost) && cost.seconds == seconds && cost.is_old);
    assert_true(cost.is_doubtful == is_doubtful && cost.is_in_model == is_in_model);
    cost_database_free(costs);
}

// A cost measured on a busy machine is kept as doubtful, and takes the place only of what is longer.
TEST(doubtful_costs_are_kept_as_such)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    add_and_write(path, "x", (struct step_cost){.seconds = 3, .is_doubtful = true});
    expect_cost(path, "x", 3, true, false);
    add_and_write(path, "x", (struct step_cost){.seconds = 4, .is_doubtful = true});
    expect_cost(path, "x", 3, true, false);
    add_and_write(path, "x", (struct step_cost){.seconds = 2, .is_doubtful = true});
    expect_cost(path, "x", 2, true, false);
    add_and_write(path, "x", (struct step_cost){.seconds = 2.5});
    expect_cost(path, "x", 2.5, false, false);
    add_and_write(path, "x", (struct step_cost){.seconds = 2.75, .is_doubtful = true});
    expect_cost(path, "x", 2.5, false, false);
    add_and_write(path, "x", (struct step_cost){.seconds = 2.25, .is_doubtful = true});
    expect_cost(path, "x", 2.25, true, false);
    add_and_write(path, "x", (struct step_cost){.seconds = 3.5, .is_in_model = true, .choice = "c"});
    expect_cost(path, "x", 3.5, false, true);
    unlink(path);
    rmdir(folder);
}

static double noted_in_model(struct fixture *f, double seconds)
{
    cost_corrections corrections = {0};
    struct step_cost cost = {0};
    const struct step *step = &f->plan.steps.items[0];
    backend_note_in_model(f->fake, &f->plan, step, seconds, 0.01, false);
    backend_adopt_in_model(f->fake, &corrections);
    assert_true(backend_recall_cost(f->fake, &f->plan, step, &cost) && cost.is_in_model);
    vec_free(&corrections);
    return cost.seconds;
}

// The time that a step takes longer in another load of the models was added by others, and leads to no other search.
TEST(of_two_times_within_models_the_shorter_stays)
{
    struct fixture f;
    struct error error = {0};
    read_graph(&f, "(graph (let x (input 0) (f32 4 4)) (let y (relu x)) (output y))");
    struct plan_request request = backend_plan_request(f.fake, &f.g, NULL, &f.arena);
    assert_true(plan_make(&f.plan, &request, &error));
    assert_true(noted_in_model(&f, 2e-6) == 2e-6);
    assert_true(noted_in_model(&f, 3e-6) == 2e-6);
    assert_true(noted_in_model(&f, 1e-6) == 1e-6);
    drop(&f);
}

// Costs that change by what runs scatter would send each search to steps that nobody has measured.
TEST(costs_of_another_run_stay_where_they_agree)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    struct fixture f;
    struct error error = {0};
    struct cost_database *costs;
    struct step_cost cost;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    read_graph(&f, "(graph (let x (input 0) (f32 4 4)) (let y (relu x)) (output y))");
    struct plan_request request = backend_plan_request(f.fake, &f.g, NULL, &f.arena);
    assert_true(plan_make(&f.plan, &request, &error));
    struct step_key key = step_key_of(f.fake, &f.plan, &f.plan.steps.items[0], PRECISION_EXACT);
    assert_true(cost_database_open(&costs, path, f.fake->device, &error));
    cost_database_add(costs, key.text.chars, &(struct step_cost){.seconds = 2e-6, .is_in_model = true});
    assert_true(cost_database_write(costs, &error));
    cost_database_free(costs);
    step_key_free(&key);
    cost_database_free(f.fake->costs);
    assert_true(cost_database_open(&f.fake->costs, path, f.fake->device, &error));
    assert_true(noted_in_model(&f, 2.05e-6) == 2e-6);   // of another run
    assert_true(noted_in_model(&f, 1.95e-6) == 2e-6);
    assert_true(noted_in_model(&f, 3e-6) == 3e-6);
    backend_keep_former_costs(f.fake);
    assert_true(backend_recall_cost(f.fake, &f.plan, &f.plan.steps.items[0], &cost));
    assert_true(cost.seconds == 2e-6 && cost.is_in_model);   // no model is run for it again
    drop(&f);
    unlink(path);
    rmdir(folder);
}

// Somebody else has repaired a cost since it was read: that stays.
TEST(what_was_only_read_replaces_nothing)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    struct error error = {0};
    struct cost_database *costs;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    add_and_write(path, "x", (struct step_cost){.seconds = 3});
    assert_true(cost_database_open(&costs, path, "one", &error));
    add_and_write(path, "x", (struct step_cost){.seconds = 1});
    cost_database_add(costs, "y", &(struct step_cost){.seconds = 1});
    assert_true(cost_database_write(costs, &error));
    cost_database_free(costs);
    expect_cost(path, "x", 1, false, false);
    unlink(path);
    rmdir(folder);
}

static void write_run(const char *path, const double *kept)
{
    struct error error = {0};
    struct text text = {0};
    text_add(&text, "(costs 4 \"one\")\n");
    for (int i = 0; i < 3; i++)
        text_printf(&text, "(\"%c\" %g 0.1 (run 7))\n", 'a' + i, kept[i]);
    text_add(&text, "(\"rest\" 1e-3 0.1 (run 7))\n(\"other\" 1e-3 0.1 (run 8))\n");
    assert_true(file_write_text(path, text.chars, text.count, &error));
    text_free(&text);
}

// Costs of a run are measured again, and take 1 ms. What else it left is believed then, now and in the file, or not, and
// that is told in one line.
static void try_run(const char *path, const double *kept, bool is_doubtful, bool is_refuted, double factor)
{
    struct error error = {0};
    struct cost_database *costs;
    struct step_cost cost, now = {.seconds = 1e-3, .is_doubtful = is_doubtful};
    char *told = NULL;
    size_t size;
    struct log log = {open_memstream(&told, &size), "test", LOG_WARNING};
    write_run(path, kept);
    assert_true(cost_database_open(&costs, path, "one", &error));
    for (const char *const *name = (const char *const[]){"a", "b", "c", NULL}; *name; name++)
        if (cost_database_find(costs, *name, &cost)) {
            assert_true(cost_database_is_on_trial(costs, *name, &cost));
            cost_database_try(costs, *name, &now, &log);
            assert_true(cost_database_find(costs, *name, &cost) && !cost_database_is_on_trial(costs, *name, &cost));
        }
    fclose(log.out);
    assert_true((size > 0) == (is_refuted || factor != 1));
    const char *end = is_refuted ? " measured again\n" : " divided by that\n";
    assert_true(size == 0 || strcmp(told + size - strlen(end), end) == 0);
    free(told);
    assert_true(cost_database_find(costs, "rest", &cost) == !is_refuted);
    assert_true(is_refuted || fabs(cost.seconds * factor - 1e-3) < 1e-7);
    assert_true(is_refuted || cost_database_is_on_trial(costs, "rest", &cost) == (factor == 1));
    assert_true(cost_database_find(costs, "other", &cost) && cost_database_is_on_trial(costs, "other", &cost));
    cost_database_add(costs, "new", &(struct step_cost){.seconds = 1});
    assert_true(cost_database_write(costs, &error));
    cost_database_free(costs);
    assert_true(cost_database_open(&costs, path, "one", &error));
    assert_true(cost_database_find(costs, "rest", &cost) == !is_refuted && cost_database_find(costs, "other", &cost));
    assert_true(cost.seconds == 1e-3 && cost.run == 8);
    cost_database_free(costs);
}

// The costs that another run left beside other programs are refuted by several of its costs, if they are most of those
// tried; and none is too short by a measurement that is itself disturbed.
TEST(runs_are_tried)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    try_run(path, (const double[]){1.1e-3, 0.9e-3, 1e-3}, false, false, 1);
    try_run(path, (const double[]){1e-3, 1e-3, 4e-3}, false, false, 1);   // one is replaced
    try_run(path, (const double[]){1e-3, 2e-3, 2e-3}, false, false, 1);   // or two
    try_run(path, (const double[]){3e-3, 2e-3, 2e-3}, false, true, 1);
    try_run(path, (const double[]){0.5e-3, 0.5e-3, 2e-3}, false, true, 1);
    try_run(path, (const double[]){0.5e-3, 0.5e-3, 0.5e-3}, true, false, 1);
    try_run(path, (const double[]){2e-3, 2e-3, 2e-3}, true, true, 1);
    unlink(path);
    rmdir(folder);
}

// Costs that are all wrong by the same factor were measured on a machine of another speed.
TEST(runs_of_another_speed_are_adjusted)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    try_run(path, (const double[]){1.6e-3, 1.9e-3, 2.025e-3}, false, false, 1.8);
    try_run(path, (const double[]){0.5e-3, 0.5e-3, 0.5e-3}, false, false, 0.5);
    try_run(path, (const double[]){1.6e-3, 1.9e-3, 2.2e-3}, false, true, 1);
    unlink(path);
    rmdir(folder);
}

static void expect_divided(struct cost_database *costs, uint32_t run)
{
    struct step_cost cost;
    struct verdict v;
    assert_true(cost_database_find(costs, "rest", &cost) && cost.seconds == 1e-3 && cost.run == run);
    assert_true(!cost.is_doubtful && cost.is_old && strcmp(cost.choice, "way") == 0);
    assert_true(cost_database_find(costs, "agreed", &cost) && cost.seconds == 0.8e-3 && cost.run == run);
    assert_true(cost_database_find(costs, "doubtful", &cost) && cost.seconds == 1.5e-3 && cost.is_doubtful);
    assert_true(cost_database_is_on_trial(costs, "doubtful", &cost));
    assert_true(cost_database_find(costs, "failed", &cost) && cost.seconds == 1e5 && cost.run == 7);
    assert_true(cost_database_find(costs, "short", &cost) && cost.seconds == 1e-9);
    assert_true(verdict_find(costs, 7, &v) && v.seconds == 2e-3 && v.run == 7);
    for (const char *const *name = (const char *const[]){"a", "b", "c", NULL}; *name; name++)
        assert_true(cost_database_find(costs, *name, &cost) && cost.seconds == 1e-3 && cost.run == run);
}

// In memory and in the file all that was of another speed is of this one then, and is of the run that found it.
TEST(files_hold_costs_of_one_speed)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    struct error error = {0};
    struct cost_database *costs;
    struct step_cost cost, now = {.seconds = 1e-3};
    struct log log = {stderr, "test", LOG_QUIET};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    static const char file[] =
        "(costs 4 \"one\")\n(\"a\" 1.62e-3 0.1 (run 7))\n(\"agreed\" 1.152e-3 0.1 (run 7))\n(\"b\" 1.62e-3 0.1 (run "
        "7))\n"
        "(\"c\" 1.62e-3 0.1 (run 7))\n(\"contest 0000000000000007\" 2e-3 0 \"0000000000000005 0000000000000000 0 0 0 "
        "0\" (run 7))\n"
        "(\"doubtful\" 2.16e-3 0.1 (run 7) doubtful)\n(\"failed\" 1e5 0.1 (run 7))\n"
        "(\"rest\" 1.44e-3 0.1 \"way\" (run 7))\n(\"short\" 1e-9 0.1 (run 7))\n(costs 4 \"two\")\n"
        "(\"rest\" 1.6e-3 0.1 (run 7))\n";
    assert_true(file_write_text(path, file, strlen(file), &error));
    assert_true(cost_database_open(&costs, path, "one", &error));
    cost_database_try(costs, "agreed", &(struct step_cost){.seconds = 0.9e-3}, &log);
    for (const char *const *name = (const char *const[]){"a", "b", "c", NULL}; *name; name++)
        cost_database_try(costs, *name, &now, &log);
    assert_true(cost_database_find(costs, "a", &cost));
    uint32_t run = cost.run;
    expect_divided(costs, run);
    assert_true(cost_database_write(costs, &error));
    cost_database_free(costs);
    assert_true(cost_database_open(&costs, path, "one", &error));
    expect_divided(costs, run);
    cost_database_free(costs);
    assert_true(cost_database_open(&costs, path, "two", &error));
    assert_true(cost_database_find(costs, "rest", &cost) && cost.seconds == 1.6e-3 && cost.run == 7);
    cost_database_free(costs);
    unlink(path);
    rmdir(folder);
}

// Files without marks are read; those of a format to come are refused.
TEST(older_formats_are_read)
{
    static const char older[] = "(costs 1 \"one\")\n(\"x\" 1e-3 0.1)\n";
    static const char newer[] = "(costs 5 \"one\")\n", marked[] = "(costs 2 \"one\")\n(\"x\" 1e-3 0.1 nonsense)\n";
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    struct error error = {0};
    struct cost_database *costs;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    assert_true(file_write_text(path, older, sizeof older - 1, &error));
    expect_cost(path, "x", 1e-3, false, false);
    assert_true(file_write_text(path, newer, sizeof newer - 1, &error));
    assert_false(cost_database_open(&costs, path, "one", &error));
    assert_non_null(strstr(error.message, "format 5"));
    assert_true(file_write_text(path, marked, sizeof marked - 1, &error));
    assert_false(cost_database_open(&costs, path, "one", &error));
    unlink(path);
    rmdir(folder);
}

static void add_one_and_write(const char *path, int writer, int round)
{
    char text[32];
    struct error error = {0};
    struct cost_database *costs;
    snprintf(text, sizeof text, "step %d of %d", round, writer);
    if (!cost_database_open(&costs, path, "one", &error))
        _exit(1);
    cost_database_add(costs, text, &(struct step_cost){.seconds = 1e-3});
    if (!cost_database_write(costs, &error))
        _exit(1);
    cost_database_free(costs);
}

TEST(writers_at_the_same_time_lose_nothing)
{
    enum { WRITERS = 6, ROUNDS = 20 };
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    struct error error = {0};
    struct cost_database *costs;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    for (int writer = 0; writer < WRITERS; writer++)
        if (fork() == 0) {
            for (int round = 0; round < ROUNDS; round++)
                add_one_and_write(path, writer, round);
            _exit(0);
        }
    for (int writer = 0; writer < WRITERS; writer++) {
        int status;
        assert_true(wait(&status) > 0 && status == 0);
    }
    assert_true(cost_database_open(&costs, path, "one", &error));
    assert_int_equal(cost_database_count(costs), WRITERS * ROUNDS);
    cost_database_free(costs);
    unlink(path);
    assert_int_equal(rmdir(folder), 0);   // no temporary file is left
}

static void write_costs_with(const char *path, const char *entry)
{
    char text[96];
    struct error error = {0};
    int n = snprintf(text, sizeof text, "(costs 1 \"one\")\n(\"w\" 1e-3 0.1)\n%s\n", entry);
    assert_true(file_write_text(path, text, (size_t)n, &error));
}

// Of two entries, of which the second may be dropped.
static void expect_entries(const char *path, const char *entry, size_t n, const char *warning)
{
    char said[256] = "";
    struct error error = {0};
    struct cost_database *costs;
    FILE *out = fmemopen(said, sizeof said, "w");
    struct log log = {out, "test", LOG_WARNING};
    write_costs_with(path, entry);
    assert_true(cost_database_open(&costs, path, "one", &error));
    assert_int_equal(cost_database_count(costs), n);
    cost_database_warn(costs, &log);
    cost_database_free(costs);
    fclose(out);
    assert_true(*warning ? strstr(said, warning) != NULL : *said == '\0');
}

// Neither is believed, nor is one written that would not be read again; a file that has become malformed is left.
TEST(implausible_costs_are_dropped)
{
    char folder[] = "/tmp/taso-costs-XXXXXX", path[64];
    struct error error = {0};
    struct cost_database *costs;
    struct step_cost cost;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/c.costs", folder);
    expect_entries(path, "(\"x\" 0.0 0.1)", 1, ":3: 0 seconds are no time of a step; 1 entry is dropped");
    expect_entries(path, "(\"x\" 0 0.1)\n(\"y\" -1e-3 0.1)", 1, ":3: 0 seconds are no time of a step; 2 entries are");
    expect_entries(path, "(\"x\" 1e-320 0.1)", 1, "1 entry is dropped, to be measured again");
    expect_entries(path, "(\"x\" 9.9e8 0.1)", 1, "1 entry is dropped, to be measured again");
    expect_entries(path, "(costs 1 \"two\")\n(\"x\" 0 0.1)", 1, "");
    expect_entries(path, "(\"x\" 1e-9 0.1)", 2, "");
    expect_entries(path, "(\"x\" 1e5 0.1)", 2, "");
    expect_entries(path, "(\"x\" nan 0.1)", 1, "1 entry is dropped, to be measured again");
    write_costs_with(path, "(\"x\" soon 0.1)");
    assert_false(cost_database_open(&costs, path, "one", &error));
    assert_int_equal(error.line, 3);
    write_costs_with(path, "(\"x\" 0 0.1)");
    assert_true(cost_database_open(&costs, path, "one", &error));
    cost_database_add(costs, "y", &(struct step_cost){.seconds = 0});
    assert_true(cost_database_find(costs, "y", &cost) && cost.is_doubtful);
    cost_database_add(costs, "z", &(struct step_cost){.seconds = 1});
    assert_true(cost_database_write(costs, &error));
    cost_database_free(costs);
    assert_true(cost_database_open(&costs, path, "one", &error));
    assert_int_equal(cost_database_count(costs), 2);   // w and z
    assert_true(file_write_text(path, "(", 1, &error));
    cost_database_add(costs, "y", &(struct step_cost){.seconds = 1});
    assert_false(cost_database_write(costs, &error));
    cost_database_free(costs);
    unlink(path);
    rmdir(folder);
}

// Two for each multiply-add, but one less for each sum.
TEST(multiply_adds_count_as_two)
{
    struct fixture f;
    struct error error = {0};
    read_graph(&f, "(graph (let x (input 0) (f32 1 6 9 8)) (let w (weight 0) (f32 5 6 3 1)) (let c (conv x w))"
                   "(output c))");
    struct plan_request request = backend_plan_request(f.fake, &f.g, NULL, &f.arena);
    assert_true(plan_make(&f.plan, &request, &error));
    assert_int_equal(f.plan.steps.count, 1);
    assert_true(step_work(&f.plan, &f.plan.steps.items[0]).operations == 5 * 7 * 8 * (2 * 18 - 1));
    drop(&f);
}
