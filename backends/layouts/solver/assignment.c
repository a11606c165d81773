// Dominance, then elimination within the limits, else mini-buckets and conditioning.
#include "backends/layouts/solver/assignment.h"

#include "backends/layouts/solver/conditioning.h"
#include "backends/layouts/solver/dominance.h"
#include "backends/layouts/solver/mini_buckets.h"
#include "backends/layouts/solver/variable_elimination.h"
#include "core/memory/arena.h"
#include <math.h>

const struct assignment_limits assignment_standard_limits = {.entries = (size_t)1 << 16, .work = 1 << 20};

// Entries of the tables of an approximate solution.
enum { ENTRIES_OF_BOUND = 1 << 8, ENTRIES_OF_MOVES = 1 << 9 };

// A problem without the variables that have one value.
struct rest {
    uint32_t n_variables;
    size_t n_tables;
    int *n_values;
    struct cost_table *tables;
    uint32_t *numbers;   // of the variables in the reduction: theirs here
};

static void add_table(struct rest *rest, const struct reduction *r, const struct cost_table *t)
{
    uint32_t *variables = arena_array(r->arena, uint32_t, t->n + 1);
    int n = 0;
    for (int i = 0; i < t->n; i++)
        if (r->n_values[t->variables[i]] > 1)
            variables[n++] = rest->numbers[t->variables[i]];
    rest->tables[rest->n_tables++] = (struct cost_table){n, variables, t->seconds};
}

static struct rest rest_of(const struct reduction *r)
{
    struct rest rest = {.n_variables = 0};
    rest.numbers = arena_array(r->arena, uint32_t, r->n_variables + 1);
    rest.n_values = arena_array(r->arena, int, r->n_variables + 1);
    rest.tables = arena_array(r->arena, struct cost_table, r->n_tables + 1);
    for (size_t v = 0; v < r->n_variables; v++) {
        rest.numbers[v] = rest.n_variables;
        if (r->n_values[v] > 1)
            rest.n_values[rest.n_variables++] = r->n_values[v];
    }
    for (size_t i = 0; i < r->n_tables; i++)
        add_table(&rest, r, &r->tables[i]);
    return rest;
}

// The work; INFINITY: a limit was exceeded, and the rest is as it was.
static double eliminate_all(struct elimination *e, const struct assignment_limits *limits)
{
    double work = 0;
    for (uint32_t v; (v = elimination_next(e)) != NO_VARIABLE;) {
        double entries = elimination_entries(e, v);
        work += entries;
        if (entries > (double)limits->entries || work > limits->work)
            return INFINITY;
        elimination_remove(e, v);
    }
    return work;
}

static bool solve_exactly(const struct rest *rest, const struct assignment_limits *limits, struct arena *arena,
                          int *ret_values, struct assignment *ret)
{
    struct elimination e;
    elimination_init(&e, rest->n_variables, rest->n_values, rest->n_tables, rest->tables, arena);
    bool is_done = eliminate_all(&e, limits) < INFINITY;
    if (is_done) {
        elimination_decide(&e, ret_values);
        *ret = (struct assignment){e.constant, e.constant};
    }
    elimination_free(&e);
    return is_done;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static struct assignment solve_approximately(const struct rest *rest, const struct assignment_limits *limits,
                                             struct arena *arena, int *ret_values)
{
    struct assignment a;
    struct arena_mark mark = arena_mark(arena);
    a.least = mini_buckets_find(rest->n_variables, rest->n_values, rest->n_tables, rest->tables,
                                smaller(ENTRIES_OF_BOUND, limits->entries), arena, ret_values);
    arena_release(arena, mark);
    a.seconds = conditioning_improve(rest->n_variables, rest->n_values, rest->n_tables, rest->tables,
                                     smaller(ENTRIES_OF_MOVES, limits->entries), a.least, arena, ret_values);
    a.least = fmin(a.least, a.seconds);
    return a;
}

struct assignment assignment_find(size_t n_variables, const int *n_values, size_t n_tables,
                                  const struct cost_table *tables, const struct assignment_limits *limits,
                                  struct arena *arena, int *ret_values)
{
    struct reduction r;
    struct assignment a;
    reduction_init(&r, n_variables, n_values, n_tables, tables, arena);
    reduction_drop_dead_ends(&r);
    struct rest rest = rest_of(&r);
    int *values = arena_array(arena, int, n_variables + 1);
    struct arena_mark mark = arena_mark(arena);
    if (!solve_exactly(&rest, limits, arena, values, &a)) {
        arena_release(arena, mark);
        a = solve_approximately(&rest, limits, arena, values);
    }
    for (size_t v = 0; v < n_variables; v++)
        ret_values[v] = r.values[v][r.n_values[v] > 1 ? values[rest.numbers[v]] : 0];
    return a;
}

double assignment_work(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                       const struct assignment_limits *limits, struct arena *arena)
{
    struct elimination e;
    elimination_init(&e, n_variables, n_values, n_tables, tables, arena);
    double work = eliminate_all(&e, limits);
    elimination_free(&e);
    return work;
}
