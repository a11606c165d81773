// Do substitutions lead from one term to another?
#pragma once
#include "generator/reduce/rewrite.h"

// Do steps by rules without conditions that never need more operators than `from` lead to a term of at most `n_nodes`?
bool derive_smaller(const struct rewrite_rules *r, const struct key *from, int n_nodes, int max_terms);
// Is `to` reached from `from` by at most `max_terms` terms of at most `max_nodes` operators? Both ends are searched.
enum derivation {
    DERIVE_EQUATION,   // steps in any direction, by rules without conditions on sizes
    DERIVE_BY_RULES,   // every step is a rule without conditions
};
bool derive_term(const struct rewrite_rules *r, const struct key *from, const struct key *to, int max_nodes,
                 int max_terms, enum derivation what);
