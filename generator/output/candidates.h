// The substitutions of all families as rules: texts without duplicates, sorted.
#pragma once
#include "generator/reduce/minimal_equations.h"

struct candidate_rule {
    const char *body;          // (source ...) (target ...) (where ...)
    const char *over_groups;   // the same with the convolutions' groups as a variable, or NULL
    const char *family;        // the first that has it
    uint8_t operators[2], outputs;
    uint32_t ranks;   // bit r: seen where the variable of highest rank had rank r
    bool is_derivable;
    size_t n_unified;              // of how many rules it was made (unified.h); 0: it was found
    struct rule_graph graph;       // of what was made of several that of one
    const struct shapes *shapes;   // likewise
};
struct family_counts {
    const char *family;
    uint64_t terms[MAX_OPS + 1];
    struct class_counts classes;
    struct reduce_counts reduced;
    uint64_t joined, joined_pruned;
    uint64_t minimal, rules;   // equations that no other derives; directed rules, before families are merged
};
struct candidates {
    struct arena *arena;
    VEC(struct candidate_rule) rules;
    VEC(struct family_counts) counts;
};
void candidate_rules_init(struct candidates *c, struct arena *arena);
void candidate_rules_free(struct candidates *c);
// Both directions of every equation, as far as they are rules and differ.
void candidate_rules_add(struct candidates *c, const struct reduction *r, struct family_counts *counts);
// Sorts, removes duplicates, joins rules that differ in the groups of convolutions only, and adds what is made of those
// that differ in attributes.
void candidate_rules_finish(struct candidates *c);
// Adds the rules' text; only those that no other derives, or all.
void candidate_rules_print(struct text *out, const struct candidates *c, bool only_minimal);
