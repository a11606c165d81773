// The text of a substitution (substitutions/rule.h): sizes become terms of the variables' shapes, attribute values that
// may be any become attribute variables, window sizes that the rule depends on become conditions.
#pragma once
#include "generator/reduce/minimal_equations.h"

// Do all attributes that are groups have one value?
bool equation_has_one_group(const struct equation *equation);
// Adds "(source ...) (target ...) (where ...)" without the name of the rule; to `over_groups`, unless NULL, the same
// with the group of convolutions a variable too, which only makes sense where they all have one value. False: the rule
// has more variables or outputs than a rule can have.
bool equation_text_add(struct text *out, struct text *over_groups, const struct equation *equation,
                       struct evaluation_cache *calls);
const char *equation_text_variable(int variable);   // the name that it has for a tensor, without the sigil
