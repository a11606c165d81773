// Why a rule is proved, as its certificate, and why another was rejected.
#ifndef VERIFIER_RULES_REASONS_H
#define VERIFIER_RULES_REASONS_H
#include "verifier/rules/prove.h"

const char *rule_certificate(const struct rule_report *report, struct arena *a);   // of one that is proved
// Why the rule was rejected, or the counterexample that the conditions exclude; one or more lines.
void rule_report_print_reason(struct text *out, const struct rule_report *report);
#endif
