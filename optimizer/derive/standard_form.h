// eOperators by operators that every runtime has: views, pads, slices, additions, transpositions and concatenations.
#pragma once
#include "derivation/scopes/scope.h"
#include "substitutions/rule.h"

// Adds the term for a scope that sums entries of one tensor, the one of `operand`. False: it reads several, or has too
// many slices of it, or none are slices; terms without use may have been added.
bool standard_form_add(struct pool *p, int tensor, term_id operand, struct pattern *pattern, struct arena *a,
                       term_id *ret_term);
