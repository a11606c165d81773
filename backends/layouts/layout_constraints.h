// The problem to be solved: tables over choices, and over sets of copies.
#pragma once
#include "backends/layouts/layout_internal.h"

// The least cost of an entry, as far as is known.
double layout_least_seconds(const struct layout_search *s, const struct layout_table *t);
// The least sum as far as tables are known, and the values of choices that give it.
struct assignment layouts_find_among_known(struct layout_search *s, int *ret_values);
// May the least sum be out of reach? That is known from the graph alone, whatever tables have.
bool layouts_are_hard(struct layout_search *s);
