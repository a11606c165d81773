// Rules that derivation finds for the products and convolutions of a model, at their sizes: discoveries enter as rules.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct graph;
struct rule_set;

// Adds them; `of_onnx`: those of operators of ONNX, without `expression`; `where_entries_are_left_out`: of windows
// with dilation, and of what stands beside pads or slices, alone. They are not proved: each application is to be
// validated at its sizes. Gives the number of different parts of the graph that were looked at.
size_t derived_rules_add(struct rule_set *set, const struct graph *g, bool of_onnx, bool where_entries_are_left_out);
