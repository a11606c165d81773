// Obligations: what has to be proved of an equation, as sentences that are so for tensors of all ranks.
//
// The number of entries of a list of a window that is left out, or whose entries are said to be alike, follows from the
// rank of an image. Nothing may say that rank: then there is a sentence for each that it can have.
#pragma once
#include "verifier/entailment/sentences.h"

// Adds the sentences of an axiom, each of which follows from the equation. False: there is none.
bool obligations_of_axiom(struct logic *l, const struct equation *eq, struct sentence_list *list);
// Adds sentences that say the equation together. False: it cannot be stated.
bool obligations_state(struct logic *l, const struct equation *eq, bool tells_ranks, struct sentence_list *list);
