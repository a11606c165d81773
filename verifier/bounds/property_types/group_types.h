// Are the types of a property that has groups argued for by the sizes that are tried?
#pragma once
#include "verifier/instances/equation.h"

// NULL: they are, or it has none.
const char *group_types_find_doubt(const struct equation *eq);
