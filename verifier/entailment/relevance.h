// Which axioms may take part in a proof. A prover sets the variables of an axiom where it meets, up to equality, the
// terms of one of its *triggers*; so an axiom no trigger of which is made of symbols that the obligation has, or that
// other axioms may bring, is never used, and is not given to the prover at all.
#pragma once
#include "verifier/entailment/sentences.h"

#define MAX_TRIGGERS 16
#define MAX_TRIGGER_TERMS 10
// Alternatives; the terms of one have all variables of the axiom together.
struct triggers {
    uint32_t n;
    struct trigger {
        uint32_t n;
        logic_term terms[MAX_TRIGGER_TERMS];
        uint32_t n_symbols;   // of the terms, each once
        const uint32_t *symbols;
    } items[MAX_TRIGGERS];
};
// Each side of the first goal that has all variables triggers the axiom alone, as does such a guard; else all of them
// do together. None: no term of the axiom has all of its variables. What they point to is in the logic's arena.
struct triggers triggers_of_axiom(struct logic *l, const struct sentence *axiom);

// Symbols and axioms that an obligation can reach, in an order that depends on nothing but the obligation and the
// axioms.
struct relevance {
    const struct logic *logic;
    bool *has_symbol;   // by number; of `n_symbols`
    size_t n_symbols;
    VEC(uint32_t) symbols;
    VEC(uint32_t) axioms;   // ascending
};
void relevance_init(struct relevance *r, const struct logic *l);
void relevance_free(struct relevance *r);
void relevance_add_sentence(struct relevance *r, const struct sentence *s);   // its symbols
// All axioms that the symbols added so far lead to, and the symbols of these.
void relevance_close(struct relevance *r, const struct sentence_list *axioms, const struct triggers *triggers);
