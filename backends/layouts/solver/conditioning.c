// Conditioning: where the cheapest variable takes too large a table, the one with the most neighbours keeps its value,
// for which others are preferred the next time.
#include "backends/layouts/solver/conditioning.h"

#include "backends/layouts/solver/variable_elimination.h"
#include "backends/limits.def"
#include "core/memory/arena.h"
#include <math.h>

enum { MOST_ROUNDS = 24, MOST_ROUNDS_IN_VAIN = 4 };

struct cutset {
    uint32_t *times_kept;   // of each variable
};

static uint32_t variable_to_keep(struct elimination *e, const struct cutset *c)
{
    uint32_t best = NO_VARIABLE;
    double most = -1;
    for (uint32_t v = 0; v < e->n_variables; v++) {
        if (e->variables[v].is_gone)
            continue;
        double merit = (double)elimination_count_neighbours(e, v) / (1 + c->times_kept[v]);
        if (merit > most) {
            most = merit;
            best = v;
        }
    }
    return best;
}

// The least sum where some variables keep their values.
static double eliminate_others(struct elimination *e, struct cutset *c, size_t most_entries, int *values)
{
    for (uint32_t v; (v = elimination_next(e)) != NO_VARIABLE;) {
        if (elimination_entries(e, v) <= (double)most_entries) {
            elimination_remove(e, v);
            continue;
        }
        uint32_t kept = variable_to_keep(e, c);
        c->times_kept[kept]++;
        elimination_fix(e, kept, values[kept]);
        if (kept != v)
            elimination_reconsider(e, v);
    }
    elimination_decide(e, values);
    return e->constant;
}

double conditioning_improve(size_t n_variables, const int *n_values, size_t n_tables, const struct cost_table *tables,
                            size_t most_entries, double least, struct arena *arena, int *values)
{
    struct cutset c = {arena_array(arena, uint32_t, n_variables + 1)};
    double best = INFINITY;
    int in_vain = 0;
    for (int i = 0; i < MOST_ROUNDS && in_vain < MOST_ROUNDS_IN_VAIN && best - least > LEAST_GAIN_OF_A_ROUND * least;
         i++) {
        struct arena_mark mark = arena_mark(arena);
        struct elimination e;
        elimination_init(&e, n_variables, n_values, n_tables, tables, arena);
        double sum = eliminate_others(&e, &c, most_entries, values);
        in_vain = sum < best - LEAST_GAIN_OF_A_ROUND * best ? 0 : in_vain + 1;
        best = fmin(best, sum);
        elimination_free(&e);
        arena_release(arena, mark);
    }
    return best;
}
