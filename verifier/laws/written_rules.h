// Laws that are whole rules: those of substitutions/written.rules that docs/theory/laws.md proves under their names.
#pragma once
#include "instances/equation.h"

extern const char written_rules_file[];   // its text, when the project was built

// "L64", under which the proof is; NULL: the equation is none of these rules, whatever their variables are called.
const char *written_rule_of_equation(const struct equation *eq);
