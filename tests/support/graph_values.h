// Values of the tensors of a graph, with leaves filled by their operator and number: equal for graphs that mean the same,
// and with near certainty different for others. No opaque nodes.
#pragma once
#include "core/memory/vec.h"

struct arena;
struct definition;
struct graph;

enum { FIELD_KEY = 17 };
struct graph_entries {   // of every tensor
    uint64_t **field;
    double **reals;       // NULL: not asked for
    int64_t **integers;   // small ones in leaves, whose entries of the field are small ones, too, now and then; NULL
};
enum entries_beside_field { ENTRIES_ALONE, ENTRIES_AND_REALS, ENTRIES_AND_INTEGERS };
struct graph_entries graph_entries_of(const struct graph *g, uint64_t seed, enum entries_beside_field beside,
                                      struct arena *a);
// The first place of the output of a definition at which its entry by itself, over the field, is another one; -1: none is.
int64_t find_other_entry(const struct definition *d, int output, const uint64_t *const *inputs, const uint64_t *wanted);

struct field_values {
    VEC(uint64_t) entries;   // of all outputs, one behind the other
};
// `scratch` holds what is computed on the way.
void graph_values(struct field_values *ret_values, const struct graph *g, uint64_t seed, struct arena *scratch);
bool field_values_equal(const struct field_values *a, const struct field_values *b);
void field_values_free(struct field_values *v);
