// Applications of rules that keep every bit, and with it what is no number: both sides are one tensor expression.
#pragma once
#include "substitutions/match.h"

// A graph's leaf number k is the rule's variable k: do its tensors `old` and `new` have one normal form, each of
// the rule's outputs? The normal form keeps every value to the last bit (expressions/composition/pool.h), so that
// yes is an argument; no is none.
bool keeps_every_bit(const struct match *m, struct graph *instance, const tensor_id *old, const tensor_id *new,
                     struct arena *scratch);
