// Rules that a command line names: those of these names, or all where it names none.
#pragma once
#include "substitutions/rule.h"

bool rule_is_named(const struct rule *r, int count, char **names);
// Reads the first path of the command line; what follows are names, of which each has to be that of a rule.
bool named_rules_read(struct rule_set *rules, int count, char **positional, struct error *error);
