// A report on a rule: the verdict, the argument for it, and what was tested.
#pragma once
#include "core/text/text.h"
#include "verifier/entailment/z3_theory.h"
#include "verifier/rules/find_conditions.h"
#include "verifier/testing/judge.h"

enum rule_outcome {
    RULE_PROVED,
    RULE_PROVED_UNDER_CONDITIONS,
    RULE_CHECKED,             // no instance differs up to the bound of the certificate, and there is no argument
    RULE_REFUTED,             // false as it stands, and no condition of the vocabulary helps
    RULE_NOT_PROVED,          // no counterexample, and no proof
    RULE_BREAKS_A_PROPERTY,   // it follows from the properties and is false: one of those used is
    RULE_OUTCOMES,
};
const char *rule_outcome_name(enum rule_outcome outcome);
const char *rule_outcome_meaning(enum rule_outcome outcome);   // what follows for the author, a sentence

struct rule_report {
    const struct rule *rule;
    enum rule_outcome outcome;
    struct rule proved;   // the rule with its conditions and certificate; shares the pattern
    struct found_condition added;
    struct judgement first;         // of the rule as it stands
    struct judgement direct;        // of the rule with the conditions that were added
    bool has_direct;                // `direct` was made
    struct entailment entailment;   // of the rule as it stands when that is refuted, else of the proved one
    bool has_entailment;
    const struct rule_report *reversed;   // that of the rule which is this one read backwards, if it is proved by that
    uint32_t families;             // of which symbols for sizes prove it, where nothing else does; 0: they do not
    const char *law;               // its name, if it is proved by hand
    uint32_t n_far;                // random instances beyond what was tested
    struct counterexample trial;   // the counterexample among these, if there is one
    double seconds;                // of one core, that the rule took; no verdict depends on it
};
void rule_report_free(struct rule_report *report);
// The rule as it stands, where it differs, or far; what has no text: none is known.
const struct counterexample *rule_report_counterexample(const struct rule_report *report);
bool rule_report_is_derived(const struct rule_report *report);   // from the properties
bool rule_report_is_proved(const struct rule_report *report);    // as it stands, or under conditions

// Its certificate: (proof ARGUMENT ... (tested ...)), or (checked (tested ...)) where there is no argument. An argument
// is (properties NAME ...), from which Z3 derives it, with (axioms NAME ...), which of them are axioms; (symbols
// (families N)), or (law NAME).
const char *rule_certificate(const struct rule_report *report, struct arena *a);
// Why it was rejected: the counterexample, or what is missing to a proof; also the counterexample that conditions of a
// proved rule exclude. One or more lines.
void rule_report_print_reason(struct text *out, const struct rule_report *report);
