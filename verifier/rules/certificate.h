// The certificate of a rule that is proved: what was tested, by which law, and from which properties it follows.
#pragma once
#include "verifier/rules/prove.h"

const char *rule_certificate(const struct rule_report *report, struct arena *a);
