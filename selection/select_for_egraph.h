// Which rules an e-graph needs: those that it does not derive from others.
//
// Generated rules with more than s->max_operators on a side go: an e-graph puts them together of small ones, both
// directions of which it has. A small rule is derived when in the e-graph of the source of each of its examples
// (example.h) the others make the target equal to the source, in a few rounds of exploration as a search does them.
// Rules are looked at from the smallest to the largest, against the smaller ones that stay; then those that stayed, the
// largest first, against all others that stay; in the end each that went is looked at once more, against those that
// stayed, and comes back if it is not derived. Rules that somebody wrote are kept.
//
// A rule that claims a proof is derived from such rules only, one with attribute variables from rules without numbers
// among their attributes, as its examples may be all alike. A rule for weights as the model has them stays and derives
// no other, because the weights of examples are of that kind.
#pragma once
struct rule_set;
struct selection;

// s->max_steps rounds with at most ten e-nodes for each of s->max_graphs; what else `s` asks for does not count.
void selection_make_for_egraph(struct selection *s, const struct rule_set *set);
