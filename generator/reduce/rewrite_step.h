// A step of rewriting: one or two terms within a term are replaced, wherever they occur, by targets of a rule. Its hash
// and about how many nodes it has are known before the new term is made, as most are known or too large.
#pragma once
#include "generator/enumerate/term.h"
#include "generator/reduce/rewrite_rules.h"

enum { MAX_REPLACED = 2 };
// The context is what stays of the whole term.
struct context {
    const struct family *family;
    const struct measured *term;
    int n_replaced, n_places, n_changed;
    uint8_t numbers[MAX_REPLACED];                   // of what is replaced
    uint8_t places[KEY_LENGTH], which[KEY_LENGTH];   // where it stood; none stands in another
    uint8_t changed[MAX_TERM_NODES];                 // where applications stand that it stood in, outer ones first
    uint32_t placed;                                 // which of them stand in the whole term outside of the other
    uint32_t kept, changed_nodes;                    // sets of nodes
    uint64_t kept_bits;
};
// The places in the term where the terms start that variables stand for.
struct bindings {
    uint8_t of[MAX_LEAVES];
};
// The target of a rule, or one of its two outputs.
struct target {
    const uint8_t *bytes;
    int length, n_swappable;
    const struct swappable *swappable;
};
struct rewrite_step {
    const struct context *context;
    const struct target *targets;   // by what each term is replaced
    const struct bindings *bindings;
    bool is_equation;              // by a rule without conditions whose other direction is a rule too
    uint64_t hash;                 // term_hash of the new term
    int least_nodes, most_nodes;   // that it has; nodes of equal hashes are counted once in the least
};
// `replaced`: where such terms start. Keeps `term`.
void context_init(struct context *c, const struct family *family, const struct measured *term, const uint8_t *replaced,
                  int n_replaced);
// Sets what is foreseen of the new term; false: it is too long for a key.
bool rewrite_step_foresee(struct rewrite_step *step);
void rewrite_step_make(const struct rewrite_step *step, struct key *ret_key);
bool rewrite_step_leads_to(const struct rewrite_step *step, const struct key *key);
