// Other people's rules: does each follow from what was found?
//
// A rule of the file is looked for in every family that has its operators and enough inputs: it is derived when a chain
// of the family's substitutions, each applied in a direction in which it is a rule, leads from its source to its
// target.
#pragma once
#include "generator/reduce/minimal_equations.h"
#include "substitutions/rule.h"

struct comparison {
    struct rule_set rules;
    const char **family;   // of each rule: the first family that derives it, NULL: none
    bool *is_sayable;      // some family has its operators
};
bool comparison_init(struct comparison *c, struct arena *arena, const char *path, struct error *error);
void comparison_free(struct comparison *c);
void comparison_with(struct comparison *c, const struct reduction *r, int max_ops);
// A line per rule: its name, the family or "-", and what is missing.
void comparison_print(struct text *out, const struct comparison *c);
