// Which rules are proved, as far as this build is asked: those of substitutions/taso.rules and egraph.rules as they
// were when the project was built, where their certificates, which scripts/prove-rules had the verifier make, say so.
// Any other file's certificates are text that anybody can write.
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct error;
struct log;
struct rule_set;

extern const char proved_rules_file[], proved_egraph_rules_file[];   // those files' texts

// Leaves out the rules that are not among them by source, target and conditions, printed; names and certificates do not
// count. Says to the log how many of them claim to be proved. False: none is left, or there was none; `path` is where
// they came from.
bool proved_rules_keep(struct rule_set *rules, const char *path, const struct log *log, size_t *ret_left_out,
                       struct error *error);
