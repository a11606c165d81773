// A derivation as a person would write it: a chain of terms from the source to the target, each step one property.
//
// Z3 says which properties a proof used; with these as rewrite rules, in both directions, at every place of a term, a
// breadth-first search from both ends finds a shortest chain. Guards are not looked at again: Z3 has met them. A
// proof by cases (an activation that is none or relu) has no chain.
#pragma once
#include "verifier/entailment/z3_theory.h"

struct derivation_step {
    logic_term term;
    const char *property;   // that leads to the term; NULL for the first
};
struct derivation {
    struct logic logic;   // of the terms
    VEC(struct derivation_step) steps;
};
// Derives the first obligation's goal number `goal`. False: no chain within the limit of terms (the search is over
// terms of limited size, so a proof may exist that it misses). The derivation is to be freed in any case.
bool property_derivation_find(struct derivation *ret_derivation, const struct axioms *axioms, const struct equation *eq,
                              uint32_t goal, const struct entailment *proof, uint32_t term_limit);
void property_derivation_free(struct derivation *d);
