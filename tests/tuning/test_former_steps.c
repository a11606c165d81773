// Rows of the cost database, which is a file that anybody may have written.
#include "backends/costs/cost_database.h"
#include "tests/backends/processor.h"
#include "tuning/former_steps.h"

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
