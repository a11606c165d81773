#pragma once
#include "egraph/egraph.h"

// Everything that must hold of a clean e-graph, established anew; false: `ret_what` says what does not.
bool egraph_check(const struct egraph *e, const char **ret_what);
