// Why a rule was rejected: the counterexample, or what is missing to a proof.
#include "verifier/rules/rejection_reason.h"

static const struct judgement *tested_of(const struct rule_report *report)
{
    return report->has_direct ? &report->direct : &report->first;
}

static void print_test(struct text *out, const struct rule_report *report)
{
    text_printf(out, "%llu instance%s, and no proof", (unsigned long long)tested_of(report)->instances,
                plural_ending(tested_of(report)->instances));
}

void rule_report_print_reason(struct text *out, const struct rule_report *report)
{
    if (report->trial.text.count)
        text_add(out, report->trial.text.chars);
    else if (report->first.verdict == VERDICT_NOT_COVERED)
        text_add(out, report->first.was_cut_short
                          ? "no instance was found within the limits"
                          : "source and target are never well-typed together at the sizes tried");
    else if (report->outcome == RULE_CHECKED)
        print_test(out, report);
    else if (report->first.counterexample.text.count)
        text_add(out, report->first.counterexample.text.chars);
    else
        text_add(out, rule_outcome_name(report->outcome));
    if (report->outcome == RULE_BREAKS_A_PROPERTY) {
        const struct entailment *e = &report->entailment;
        text_add(out, e->n_uses ? "\n    one of these properties is false:"
                                : "\n    no property was used: what is assumed of all operators is false");
        for (uint32_t i = 0; i < e->n_uses; i++)
            text_printf(out, " %s", e->uses[i]);
    }
}
