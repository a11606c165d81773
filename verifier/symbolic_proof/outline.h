// Ranks, element types, lengths of lists, axes, permutations and choices of a family.
#pragma once
#include "verifier/symbolic_proof/family.h"

bool family_choose_outline(struct family *f);   // false: it is impossible, or not known
