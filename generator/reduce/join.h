// Substitutions with several outputs.
//
// A pair of graphs with outputs (s1, s2) and (t1, t2) is more than its two halves s1 = t1, s2 = t2 only where neither
// half is a substitution by itself: each target must need an input that its own source has not. (Otherwise applying the
// halves one after the other does the same with smaller rules.) Such targets are few, split(f(concat)) for the most
// part: so graphs with two outputs are not enumerated but joined from terms of classes in which some term has an input
// that its value does not need (two_outputs.h); sources have none, as rules of one output take it away. Of those pairs
// that rules of one output make of each other one is kept. Constants (x - x, which equals y - y) are left out: a rule
// between them says nothing.
// Three outputs would need two splits of results of concatenated tensors: five operators.
#pragma once
#include "generator/reduce/minimal_equations.h"

// Adds equations with two outputs to r->equations. Gives the number of pairs of graphs seen, and of those pruned.
void join_find_equations(struct reduction *r, int max_ops, uint64_t *ret_pairs, uint64_t *ret_pruned);
