// Variable substitution of the iterators of a sum (EinNet, Table 1): a sum over other iterators.
//
//     L x sum y in Y f(x,y)   =   L x sum z in Z f(x,psi(z))
//
// Requirements: psi is a bijection, which is checked as
//     phi(y) is in Z for all y in Y, and psi(phi(y)) = y: phi is one to one
//     Y and Z have as many elements: phi is onto, and psi its inverse
#pragma once
#include "derivation/scopes/scope.h"

enum { MOST_SUBSTITUTED = 8 };
struct sum_substitution {
    int n_old, n_new;
    uint32_t old[MOST_SUBSTITUTED], new[MOST_SUBSTITUTED];   // variables; new ones are of scope_new_sum
    expr old_by_new[MOST_SUBSTITUTED], new_by_old[MOST_SUBSTITUTED];
};
// Changes a scope that was taken apart. False: a requirement is not met, or there are too many sums.
bool rule_substitute_sums(struct pool *p, struct scope *s, const struct sum_substitution *by);
