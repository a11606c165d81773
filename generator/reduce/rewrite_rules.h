// The rules of rewriting, by what they match.
//
// A rule's keys are those of a graph (rule_graph_key): its variables stand for any term. Of the rules with one root,
// sets of bits say which an argument with a given operator or leaf at its beginning (a *head*) may match: those that
// may match a term are the intersection of two such sets.
#pragma once
#include "generator/enumerate/rule_graph.h"

// The places of the arguments of a commutative operator's application in a pattern.
struct swappable {
    uint8_t first, second, end;
};
enum { MAX_SWAPPABLE = (KEY_LENGTH - 1) / 3 };
struct rewrite_rule {
    struct key source, target;   // all variables of the target occur in the source, which is no leaf
    uint32_t owner;              // the caller's number
    uint32_t place;              // among the rules with its root
    bool is_reversible;          // the other direction is a rule too
    bool is_conditional;         // true at some sizes only: derives nothing
    int n_swappable;
    struct swappable swappable[MAX_SWAPPABLE];   // in the target, outer ones first
};
// Which rules a step may take.
enum usable { USABLE_ALL, USABLE_UNCONDITIONAL, USABLE_REVERSIBLE, USABLE_COUNT };
struct rewrite_root {
    VEC(uint32_t) rules;   // ascending
    size_t set_words;      // of each set: bit i is the i-th of the rules
    uint64_t *usable[USABLE_COUNT];
    uint64_t *heads[2];   // of each argument as many sets as there are heads, one after the other
};
struct rewrite_rules {
    const struct family *family;
    int n_heads;
    VEC(struct rewrite_rule) rules;
    struct rewrite_root roots[MAX_INSTANCES + 1][MAX_NODE_OUTPUTS];
};
void rewrite_rules_init(struct rewrite_rules *r, const struct family *family);
void rewrite_rules_free(struct rewrite_rules *r);
// Adds source -> target, and the other direction where it is a rule.
void rewrite_rules_add(struct rewrite_rules *r, const struct key *source, const struct key *target, uint32_t owner,
                       bool is_conditional);
// The rules of this owner are used from now on, or not. Owners were added in ascending order.
void rewrite_rules_use(struct rewrite_rules *r, uint32_t owner, bool is_used);

// The form that is rewritten. A head's number; `first_leaf` is how leaf 0 is written, less is a variable.
enum { REWRITE_ANY_HEAD = 0 };
static inline int rewrite_head_at(const uint8_t *bytes, int first_leaf)
{
    if (bytes[0] >= KEY_NODE)
        return 1 + MAX_LEAVES + bytes[1] * MAX_NODE_OUTPUTS + bytes[0] - KEY_NODE;
    return bytes[0] < first_leaf ? REWRITE_ANY_HEAD : 1 + bytes[0] - first_leaf;
}
// Gives their number; the outer ones come first.
int rewrite_find_swappable(const struct family *f, const struct key *pattern, struct swappable *ret_swappable);
