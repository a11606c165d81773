// Families from equations and choices.
#pragma once
#include "verifier/symbolic_proof/family.h"

// The family of one row of choices, of its assumed nodes, whose lanes are drawn by `seed`. False: it is impossible, or
// `why` says what is of no known form.
bool family_build(struct family *f, const struct equation *eq, node_set assumed, struct choices *choices, uint64_t seed,
                  struct typing *typing, struct polys *polys, struct lane *lanes, struct arena *arena);
// Collects what typing asks of all other nodes. False: they are ill-typed at some sizes, or it is not known.
bool family_ask_typing(struct family *f);
