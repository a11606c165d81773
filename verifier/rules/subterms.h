// Sides that are alike around the subterms in which they differ: f(s, z) = f(t, z) holds where s = t does.
#pragma once
#include "substitutions/rule.h"

struct found_condition;

// The rule s -> t, of all the pairs of subterms in which the sides differ right below applications that are alike
// (operator, number of inputs, and attributes, but for sizes that typing makes equal). Where it is true so is `r`: at
// an instance at which both sides of `r` are well-typed s and t are, and equal, so that what reads them is the same
// application of equal tensors. Split trees are no part of that equality, so a split that looks at them is not taken
// off. Has the conditions of `r` that speak of nothing else. NULL: nothing can be taken off, or what is left is no
// rule. rule_free.
struct rule *rule_of_subterms(const struct rule *r, struct arena *a);
// Conditions on the subterms, where variables have the names that they have in `r`, as conditions on `r`. False: one of
// them can't be said of it.
bool conditions_of_whole(const struct rule *subterms, const struct found_condition *found, struct rule *r,
                         struct arena *a, struct found_condition *ret_found);
