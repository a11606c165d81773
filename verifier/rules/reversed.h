// Rules that are one another read backwards, but for the names of variables: what is proved of one, as it stands, is
// proved of the other, as a rule says that two terms are equal wherever both are well-typed.
#pragma once
#include "substitutions/rule.h"

#define NO_RULE UINT32_MAX

// The first rule before each that it is read backwards; NO_RULE: there is none, and so it is for
// those that are found. Rules with conditions have none, and are none. Allocated in `a`.
const uint32_t *find_reversed_rules(const struct rule *const *rules, size_t n, struct arena *a);
