// Which runs of a model count for the costs of its steps, and when these stay as they are.
#include "optimizer/measure/calibration.h"
#include "tests/support/check.h"

// Each of the first three is the shortest so far, and disturbed.
TEST(runs_are_judged_by_the_shortest_of_all)
{
    static const double sums[] = {0.3, 0.2, 0.15, 0.104, 0.1, 0.12, 0.106, 0.102};
    static const bool is_disturbed[] = {true, true, true, true, false, false, true, true};
    size_t runs[COUNT_OF(sums)];
    assert_int_equal(calibration_choose_runs(COUNT_OF(sums), sums, is_disturbed, runs), 4);
    assert_memory_equal(runs, ((size_t[]){3, 4, 5, 7}), 4 * sizeof *runs);
    assert_int_equal(calibration_choose_runs(3, sums, is_disturbed, runs), 1);   // the shortest one itself
}

// A run that ends with costs that no search was done from would leave the next one steps to measure.
TEST(costs_change_where_a_search_follows)
{
    assert_true(calibration_keeps_costs(0.04, true) && !calibration_keeps_costs(0.06, true));
    assert_true(calibration_keeps_costs(0.08, false) && !calibration_keeps_costs(0.3, false));
}
