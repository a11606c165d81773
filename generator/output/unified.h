// Rules that differ in attributes, found in several families or sizes, as one (generator/unify/unify.h).
#pragma once
#include "generator/output/candidates.h"

// Adds what is made of the rules, which stay. Nothing of it is tested beyond them.
void unified_add(struct candidates *c);
