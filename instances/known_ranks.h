// Ranks that the text of an equation says: by conditions, by written lists and shapes, and from term to term by way of
// operators that keep ranks.
#pragma once
#include "instances/equation.h"

#define MAX_RANKED_TERMS (MAX_RULE_VARIABLES + MAX_RULE_NODES * 4)
struct known_ranks {
    const struct pattern *pattern;
    size_t n_terms;
    int of_variable[MAX_RULE_VARIABLES];   // RANK_OPEN: nothing says it
    int of_term[MAX_RANKED_TERMS];
    bool has_changed;
};

// Ranks of variables that conditions name.
void known_ranks_begin(struct known_ranks *r, const struct equation *eq);
// Spreads ranks from inputs to what reads them alone, which is so of every term whose inputs are well-typed.
void known_ranks_spread_up(struct known_ranks *r);
// Spreads ranks in both directions, where all terms of the equation are well-typed.
void known_ranks_spread(struct known_ranks *r, const struct equation *eq);
int known_rank(const struct known_ranks *r, term_id term);   // or RANK_OPEN
void known_ranks_set(struct known_ranks *r, term_id term, int rank);
