// Explorative derivation tries at a scope: the rules, with the parameters that index functions suggest.
#pragma once
#include "derivation/scopes/scope.h"

enum derivation_rule {
    RULE_SPLIT_SUM,
    RULE_SUBSTITUTE_AXES,
    RULE_SUBSTITUTE_SUMS,
    RULE_RELAX_SUM,
    RULE_SOLVE_SUM,
    RULE_UNWRAP,
    RULE_TIGHTEN,
    RULE_MERGE_SCOPES,
    RULE_FACTORIZE,
    RULE_COUNT
};
const char *derivation_rule_name(enum derivation_rule rule);

struct suggestion {
    enum derivation_rule rule;
    int equal;   // a tensor with the same entries
};
struct suggestions {
    VEC(struct suggestion) items;
};
// Adds those of one tensor; none when it is an input or no sum of products. `factorizes`: bilinear algorithms, too.
void suggest(struct pool *p, int tensor, bool factorizes, struct suggestions *suggestions);
