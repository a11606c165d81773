// Which rules of a set may match where. Most rules fit at none of the nodes that have the operator of their first
// source term; two looks tell: at what the node reads, by sets of rules for each operator there, and, where a match
// has to contain one of some nodes, at how far these are away.
#pragma once
#include "substitutions/match.h"

#define RULE_INDEX_INPUTS 2   // of the first term's node: so many are looked at

struct rule_index {
    const struct rule_set *rules;
    size_t n_words;   // of a set of rules
    // Sets, one after the other: by the operator of the node; by the operator that makes its input, which a variable
    // leaves open; and by an operator that the source graph has somewhere.
    uint64_t *of_root, *of_input[RULE_INDEX_INPUTS], *needing;
    // Steps from the node of the first term that any node of a rule's source graph is away at most, for every rule.
    // UINT8_MAX: its terms are not linked.
    uint8_t *reach, max_reach;   // of those that are
    bool has_unlinked;
    struct arena arena;   // of the sets
};
void rule_index_init(struct rule_index *x, const struct rule_set *rules);   // which has to stay as it is
void rule_index_free(struct rule_index *x);

// Matches as rule_match does at all nodes, one rule after the other, those that are disabled left out. `touched` (of
// every node; NULL: all are): matches without such a node need not be visited, but some are. No index with tensors of
// equal value.
void rule_index_match(const struct rule_index *x, const struct match_index *index, const bool *is_disabled,
                      const bool *touched, struct arena *scratch, bool (*visit)(void *context, const struct match *m),
                      void *context);
