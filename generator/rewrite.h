// Rewriting of terms, as keys, by substitutions of one output: which terms does one step reach?
//
// A rule's keys are those of a sketch (sketch_key): its variables stand for any term. A step replaces a subterm
// everywhere in the term. Terms are keys over the leaves of the family.
#ifndef GENERATOR_REWRITE_H
#define GENERATOR_REWRITE_H
#include "generator/sketch.h"

struct rewrite_rule {
    struct key source, target;   // all variables of the target occur in the source, which is no leaf
    uint32_t owner;              // the caller's number
    bool is_off;                 // not to be used
    bool is_reversible;          // the other direction is a rule too
    bool is_conditional;         // true at some sizes only: derives nothing
};
struct rewrite_rules {
    const struct family *family;
    VEC(struct rewrite_rule) rules;
    VEC(uint32_t) by_root[MAX_INSTANCES + 1][MAX_NODE_OUTPUTS];
};
void rewrite_rules_init(struct rewrite_rules *r, const struct family *family);
void rewrite_rules_free(struct rewrite_rules *r);
// Adds source -> target, and the other direction where it is a rule.
void rewrite_rules_add(struct rewrite_rules *r, const struct key *source, const struct key *target, uint32_t owner,
                       bool is_conditional);

// Calls `visit` for every term that one step reaches; stops when it returns false.
typedef bool rewrite_fn(void *context, const struct key *term);
void rewrite_visit(const struct rewrite_rules *r, const struct key *term, rewrite_fn *visit, void *context);
bool key_pair(const struct key *a, const struct key *b, struct key *ret_pair);   // false: too long
int key_count_nodes(const struct family *family, const struct key *key);         // different applications in the term
// The term with the inputs renamed: leaf i becomes order[i].
void key_rename(const struct family *family, struct key *key, const uint8_t *order);
uint32_t key_inputs(const struct family *family, const struct key *key);   // set of the inputs in the term
// The smallest of all renamings of the terms together, n at most 8.
void keys_make_canonical(const struct family *family, struct key *keys, int n);
// Is `to` reached from `from` by at most `max_terms` terms of at most `max_nodes` operators? Both ends are searched.
enum derivation {
    DERIVE_EQUATION,       // steps in any direction, by rules without conditions on sizes
    DERIVE_BY_RULES,       // every step is a rule without conditions
    DERIVE_BY_ANY_RULES,   // every step is a rule
};
bool rewrite_derives(const struct rewrite_rules *r, const struct key *from, const struct key *to, int max_nodes,
                     int max_terms, enum derivation what);
#endif
