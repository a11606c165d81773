// What the text of an equation says of its conditions, and of how often its sides read a variable
// (docs/theory/bounds.md, sections 2.1 and 2.3).
#pragma once
#include "verifier/instances/equation.h"

// Are there conditions that speak of attributes of windows?
bool equation_has_conditions_on_windows(const struct equation *eq);
// Does a condition on sizes or on attributes of windows ask something of several axes together?
bool equation_ties_axes(const struct equation *eq);
// The attribute variables that stand in attributes of windows, one bit each.
uint32_t pattern_variables_of_windows(const struct pattern *p);
// May a coefficient of a side be no product of what each axis contributes? A variable may be read in two ways, numbers
// be computed of constants, or 0 be one of several things where windows stand beside the image on either axis.
bool equation_is_no_product(const struct equation *eq);
// Does the term mention sizes of tensors?
bool attribute_term_mentions_sizes(const struct attribute_term *t);
// (/ (dim ?x 1) (dim ?k 1)): a convolution's number of groups can be nothing else, or typing refuses it.
bool attribute_is_number_of_groups(const struct pattern_node *node, int attribute, const struct attribute_term *t);
// (= (product ...) 1) or (= (sum ...) 0), which say that all entries are 1, or 0.
bool condition_is_of_equal_entries(const struct condition *c);
