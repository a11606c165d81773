// Limits of the weights that a search may make: no more bytes than it is allowed, and no numbers that their element
// type has not.
//
// Weights' sums can overflow: if x + a + b becomes x + (a + b), and a and b are masks of halves with -65504 in them,
// their sum is infinite, and so is the product of 1000 and 1000; what the original computes from left to right may be
// finite, and a runtime that computes with wider numbers has never had an infinite one. An upper bound of each weight
// that is computed is found from the largest entries of those that are given.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct graph;

struct weight_limits {
    size_t most_bytes;          // as weight_bytes.h counts them; 0: no limit
    const double *magnitudes;   // of the largest finite entry of every weight, by number, or NaN; NULL: none overflows
    size_t n_beyond;            // computed weights that the original has, which may be out of range
};

// Tensors that depend on weights alone, are none, and may have entries that their element type has no number for.
size_t graph_weights_beyond_range(const struct graph *g, const double *magnitudes);
bool graph_is_within(const struct graph *g, const struct weight_limits *limits);
