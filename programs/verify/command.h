// The part that commands on rules and properties share: options are read, rules and properties have a place for as long
// as the command runs, and an error is told.
#pragma once
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/options.h"
#include "instances/equation.h"
#include "properties/property.h"
#include "substitutions/rule.h"

struct command {
    const void *options;
    struct arena arena;
    struct rule_set rules;
    struct property_set properties;
};

// The work on the rest of the command line: gives the exit code, or COMMAND_FAILED when *error says why.
typedef int command_work(struct command *c, int count, char **arguments, struct error *error);
#define COMMAND_FAILED (-1)

// `options` have their standard values.
int command_run(const struct program *program, void *options, int argc, char **argv, command_work *work);
// An object with the one list `key`, of these items (JSON, after each other).
bool command_write_list(const char *path, const char *key, const struct text *items, struct error *error);
// Reads the rules of files, which are `wanted` where there is none.
bool command_read_rules(struct command *c, int count, char **paths, const char *wanted, struct error *error);
// Reads the equations of files of rules and of properties (*.properties), of which there must be one.
bool command_read_equations(struct command *c, int count, char **paths, struct equation **ret_equations, size_t *ret_n,
                            struct error *error);
// Reads the properties of a folder that proofs may rest on; the others are named on stderr.
bool command_read_true_properties(struct command *c, const struct program *program, const char *folder,
                                  struct error *error);

// Is it one of these names? Where there is none, every rule is.
bool rule_is_named(const struct rule *r, int count, char **names);
// Reads the first path of the command line; what follows are names, of which each has to be that of a rule.
bool named_rules_read(struct rule_set *rules, int count, char **positional, struct error *error);
