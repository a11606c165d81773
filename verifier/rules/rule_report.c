// Reports on rules, in words and in a few questions.
#include "verifier/rules/rule_report.h"

static const struct {
    const char *name, *meaning;
} outcomes[RULE_OUTCOMES] = {
    [RULE_PROVED] = {"proved", "It holds for all sizes, and may be used everywhere."},
    [RULE_PROVED_UNDER_CONDITIONS] = {"proved under conditions",
                                      "It holds for all sizes with the conditions that were added: use it "
                                      "with these, as it is written to the output."},
    [RULE_CHECKED] = {"checked",
                      "No instance differs, which is no proof: it is used only where sizes are known, and "
                      "checked there each time; state a property from which it follows, or add a condition."},
    [RULE_REFUTED] = {"refuted", "It is false at the instance that is shown: mend it, or add a condition that excludes "
                                 "this."},
    [RULE_NOT_PROVED] = {"not proved", "Nothing was tried, as no instance is well-typed on both sides: look for a "
                                       "mistake in its attributes or sizes, or raise the limits."},
    [RULE_BREAKS_A_PROPERTY] = {"false, but it follows from the properties",
                                "It is false, and so is a property of those that are named: mend that one first."},
};

const char *rule_outcome_name(enum rule_outcome outcome)
{
    return outcomes[outcome].name;
}

const char *rule_outcome_meaning(enum rule_outcome outcome)
{
    return outcomes[outcome].meaning;
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

// --- certificates ----------------------------------------------------------------------------------------------------

static void print_names(struct text *out, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        text_printf(out, " %s", names[i]);
}

static void print_argument(struct text *out, const struct rule_report *report)
{
    if (rule_report_is_derived(report)) {
        text_add(out, " (properties");
        print_names(out, report->entailment.uses, report->entailment.n_uses);
        text_add(out, ")");
        if (report->entailment.n_axioms) {
            text_add(out, " (axioms");
            print_names(out, report->entailment.axioms, report->entailment.n_axioms);
            text_add(out, ")");
        }
    }
    if (report->law)
        text_printf(out, " (law %s)", report->law);
    if (report->families)
        text_printf(out, " (symbols (families %u))", report->families);
}

static const struct judgement *tested_of(const struct rule_report *report)
{
    return report->has_direct ? &report->direct : &report->first;
}

static void print_tests(struct text *out, const struct rule_report *report)
{
    const struct judgement *tested = tested_of(report);
    text_printf(out, " (tested (ranks 0 %d) (sizes 1 %d) (instances %llu) (random %u))", tested->largest_rank,
                tested->largest_size, (unsigned long long)tested->instances, report->n_far);
}

const char *rule_certificate(const struct rule_report *report, struct arena *a)
{
    TEXT(out);
    text_add(&out, rule_report_is_proved(report) ? "(proof" : "(checked");
    if (rule_report_is_proved(report))
        print_argument(&out, report);
    print_tests(&out, report);
    text_add(&out, ")");
    return arena_string(a, out.chars);
}

// --- reasons ---------------------------------------------------------------------------------------------------------

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
        print_names(out, e->uses, e->n_uses);
    }
}
