// Which sizes are the same in every instance, by the text of an equation alone: what conditions and typing make equal.
#pragma once
#include "instances/equation.h"

// Classes of axes of variables and results.
struct same_sizes {
    const struct equation *eq;
    uint16_t parents[(MAX_RULE_VARIABLES + MAX_RULE_NODES) * MAX_RANK];
};
struct same_sizes same_sizes_of(const struct equation *eq);
// Are the terms one another's text but for sizes that are the same?
bool terms_are_same(const struct same_sizes *s, const struct attribute_term *x, const struct attribute_term *y);
bool attributes_are_same(const struct same_sizes *s, const struct pattern_node *x, const struct pattern_node *y);
