// Rules that a test has in its own text, or in a file.
#pragma once
#include "substitutions/rule.h"

// The rule of a text without a mistake; the test fails at one.
struct rule *parse_rule(struct arena *a, const char *text);
// Adds the rules of a text without a mistake; the test fails at one.
void parse_rules(struct rule_set *set, struct arena *a, const char *text);
// The rules of a file, as a new set in `a`.
void read_rules(struct rule_set *ret_set, struct arena *a, const char *path);

// A set of them, freed at the end of the block.
#define RULES(name, a, text)                                                                                           \
    struct rule_set name FREED_BY(rule_set_free);                                                                      \
    rule_set_init(&name, a);                                                                                           \
    parse_rules(&name, a, text)
#define RULES_OF(name, a, path)                                                                                        \
    struct rule_set name FREED_BY(rule_set_free);                                                                      \
    read_rules(&name, a, path)
