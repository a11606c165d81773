// Why a rule was rejected: the counterexample, or what is missing to a proof.
#pragma once
#include "verifier/rules/rule_report.h"

// Also the counterexample that the conditions of a proved rule exclude; one or more lines.
void rule_report_print_reason(struct text *out, const struct rule_report *report);
