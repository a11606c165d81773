// Rewriting of terms, as keys, by substitutions of one output: which terms does one step reach?
//
// A step replaces a subterm everywhere in the term. Terms are keys over the leaves of the family.
#pragma once
#include "generator/reduce/rewrite_step.h"

// Calls `visit` for every step; stops when it returns false. Of the rules those from `first_rule` on.
typedef bool rewrite_fn(void *context, const struct rewrite_step *step);
void rewrite_visit(const struct rewrite_rules *r, size_t first_rule, const struct key *term, enum usable usable,
                   rewrite_fn *visit, void *context);
