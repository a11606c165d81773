// A proof for all sizes with sizes that have no values: both sides as normal forms, and Z3 for what is said of indices.
//
// It shares nothing with proofs by instances (docs/theory/symbolic.md). "Unknown" says nothing of the equation.
#pragma once
#include "core/text/text.h"
#include "verifier/symbolic_proof/family.h"

struct symbolic_proof {
    bool is_proved;
    uint32_t families;    // of which it was shown
    uint64_t questions;   // that Z3 was asked
    struct text why;      // it was not
};
struct symbolic_prover {
    struct typing typing;
    struct lane *lanes;
    struct arena arena;
};
void symbolic_prover_init(struct symbolic_prover *prover);
void symbolic_prover_free(struct symbolic_prover *prover);
// Proves that both sides have one type and the same values where all terms of the equation are well-typed; and where it
// is strong and its guards are well-typed, that one side is if the other is, and both have the same split trees.
void symbolic_prove(struct symbolic_prover *prover, const struct equation *eq, struct symbolic_proof *ret_proof);
// The latter alone.
void symbolic_prove_typing(struct symbolic_prover *prover, const struct equation *eq, struct symbolic_proof *ret_proof);
