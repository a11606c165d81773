// The least sum of tables: against all assignments where they are few, and within limits where they are many.
#include "backends/layouts/solver/assignment.h"
#include "tests/support/check.h"

struct puzzle {
    size_t n_variables, n_tables;
    int *n_values;
    struct cost_table *tables;
};

// A table over some variables that are not far from each other, or far.
static struct cost_table make_table(const struct puzzle *p, size_t wanted, size_t reach, struct random *random,
                                    struct arena *arena)
{
    uint32_t *variables = arena_array(arena, uint32_t, wanted + 1);
    size_t entries = 1, from = random_below(random, p->n_variables);
    int n = 0;
    for (size_t i = 0; i < wanted; i++) {
        uint32_t v = (uint32_t)((from + random_below(random, reach)) % p->n_variables);
        bool is_new = true;
        for (int k = 0; k < n; k++)
            is_new = is_new && variables[k] != v;
        if (!is_new)
            continue;
        variables[n++] = v;
        entries *= (size_t)p->n_values[v];
    }
    double *seconds = arena_array(arena, double, entries);
    for (size_t k = 0; k < entries; k++)
        seconds[k] = (double)random_below(random, 1000);
    return (struct cost_table){n, variables, seconds};
}

static struct puzzle make_puzzle(size_t n_variables, size_t n_tables, size_t reach, struct random *random,
                                 struct arena *arena)
{
    struct puzzle p = {n_variables, n_tables, arena_array(arena, int, n_variables),
                       arena_array(arena, struct cost_table, n_tables)};
    for (size_t i = 0; i < n_variables; i++)
        p.n_values[i] = 1 + (int)random_below(random, 4);
    for (size_t i = 0; i < n_tables; i++)
        p.tables[i] = make_table(&p, random_below(random, 4), reach, random, arena);
    return p;
}

static double sum_at(const struct puzzle *p, const int *values)
{
    double sum = 0;
    for (size_t i = 0; i < p->n_tables; i++) {
        size_t at = 0;
        for (int k = 0; k < p->tables[i].n; k++) {
            uint32_t v = p->tables[i].variables[k];
            at = at * (size_t)p->n_values[v] + (size_t)values[v];
        }
        sum += p->tables[i].seconds[at];
    }
    return sum;
}

static bool next_values(const struct puzzle *p, int *values)
{
    for (size_t i = 0; i < p->n_variables; i++) {
        if (++values[i] < p->n_values[i])
            return true;
        values[i] = 0;
    }
    return false;
}

static double least_by_trying_all(const struct puzzle *p, struct arena *arena)
{
    int *values = arena_array(arena, int, p->n_variables);
    double least = INFINITY;
    do {
        least = fmin(least, sum_at(p, values));
    } while (next_values(p, values));
    return least;
}

static struct assignment solve(const struct puzzle *p, const struct assignment_limits *limits, struct arena *arena,
                               int *ret_values)
{
    return assignment_find(p->n_variables, p->n_values, p->n_tables, p->tables, limits, arena, ret_values);
}

#define MOST_VARIABLES 9

static struct puzzle make_small_puzzle(struct random *random, struct arena *arena)
{
    size_t n = 1 + random_below(random, MOST_VARIABLES);
    return make_puzzle(n, 1 + random_below(random, 2 * n), n, random, arena);
}

TEST(finds_the_least_sum)
{
    struct random random = random_seed(3);
    for (uint64_t round = 0; round < some_of(600); round++) {
        ARENA(arena);
        int values[MOST_VARIABLES];
        struct puzzle p = make_small_puzzle(&random, &arena);
        struct assignment a = solve(&p, &assignment_standard_limits, &arena, values);
        double least = least_by_trying_all(&p, &arena);
        assert_true(a.seconds == least && a.least == least);
        assert_true(sum_at(&p, values) == least);
    }
}

// A problem beyond the limits lies between the bound and the sum that is found, which mostly is the least.
TEST(encloses_the_least_sum)
{
    struct random random = random_seed(4);
    uint64_t n_approximate = 0, n_best = 0, n = some_of(600);
    for (uint64_t round = 0; round < n; round++) {
        ARENA(arena);
        int values[MOST_VARIABLES];
        struct assignment_limits limits = {4 << 2 * random_below(&random, 2), 1e6};
        struct puzzle p = make_small_puzzle(&random, &arena);
        struct assignment a = solve(&p, &limits, &arena, values);
        double least = least_by_trying_all(&p, &arena);
        assert_true(a.least <= least * (1 + 1e-12) && least <= a.seconds * (1 + 1e-12));
        assert_true(fabs(sum_at(&p, values) - a.seconds) <= 1e-9 * (1 + a.seconds));
        n_approximate += a.least < a.seconds;
        n_best += a.seconds <= least * (1 + 1e-12);
    }
    print_message("%d of %d are not known to be the least, %d are\n", (int)n_approximate, (int)n, (int)n_best);
    assert_true(n_approximate > n / 12 && n_best > n * 95 / 100);
}

// Of the same problem with tables in whatever order there is one least sum: elimination within the limits has it.
TEST(ends_within_its_limits)
{
    struct random random = random_seed(5);
    uint64_t n_exact = 0, n_rounds = some_of(2000);
    double worst = 0;
    for (uint64_t round = 0; round < n_rounds; round++) {
        ARENA(arena);
        size_t n = 1 + random_below(&random, 1 + random_below(&random, 1 + random_below(&random, 1000)));
        struct puzzle p =
            make_puzzle(n, 1 + random_below(&random, 2 * n), 2 + random_below(&random, n), &random, &arena);
        size_t before = arena.total;
        int *values = arena_array(&arena, int, n), *again = arena_array(&arena, int, n);
        struct assignment a = solve(&p, &assignment_standard_limits, &arena, values);
        assert_true(arena.total - before < (size_t)64 << 20);
        assert_true(a.least <= a.seconds && fabs(sum_at(&p, values) - a.seconds) <= 1e-9 * (1 + a.seconds));
        struct assignment b = solve(&p, &assignment_standard_limits, &arena, again);
        assert_true(a.seconds == b.seconds && a.least == b.least && memcmp(values, again, n * sizeof *values) == 0);
        n_exact += a.least == a.seconds;
        worst = fmax(worst, a.seconds - a.least > 0 ? a.seconds / a.least - 1 : 0);
    }
    print_message("%d of %d are the least, the others at most %.3g %% above the bound\n", (int)n_exact, (int)n_rounds,
                  1e2 * worst);
    assert_true(n_exact > n_rounds / 2 && n_exact < n_rounds);
}
