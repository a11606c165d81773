// The ranks that an equation is tested at.
#pragma once
#include "verifier/instances/equation.h"

// Tensors of all ranks up to this one are tried.
int ranks_to_test(const struct equation *eq);
// Tensors of which a spatial axis is named although nothing says how many there are; one bit each.
uint32_t tensors_of_open_rank(const struct equation *eq);
// Is an axis named that only ranks which are not tried tell from the others?
bool ranks_are_too_few(const struct equation *eq);
// The largest number that stands in a term of attributes; 0: none.
int64_t largest_integer_of_term(const struct attribute_term *t);
// Does an operator read places in windows?
bool pattern_has_windows(const struct pattern *p);
