// Rewriting of terms, as keys, by substitutions of one output: which terms does one step reach?
//
// A rule's keys are those of a sketch (sketch_key): its variables stand for any term. A step replaces a subterm
// everywhere in the term. Terms are keys over the leaves of the family.
//
// Of the rules with one root, sets of bits say which have a given operator or leaf (a *head*) at the beginning of an
// argument: those that may match a term are the intersection of two such sets.
#ifndef GENERATOR_REWRITE_H
#define GENERATOR_REWRITE_H
#include "generator/sketch.h"
#include "generator/term.h"

enum { SHORT_SOURCE = 24, ANY_HEAD = 0, REWRITE_HEADS = 1 + MAX_LEAVES + (MAX_INSTANCES + 1) * MAX_NODE_OUTPUTS };

struct rewrite_rule {
    struct key source, target;   // all variables of the target occur in the source, which is no leaf
    uint32_t owner;              // the caller's number
    uint32_t place;              // among the rules with its root
    bool is_reversible;          // the other direction is a rule too
    bool is_conditional;         // true at some sizes only: derives nothing
};
// Which rules a step may take.
enum usable { USABLE_ALL, USABLE_ALL_REVERSIBLE, USABLE_UNCONDITIONAL, USABLE_REVERSIBLE, USABLE_COUNT };
typedef VEC(uint64_t) rule_set;   // bit i: the i-th of the rules with one root
// Most sources are short. Those of the rules with one root stand side by side, as they are what is read most.
struct short_source {
    uint8_t bytes[SHORT_SOURCE];   // the first one is 0 where the source is longer
};
struct rewrite_root {
    VEC(uint32_t) rules;   // ascending
    VEC(struct short_source) sources;
    rule_set usable[USABLE_COUNT];
    rule_set *heads[2];   // of each argument, by what it begins with: REWRITE_HEADS sets; NULL: no rule yet
};
struct rewrite_rules {
    const struct family *family;
    VEC(struct rewrite_rule) rules;
    struct rewrite_root roots[MAX_INSTANCES + 1][MAX_NODE_OUTPUTS];
};
void rewrite_rules_init(struct rewrite_rules *r, const struct family *family);
void rewrite_rules_free(struct rewrite_rules *r);
// Adds source -> target, and the other direction where it is a rule.
void rewrite_rules_add(struct rewrite_rules *r, const struct key *source, const struct key *target, uint32_t owner,
                       bool is_conditional);
// From now on the rules of this owner are used, or not. Owners were added in ascending order.
void rewrite_rules_use(struct rewrite_rules *r, uint32_t owner, bool is_used);

// Calls `visit` for every term that one step by `rule` reaches; stops when it returns false.
typedef bool rewrite_fn(void *context, const struct rewrite_rule *rule, const struct key *term);
// Of the rules those from `first_rule` on.
void rewrite_visit(const struct rewrite_rules *r, size_t first_rule, const struct key *term, enum usable usable,
                   rewrite_fn *visit, void *context);
#endif
