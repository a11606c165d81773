// Pruning (TASO paper, Section 4): a substitution goes when a more general one that is valid covers it. "Valid" is
// asked, not assumed: the generalisation is evaluated.
#pragma once
#include "generator/enumerate/size_test.h"

// An output that both sides make by one operator from equal values: the rules between these values say it all.
bool prune_by_common_root(const struct rule_graph *rg, struct evaluation_cache *calls);
// A subgraph computed by both sides from the same tensors: replaced by a fresh variable, the rest still holds.
bool prune_by_common_subgraph(const struct rule_graph *rg, struct evaluation_cache *calls,
                              struct rule_graph *ret_general);
// A variable that occurs twice: as two variables, the rule still holds (the inputs were identified, x = y). Or a
// constant: with a variable in its place the rule still holds. The general rule has at most `max_ops` operators on each
// side.
bool prune_by_renaming(const struct rule_graph *rg, struct evaluation_cache *calls, int max_ops,
                       struct rule_graph *ret_general);
// Both, as long as they help: the most general rule on this way.
void prune_generalize(struct rule_graph *rg, struct evaluation_cache *calls, int max_ops);
