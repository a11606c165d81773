// Equations that are proved by hand, one by one, in docs/theory/laws.md: those whose windows, groups or shapes are
// terms that no theorem about forms speaks of. They are known by their text and by nothing else, whatever variables are
// called.
#pragma once
#include "instances/equation.h"

// "L3", under which docs/theory/laws.md has the proof; NULL: the equation is none of these.
const char *law_of_equation(const struct equation *eq);
