// The text of a substitution (substitutions/rule.h): sizes become terms of the variables' shapes, attribute values that
// may be any become attribute variables, window sizes that the rule depends on become conditions.
#ifndef GENERATOR_LAW_TEXT_H
#define GENERATOR_LAW_TEXT_H
#include "generator/reduce.h"

struct text;

// Adds "(source ...) (target ...) (where ...)" without the name of the rule. With `is_group_variable` the group of
// convolutions is a variable too, where source and target have one value of it.
// False: the rule has more variables or outputs than a rule can have.
bool law_text_add(struct text *out, const struct law *law, uint64_t seed, bool is_group_variable,
                  struct arena *scratch);
#endif
