// Why a rule was rejected: the counterexample, or what is missing to a proof.
#ifndef VERIFIER_RULES_REJECTION_REASON_H
#define VERIFIER_RULES_REJECTION_REASON_H
#include "verifier/rules/prove.h"

// Also the counterexample that the conditions of a proved rule exclude; one or more lines.
void rule_report_print_reason(struct text *out, const struct rule_report *report);
#endif
