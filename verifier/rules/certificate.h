// The certificate of a rule: (proof ARGUMENT ... (tested ...)), or (checked (tested ...)) where there is no argument.
// An argument is (properties NAME ...), from which Z3 derives it, with (axioms NAME ...), which of them are axioms;
// (symbols (families N)), or (law NAME).
#pragma once
#include "verifier/rules/rule_report.h"

const char *rule_certificate(const struct rule_report *report, struct arena *a);
