// The certificate of a rule that is proved: what was tested, by which law, and from which properties it follows.
#ifndef VERIFIER_RULES_CERTIFICATE_H
#define VERIFIER_RULES_CERTIFICATE_H
#include "verifier/rules/prove.h"

const char *rule_certificate(const struct rule_report *report, struct arena *a);
#endif
