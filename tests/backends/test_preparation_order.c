// In which order a model's steps are prepared, and that it runs in that of its plan all the same.
#include "backends/cpu/preparation_order.h"
#include "backends/planning/plan_memory.h"
#include "tests/backends/check_model.h"
#include "tests/backends/processor.h"
#include "tests/support/parse_graph.h"

// --- weights ---------------------------------------------------------------------------------------------------------

enum { N_WEIGHTS = 4 };

struct lender {
    void *values[N_WEIGHTS];
    size_t n_lent, order[N_WEIGHTS];
};

static const void *lend(void *context, size_t index, struct error *error)
{
    struct lender *l = context;
    assert_true(l->n_lent < N_WEIGHTS);
    l->order[l->n_lent++] = index;
    return l->values[index];
}

static void take_back(void *context, size_t index, const void *data)
{
    assert_ptr_equal(data, ((struct lender *)context)->values[index]);
}

// The weight that was packed last was there twice beside all others: with the largest at the end of a model, as in
// those that end in a large product, that was 8 MB of ResNet-50.
TEST(largest_weights_are_packed_first)
{
    static const size_t expected[N_WEIGHTS] = {2, 1, 0, 3};
    ARENA(arena);
    struct lender lender = {.n_lent = 0};
    struct weight_source source = {&lender, lend, take_back, NULL};
    struct tensor_value listed[N_WEIGHTS];
    GRAPH(g, &arena,
          "x = f32 2 64; w0 = weight f32 64 512; w1 = weight f32 512 1024; w2 = weight f32 1024 1280; "
          "w3 = weight f32 1280 16; a = matmul x w0; b = matmul a w1; c = matmul b w2; d = matmul c w3");
    CPU(cpu, .threads = 1, .weights = &source);
    for (node_id n = 0; n < g.nodes.count; n++) {
        if (g.nodes.items[n].op != operators[OP_WEIGHT])
            continue;
        size_t index = (size_t)g.nodes.items[n].attributes[0].ints[0];
        listed[index].type = *graph_type(&g, g.nodes.items[n].first_output);
        listed[index].data = NULL;
        lender.values[index] = value_allocate(&arena, &listed[index].type);
        memset(lender.values[index], 0, type_bytes(&listed[index].type));
    }
    struct model *m = backend_prepare(cpu, &g, N_WEIGHTS, listed, &(struct error){0});
    assert_non_null(m);
    assert_int_equal(lender.n_lent, N_WEIGHTS);
    assert_memory_equal(lender.order, expected, sizeof expected);
    model_free(m);
}

// --- constants -------------------------------------------------------------------------------------------------------

// Products of one constant that is made of two weights, and of parts of it, with a large weight behind them.
static const char sharing[] = "x = f32 2 512; w0 w1 = weight f32 512 512; w2 = weight f32 512 8192; s = ewadd w0 w1; t "
                              "= relu s; a = matmul x s; b = matmul a t; c = matmul b w0; d = matmul c w2; output d a";

static void check_order(const struct plan *plan, const uint32_t *order, struct arena *arena)
{
    size_t n = plan->steps.count;
    bool *is_prepared = arena_array(arena, bool, n + 1), *is_made = arena_array(arena, bool, plan->memory.count + 1);
    for (size_t i = 0; i < n; i++) {
        assert_true(order[i] < n && !is_prepared[order[i]]);
        is_prepared[order[i]] = true;
        for (struct touched_memory t = {0}; step_next_memory(&plan->steps.items[order[i]], &t);) {
            bool is_constant = plan->memory.items[t.memory].place == MEMORY_CONSTANT;
            assert_true(!is_constant || t.is_written || is_made[t.memory]);
            is_made[t.memory] = is_made[t.memory] || t.is_written;
        }
    }
}

TEST(constants_come_before_who_reads_them)
{
    ARENA(arena);
    GRAPH(g, &arena, sharing);
    CPU(cpu, .threads = 1);
    PLAN(plan, cpu, &g, NULL, &arena);
    const uint32_t *order = preparation_order(&plan, &arena);
    check_order(&plan, order, &arena);
    assert_false(plan.steps.items[order[0]].is_constant);   // the large weight's
    assert_int_equal(order[0], plan.steps.count - 1);
    check_model(cpu, &g, 1, 1);
}
