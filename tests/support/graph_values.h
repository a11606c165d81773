// The values of a graph's outputs over the prime field, with leaves filled by their operator and number: equal for
// graphs that mean the same, and with near certainty different for others.
#pragma once
#include "core/memory/vec.h"
#include <stdbool.h>

struct arena;
struct graph;

struct field_values {
    VEC(uint64_t) entries;   // of all outputs, one behind the other
};
// No opaque nodes. `scratch` holds what is computed on the way.
void graph_values(struct field_values *ret_values, const struct graph *g, uint64_t seed, struct arena *scratch);
bool field_values_equal(const struct field_values *a, const struct field_values *b);
void field_values_free(struct field_values *v);
