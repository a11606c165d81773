// Operator matching (EinNet, Sections 5.1 and 6.1): a scope as an application of an operator, between eOperators that
// lay out its operands and its result.
//
// Converging derivation: iterators of the scope are sorted by the signatures of an operator's table; several of one
// signature are merged, by the rules of substitution; what is read becomes operands with names, by their rule. What
// comes out is the operator's own definition of these operands, to the normal form, or the scope is not matched.
#pragma once
#include "derivation/matching/table.h"

struct match {
    int equal;      // a tensor with the entries of the one that was matched: the result, or a copy of it
    int result;     // that of an application
    int distance;   // the iterators that had to be merged or added
};
struct match_list {
    VEC(struct match) items;
};
// All matches of a scope, in the order of tables. Adds to dv->applications.
void match_scope(struct derivation *dv, int tensor, struct match_list *matches);
