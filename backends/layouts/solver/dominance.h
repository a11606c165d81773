// Values of variables that need not be looked at (assignment.h): a value is no better than another one of the same
// variable if, whatever the others take, changing it to that one adds nothing in sum over all tables. Most values are
// such dead ends, and their going lets others go.
#pragma once
#include "backends/layouts/solver/assignment.h"
#include <stdbool.h>

struct reduction {
    size_t n_variables, n_tables;
    bool *is_changed;            // of every variable: is one of its tables another since it was looked at?
    int *n_values;               // left, of each variable
    int **values;                // which
    struct cost_table *tables;   // over the values that are left
    uint32_t *first, *list;      // tables of each variable: list[first[v] .. first[v + 1])
    struct arena *arena;
};

// Copies what it is given, into the arena; the tables' entries where they change.
void reduction_init(struct reduction *r, size_t n_variables, const int *n_values, size_t n_tables,
                    const struct cost_table *tables, struct arena *arena);
void reduction_drop_dead_ends(struct reduction *r);
