// The matches of the whole graph, and what each would change.
#pragma once
#include "optimizer/search/backtracking/incumbent.h"

// Adds the matches of all rules; only those with a node among `touched`, when given.
void whole_find_proposals(struct whole *w, const bool *touched);
// Proposals with such a node: what improves is priced anew, the others when nothing improves any more.
void whole_price_proposals_near(struct whole *w, const bool *near);
bool whole_price_stale_proposals(struct whole *w);   // false: there were none
bool proposal_is_improving(const struct proposal *p);
void proposal_set_change(const struct whole *w, struct proposal *p, double change);
// The better one first. Of equal ones, that on earlier tensors: so a commutative match is taken in the same order
// wherever it reads the same tensors, and what it makes of them is shared.
int proposal_compare_pointed(const void *a, const void *b);   // of qsort, for pointers to them
void whole_count_outcome(struct whole *w, enum outcome outcome);
// May this match of `g` be made? A rule that validation refutes is disabled.
bool whole_allows(struct whole *w, const struct match *m, const struct graph *g);
uint64_t whole_work(const struct whole *w);   // done so far
bool whole_is_out_of_work(const struct whole *w);
bool whole_is_out_of_time(const struct whole *w);   // past the deadline
bool whole_has_to_stop(const struct whole *w);      // interrupted, or one of these
void whole_show_progress(const struct whole *w);
double whole_least_gain(const struct whole *w);   // that counts for the match that was priced last
bool whole_is_within_alpha(const struct whole *w, double change);
