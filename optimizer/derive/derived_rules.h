// Rules that derivation finds for the products and convolutions of a model, at their sizes: discoveries enter as rules.
#pragma once
#include <stddef.h>

struct graph;
struct text;

// Appends them in the rules' text form. They are not proved: each application is to be validated at its sizes. Gives
// the number of different parts of the graph that were looked at.
size_t derived_rules_print(struct text *out, const struct graph *g);
