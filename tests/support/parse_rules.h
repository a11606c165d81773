// Rules that a test has in its own text, or in a file.
#pragma once

struct arena;
struct rule;
struct rule_set;

// The rule of a text without a mistake; the test fails at one.
struct rule *parse_rule(struct arena *a, const char *text);
// Adds the rules of a text without a mistake; the test fails at one.
void parse_rules(struct rule_set *set, struct arena *a, const char *text);
// The rules of a file, as a new set in `a`.
void read_rules(struct rule_set *ret_set, struct arena *a, const char *path);
