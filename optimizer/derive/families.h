// A *family* is a rule whose source is its target: a part of graphs of which operators are to be found for the sizes
// that its conditions allow. Its attributes are numbers and sizes. It is derived at random sizes, and
// scripts/family-rules makes rules for all sizes of what has the same operators at most of them.
#pragma once
#include "substitutions/rule.h"

struct iterator_tables;

// Adds the rules for each instance, NAME-0-0, NAME-0-1, ..., NAME-1-0, ..., the cheapest of an instance first; their
// variables are x0, x1, ... in the family's order, with a condition on the sizes of each. Gives the number of
// instances; 0: none was found, as variables need a condition on their ranks.
size_t family_derive(struct rule_set *set, const struct rule *family, const struct iterator_tables *tables);
