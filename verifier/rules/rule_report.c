// Reports on rules, in words and in a few questions.
#include "verifier/rules/rule_report.h"

const char *rule_outcome_name(enum rule_outcome outcome)
{
    static const char *const names[RULE_OUTCOMES] = {
        [RULE_PROVED] = "proved",         [RULE_PROVED_UNDER_CONDITIONS] = "proved under conditions",
        [RULE_CHECKED] = "checked",       [RULE_REFUTED] = "refuted",
        [RULE_NOT_PROVED] = "not proved", [RULE_BREAKS_A_PROPERTY] = "false, but it follows from the properties",
    };
    return names[outcome];
}

const char *rule_outcome_meaning(enum rule_outcome outcome)
{
    static const char *const meanings[RULE_OUTCOMES] = {
        [RULE_PROVED] = "It holds for all sizes, and may be used everywhere.",
        [RULE_PROVED_UNDER_CONDITIONS] = "It holds for all sizes with the conditions that were added: use it with "
                                         "these, as it is written to the output.",
        [RULE_CHECKED] = "No instance differs, which is no proof: it is used only where sizes are known, and checked "
                         "there each time; state a property from which it follows, or add a condition.",
        [RULE_REFUTED] = "It is false at the instance that is shown: mend it, or add a condition that excludes this.",
        [RULE_NOT_PROVED] = "Nothing was tried, as no instance is well-typed on both sides: look for a mistake in its "
                            "attributes or sizes, or raise the limits.",
        [RULE_BREAKS_A_PROPERTY] = "It is false, and so is a property of those that are named: mend that one first.",
    };
    return meanings[outcome];
}

const struct counterexample *rule_report_counterexample(const struct rule_report *report)
{
    return report->trial.text.count ? &report->trial : &report->first.counterexample;
}

void rule_report_free(struct rule_report *report)
{
    judgement_free(&report->first);
    judgement_free(&report->direct);
    counterexample_free(&report->trial);
}

bool rule_report_is_derived(const struct rule_report *report)   // from the properties
{
    return report->has_entailment && report->entailment.status == ENTAILMENT_PROVED;
}

bool rule_report_is_proved(const struct rule_report *report)
{
    return report->outcome == RULE_PROVED || report->outcome == RULE_PROVED_UNDER_CONDITIONS;
}
