// For two values of a variable the least difference of each table is added up; where it is not below 0 one value goes.
// What a change touches is looked at again until nothing changes.
#include "backends/layouts/solver/dominance.h"

#include "core/memory/arena.h"
#include <math.h>
#include <stdbool.h>
#include <string.h>

static void list_tables(struct reduction *r)
{
    size_t n = 0;
    r->first = arena_array(r->arena, uint32_t, r->n_variables + 2);
    for (size_t i = 0; i < r->n_tables; i++)
        for (int k = 0; k < r->tables[i].n; k++)
            r->first[r->tables[i].variables[k] + 2]++;
    for (size_t v = 0; v < r->n_variables; v++)
        r->first[v + 2] += r->first[v + 1];
    n = r->first[r->n_variables + 1];
    r->list = arena_array(r->arena, uint32_t, n + 1);
    for (uint32_t i = 0; i < r->n_tables; i++)
        for (int k = 0; k < r->tables[i].n; k++)
            r->list[r->first[r->tables[i].variables[k] + 1]++] = i;
}

// Splits the table, seen as [outer][value of the variable][inner].
static void split_around(const struct reduction *r, const struct cost_table *t, uint32_t variable, size_t *ret_outer,
                         size_t *ret_inner)
{
    size_t outer = 1, inner = 1;
    bool is_behind = false;
    for (int i = 0; i < t->n; i++) {
        if (t->variables[i] == variable)
            is_behind = true;
        else
            *(is_behind ? &inner : &outer) *= (size_t)r->n_values[t->variables[i]];
    }
    *ret_outer = outer;
    *ret_inner = inner;
}

// The least that changing the variable from value a to value b takes away from the table.
static double least_saved(const struct reduction *r, const struct cost_table *t, uint32_t variable, int a, int b)
{
    size_t outer, inner, n = (size_t)r->n_values[variable];
    double least = INFINITY;
    split_around(r, t, variable, &outer, &inner);
    for (size_t i = 0; i < outer; i++)
        for (size_t k = 0; k < inner; k++) {
            double from = t->seconds[(i * n + (size_t)a) * inner + k], to = t->seconds[(i * n + (size_t)b) * inner + k];
            double saved = from == to ? 0 : from - to;
            least = saved < least ? saved : least;
        }
    return least;
}

// The same where all other variables take their first values, or all their last ones.
static double saved_at(const struct reduction *r, const struct cost_table *t, uint32_t variable, int a, int b,
                       bool at_last)
{
    size_t outer, inner, n = (size_t)r->n_values[variable];
    split_around(r, t, variable, &outer, &inner);
    const double *seconds = t->seconds + (at_last ? (outer - 1) * n * inner + inner - 1 : 0);
    double from = seconds[(size_t)a * inner], to = seconds[(size_t)b * inner];
    return from == to ? 0 : from - to;
}

// Is it clear, while the others stand so, that changing from a to b saves nothing?
static bool saves_nothing_at(const struct reduction *r, uint32_t variable, int a, int b, bool at_last)
{
    double saved = 0;
    for (uint32_t i = r->first[variable]; i < r->first[variable + 1]; i++)
        saved += saved_at(r, &r->tables[r->list[i]], variable, a, b, at_last);
    return saved < 0 || (saved == 0 && b >= a);
}

// Sums are rounded alike: what is saved least is not more than what is saved at some place, to the last digit.
static bool is_dead_end(const struct reduction *r, uint32_t variable, int a, int b)
{
    double saved = 0;
    if (saves_nothing_at(r, variable, a, b, false) || saves_nothing_at(r, variable, a, b, true))
        return false;
    for (uint32_t i = r->first[variable]; i < r->first[variable + 1]; i++)
        saved += least_saved(r, &r->tables[r->list[i]], variable, a, b);
    return saved > 0 || (saved == 0 && b < a);
}

static void drop_value_of_table(struct reduction *r, struct cost_table *t, uint32_t variable, int value)
{
    size_t outer, inner, n = (size_t)r->n_values[variable], at = 0;
    split_around(r, t, variable, &outer, &inner);
    double *seconds = arena_array(r->arena, double, outer *(n - 1) * inner + 1);
    for (size_t i = 0; i < outer * n; i++) {
        if (i % n == (size_t)value)
            continue;
        memcpy(seconds + at, t->seconds + i * inner, inner * sizeof *seconds);
        at += inner;
    }
    t->seconds = seconds;
}

// What is dropped of a variable changes the tables of others, which have to be looked at once more.
static void drop_value(struct reduction *r, uint32_t variable, int value)
{
    for (uint32_t i = r->first[variable]; i < r->first[variable + 1]; i++) {
        struct cost_table *t = &r->tables[r->list[i]];
        drop_value_of_table(r, t, variable, value);
        for (int k = 0; k < t->n; k++)
            r->is_changed[t->variables[k]] |= t->variables[k] != variable;
    }
    for (int i = value; i + 1 < r->n_values[variable]; i++)
        r->values[variable][i] = r->values[variable][i + 1];
    r->n_values[variable]--;
}

static bool drop_dead_ends_of(struct reduction *r, uint32_t variable)
{
    bool is_any = false;
    for (int a = r->n_values[variable]; a-- > 0;)
        for (int b = 0; b < r->n_values[variable]; b++)
            if (a != b && is_dead_end(r, variable, a, b)) {
                drop_value(r, variable, a);
                is_any = true;
                break;
            }
    return is_any;
}

void reduction_drop_dead_ends(struct reduction *r)
{
    bool is_any = true;
    while (is_any) {
        is_any = false;
        for (uint32_t v = 0; v < r->n_variables; v++) {
            bool is_changed = r->is_changed[v] && r->n_values[v] > 1;
            r->is_changed[v] = false;
            is_any |= is_changed && drop_dead_ends_of(r, v);
        }
    }
}

void reduction_init(struct reduction *r, size_t n_variables, const int *n_values, size_t n_tables,
                    const struct cost_table *tables, struct arena *arena)
{
    *r = (struct reduction){.n_variables = n_variables, .n_tables = n_tables, .arena = arena};
    r->tables = arena_array(arena, struct cost_table, n_tables + 1);
    memcpy(r->tables, tables, n_tables * sizeof *tables);
    r->n_values = arena_array(arena, int, n_variables + 1);
    r->is_changed = arena_array(arena, bool, n_variables + 1);
    r->values = arena_array(arena, int *, n_variables + 1);
    for (size_t v = 0; v < n_variables; v++) {
        r->n_values[v] = n_values[v];
        r->is_changed[v] = true;
        r->values[v] = arena_array(arena, int, n_values[v] + 1);
        for (int i = 0; i < n_values[v]; i++)
            r->values[v][i] = i;
    }
    list_tables(r);
}
