// Conditions under which a rule follows from the properties, when no counterexample says which ones it needs.
//
// A rule that could only be tested may well be false where the tests did not get to: activations that differ, windows
// that are dilated on one side, a kernel that is not the single entry that it would have to be. What such a rule
// usually lacks is assumed all at once; if the properties then suffice, whatever they do without goes again.
#pragma once
#include "verifier/entailment/z3_theory.h"
#include "verifier/rules/find_conditions.h"

// Conditions that are allocated in `a`; count 0: none were found. `judge`: the rule is false as it stands, so that Z3
// is asked of no conditions under which it is false as well; NULL: it agrees at all instances.
struct found_condition find_sufficient_condition(struct theory *theory, struct judge *judge, const struct rule *r,
                                                 struct arena *a);
