// What has to be proved of an equation, as sentences that are so for tensors of all ranks.
//
// Where a list of a window is left out, or all of its entries are said to be alike, how many entries it has follows
// from the rank of an image. Where nothing says that rank there is a sentence for each that it can have.
#pragma once
#include "verifier/entailment/sentences.h"

// Adds the sentences of an axiom, each of which follows from the equation. False: there is none.
bool obligations_of_axiom(struct logic *l, const struct equation *eq, struct sentence_list *list);
// Adds sentences that say the equation together. False: it cannot be stated.
bool obligations_state(struct logic *l, const struct equation *eq, bool tells_ranks, struct sentence_list *list);
