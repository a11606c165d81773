// Rows of the cost database, which is a file that anybody may have written.
#include "backends/costs/cost_database.h"
#include "tests/backends/processor.h"
#include "tests/support/parse_graph.h"
#include "tuning/bridges.h"
#include "tuning/former_steps.h"
#include "tuning/search/grid_search.h"
#include "tuning/step_tuner.h"
#include "tuning/tune_graph.h"

TEST(rows_are_read_that_a_step_can_have)
{
    static const struct {
        const char *row;
        bool is_read;
    } cases[] = {
        {"pass loops dense 8 5 1 1 32 20 20 16 3 3 of conv", true},
        {"pass loops dense 8 5 1 1 32 20 20 16 3 of conv", false},
        {"pass loops dense 8 5 1 0 32 20 20 16 3 3 of conv", false},
        {"pass loops dense 8 5 1 -1 32 20 20 16 3 3 of conv", false},
        {"pass loops dense 8 9 1 1 32 20 20 16 3 3 of conv", false},
        {"pass loops dense 99 5 1 1 32 20 20 16 3 3 of conv", false},
        {"pass loops dense 8 5 1 1 32 20 20 16 3 3", false},
        {"pass loops dense", false},
        // 2^64 weights, and 1e18 rows.
        {"pass loops dense 8 5 1 4294967296 1 20 20 4294967296 3 3 of conv", false},
        {"pass loops dense 8 5 1 1 32 999999999999999999 20 16 3 3 of conv", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        ARENA(arena);
        CPU(b, .threads = 1);
        LOCAL_LIST(former_step_list, steps);
        cost_database_add(b->costs, cases[i].row, &(struct step_cost){.seconds = 1});
        former_steps_list(b, &arena, &steps);
        assert_int_equal(steps.count, cases[i].is_read);
        if (steps.count)
            assert_string_equal(steps.items[0].key, "conv");
    }
}

static const struct {
    const char *family;
    struct reuse_loops loops;
} steps[] = {
    {"dense", {8, 5, {1, 1, 32, 20, 20, 16, 3, 3}}},
    {"dense", {8, 5, {1, 1, 8, 1, 1000000000000, 8, 1, 1}}},   // so long a row that nobody looks at all of its tiles
    {"winograd", {7, 4, {1, 32, 20, 20, 16, 3, 3}}},
};

TEST_OF_EACH(steps_have_bridges, row, steps)
{
    CPU(b, .threads = 1);
    struct bridge *bridge = bridge_new(b, row->family, &row->loops);
    assert_non_null(bridge);
    struct step_tuner *t = step_tuner_new(&(struct step_tuning){
        .backend = b, .plan = &bridge->plan, .step = bridge->step, .space = &bridge->space, .is_bridge = true});
    assert_non_null(t);
    assert_true(step_tuner_state(t)->n_suitable > 0);
    step_tuner_free(t);
    bridge_free(bridge);
}

// All of its schedules were tried.
static void say_former_step(struct backend *b, const char *family, const struct reuse_loops *loops)
{
    struct bridge *bridge = bridge_new(b, family, loops);
    assert_non_null(bridge);
    struct grid grid = {.n_axes = bridge->space.n_axes};
    for (int i = 0; i < grid.n_axes; i++)
        grid.sizes[i] = bridge->space.axes[i].n;
    for (int64_t point = 0; point < grid_count(&grid); point++) {
        int64_t places[GRID_AXES];
        char choice[CHOICE_SIZE];
        TEXT(text);
        grid_coordinates(&grid, point, places);
        schedule_space_print(&bridge->space, places, choice);
        text_printf(&text, "conv by %s", choice);
        cost_database_add(b->costs, text.chars, &(struct step_cost){.seconds = 1e-3});
    }
    cost_database_add(b->costs, "pass loops dense 8 5 1 1 32 20 20 16 3 3 of conv", &(struct step_cost){.seconds = 1});
    bridge_free(bridge);
}

// Trials of another model's step are known, and are none of this one.
TEST(trials_of_other_models_do_not_count)
{
    static const char text[] = "x = f32 1 16 30 30; w = weight f32 32 16 3 3; y = conv x w; z = tanh y";
    const struct tuning_options options = {.reuses = true, .reuses_former = true};
    ARENA(arena);
    GRAPH(g, &arena, text);
    CPU(b, .threads = 1);
    say_former_step(b, steps[0].family, &steps[0].loops);
    struct graph_tuning *t = graph_tuning_new(b, &g, LAYOUTS_STANDARD, &options);
    assert_non_null(t);
    struct tuning_progress p = plan_tuning_progress(graph_tuning_of_plan(t));
    assert_int_equal(p.n_steps, 1);
    assert_int_equal(p.n_recalled, 0);
    graph_tuning_free(t);
}
