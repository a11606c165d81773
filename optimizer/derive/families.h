// Rules for all sizes, by derivation at some: a *family* is a rule whose source is its target, a part of graphs of
// which operators are to be found for the sizes that its conditions allow. Its attributes are numbers and sizes.
//
// A family is derived at random sizes. What has the same operators at most of them is one rule, in which integers are
// attribute terms over the sizes of the family's tensors (size_terms.h): a guess, to be judged like other candidates.
#pragma once
#include "substitutions/rule.h"

struct iterator_tables;

// Adds them to `set`, NAME-0, NAME-1, ..., the cheapest first at the first sizes; their attributes may be kept by it.
// Gives the number of instances that were derived; 0: none was found, as variables need a condition on their ranks.
size_t family_derive(struct rule_set *set, const struct rule *family, const struct iterator_tables *tables);
