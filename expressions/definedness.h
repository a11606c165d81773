// Domains of the functions that a definition applies.
#pragma once
#include <stdbool.h>

struct definition;

// Is a function applied that is not defined everywhere; and to what may be outside of its domain; are all entries of
// outputs above 0? `positive_inputs`: one bit for each input whose entries are.
bool definition_divides(const struct definition *d);
bool definition_is_partial(const struct definition *d, unsigned positive_inputs);
bool definition_counts_none(const struct definition *d);   // it divides by a number of places, which is 0 somewhere
bool definition_is_positive(const struct definition *d, unsigned positive_inputs);
