// What is to be proved: pairs of terms of one pattern that shall be equal. Rules and properties both become equations.
#ifndef VERIFIER_EQUATION_H
#define VERIFIER_EQUATION_H
#include "properties/property.h"

struct equation {
    const char *name;
    const struct pattern *pattern;
    uint32_t n_pairs;
    const term_id *left, *right;
    uint32_t n_conditions;   // assumed
    const struct condition *conditions;
    uint32_t n_guards;   // terms assumed to be well-typed
    const term_id *guards;
    uint32_t plain;   // variables assumed to have no split trees, one bit each
    // Strong (Kleene) equality, of properties: one side alone being well-typed refutes it, and split trees are
    // compared. Otherwise, for rules: every term of the pattern is assumed to be well-typed, as the optimizer has
    // checked.
    bool is_strong;
};

struct equation equation_of_rule(const struct rule *r);
struct equation equation_of_property(const struct property *p);
// One bit per node: those that the term is made of.
uint32_t equation_nodes_of_term(const struct pattern *p, term_id term);
// A split without sizes anywhere: only then do the split trees of inputs matter to what is well-typed.
bool pattern_looks_at_split_trees(const struct pattern *p);
#endif
