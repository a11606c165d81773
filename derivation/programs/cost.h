// The cost of a program, counted and not measured, so that it is the same everywhere.
#pragma once
#include "derivation/programs/derivation.h"

struct program_cost {
    double operations;   // of applications of operators
    double bytes;        // that these, and eOperators, read and write
    double others;       // operations of eOperators
    double total;        // in bytes
    double turned;       // entries that eOperators read across rows: of programs with equal totals, the less the better
    int n_applications, n_others;
};
// Nothing of weights alone counts, as it is computed once, nor what only names a tensor's entries by other indices.
struct program_cost program_cost(struct derivation *dv, int program);
// The least total that it may have when operators were found for all of its scopes.
double program_least_cost(struct derivation *dv, int program);
// Is this a scope that computes much for what it reads and writes: is an operator to be found for it?
bool is_worth_an_operator(struct derivation *dv, int tensor);
// Are its entries those of the tensor that it reads, in the same order?
bool is_view(struct pool *p, int tensor);
