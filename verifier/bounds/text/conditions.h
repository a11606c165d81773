// What the text of an equation says of its conditions (docs/theory/bounds.md, sections 2.1 and 2.3).
#pragma once
#include "verifier/instances/equation.h"

// Are there conditions that speak of attributes of windows?
bool equation_has_conditions_on_windows(const struct equation *eq);
// Does a condition on sizes or on attributes of windows ask something of several axes together?
bool equation_ties_axes(const struct equation *eq);
// The attribute variables that stand in attributes of windows, one bit each.
uint32_t pattern_variables_of_windows(const struct pattern *p);
// Does the term mention sizes of tensors?
bool attribute_term_mentions_sizes(const struct attribute_term *t);
// (/ (dim ?x 1) (dim ?k 1)): the number of groups of a convolution of ?x by ?k can be nothing else.
bool attribute_is_number_of_groups(const struct pattern *p, const struct pattern_node *node, int attribute,
                                   const struct attribute_term *t);
// (= (product ...) 1) or (= (sum ...) 0), which say that all entries are 1, or 0.
bool condition_is_of_equal_entries(const struct condition *c);
