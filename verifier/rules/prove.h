// A rule's verdict. It is proved by an argument that speaks of all sizes (from properties by Z3, with symbols for
// sizes, or by hand), and only if all instances that are tried, small ones and random far ones, agree as well. Where
// they agree and there is no argument it is checked, up to the bound of these instances; where they do not it is
// refuted.
#pragma once
#include "verifier/rules/rule_report.h"
#include "verifier/symbolic_proof/symbolic.h"

// `a` holds the conditions and the certificate that were made. `theory` may be NULL: no entailment is tried; nor are
// symbols where `symbols` is.
void prove_rule(struct judge *j, struct theory *theory, struct symbolic_prover *symbols, const struct rule *r,
                struct arena *a, struct rule_report *ret_report);
// The same for a rule that is another one read backwards, which was judged. False: that proves nothing of it.
bool prove_rule_reversed(const struct rule_report *reversed, const struct rule *r, struct rule_report *ret_report);
