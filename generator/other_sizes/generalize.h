// Attribute values of a substitution that could be others: they become attribute variables.
//
// Like sizes (size_test.h): a value is changed together with the least set of equal values of equally named attributes
// that keeps the rule true; when it holds at every other value that is well-typed, the set is one variable.
#pragma once
#include "generator/other_sizes/changed_sizes.h"

enum { MAX_ATTRIBUTE_PLACES = 48 };
struct attribute_place {
    uint8_t node, attribute;
    int variable;   // -1: it stays what it is
};
struct attribute_places {
    int n, n_variables;
    struct attribute_place places[MAX_ATTRIBUTE_PLACES];
    const char *names[MAX_ATTRIBUTE_PLACES];   // of the variables
    uint32_t n_parts[MAX_ATTRIBUTE_PLACES];    // of those that cut an axis: so many parts there have to be; 0: any
};
void generalize_attributes(struct size_test *trial, struct attribute_places *ret_places);
