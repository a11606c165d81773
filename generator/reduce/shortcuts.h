// Shortcuts: substitutions that the minimal set derives, kept because they make a graph smaller in one step (a search
// that never goes uphill wants them). From every term of up to `max_ops` operators to the smallest terms of its class;
// pruned like all others.
#pragma once
#include "generator/reduce/minimal_equations.h"

void shortcuts_find(struct reduction *r, int max_ops);
