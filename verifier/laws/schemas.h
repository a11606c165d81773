// Laws of which instances count, too: what is true of all tensors and attributes is true of terms in their place. They
// are equations of rules, which say nothing of what only one side is defined at.
#pragma once
#include "instances/equation.h"

// "L38", under which docs/theory/laws.md has the proof; NULL: the equation is an instance of none.
const char *schema_of_equation(const struct equation *eq);
