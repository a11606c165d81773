// Judging a rule, in order: small instances, an argument, conditions, far instances.
#include "verifier/rules/prove.h"

#include "verifier/laws/laws.h"
#include "verifier/limits.h"
#include "verifier/rules/abduction.h"
#include "verifier/testing/random_trials.h"
#include "verifier/text/numbers.h"

// The means by which a rule is judged.
struct provers {
    struct judge *judge;
    struct theory *theory;             // NULL: nothing is derived from properties
    struct symbolic_prover *symbols;   // NULL: these prove nothing
    struct arena *arena;               // of conditions and certificates
};

// --- arguments -------------------------------------------------------------------------------------------------------

// `part` of Z3's steps is all that it may take.
static void derive(const struct provers *p, const struct equation *eq, unsigned part, struct rule_report *report)
{
    report->has_entailment = p->theory && text_is_of_real_numbers(eq) && text_is_defined_everywhere(eq);
    if (!report->has_entailment)
        return;
    double before = report->entailment.seconds;
    report->entailment = theory_prove_within(p->theory, eq, part);
    report->entailment.seconds += before;
}

static void prove_with_symbols(const struct provers *p, const struct equation *eq, struct rule_report *report)
{
    struct symbolic_proof proof = {0};
    if (p->symbols)
        symbolic_prove(p->symbols, eq, &proof);
    report->families = proof.is_proved ? proof.families : 0;
    text_free(&proof.why);
}

static bool has_argument(const struct rule_report *report)
{
    return rule_report_is_derived(report) || report->law || report->families;
}

// The argument by which a rule that agrees at all instances does so at all others: the cheapest one.
static bool find_argument(const struct provers *p, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    report->law = text_has_element_types(&eq) ? law_of_equation(&eq) : NULL;
    report->families = 0;
    report->entailment.seconds = 0;
    if (!report->law)
        derive(p, &eq, PART_OF_FIRST_STEPS, report);
    if (!has_argument(report))
        prove_with_symbols(p, &eq, report);
    if (!has_argument(report) && report->entailment.ran_out_of_steps)
        derive(p, &eq, 1, report);
    return has_argument(report);
}

// --- conditions ------------------------------------------------------------------------------------------------------

static void append_conditions(struct found_condition *all, const struct found_condition *more)
{
    for (uint32_t i = 0; i < more->count && all->count < MAX_ADDED_CONDITIONS; i++)
        all->conditions[all->count++] = more->conditions[i];
}

// Judges the rule with more conditions. False, and all is as it was: with these it is not proved either.
static bool is_proved_with(const struct provers *p, const struct found_condition *more, struct rule_report *report)
{
    struct rule_report before = *report;
    if (more->count == 0 || more->count + report->added.count > MAX_ADDED_CONDITIONS)
        return false;
    rule_add_conditions(&report->proved, more, p->arena);
    append_conditions(&report->added, more);
    struct equation eq = equation_of_rule(&report->proved);
    judge_equation(p->judge, &eq, &report->direct);
    report->has_direct = true;
    if (report->direct.verdict == VERDICT_AGREES && find_argument(p, report)) {
        report->outcome = RULE_PROVED_UNDER_CONDITIONS;
        judgement_free(&before.direct);
        return true;
    }
    judgement_free(&report->direct);
    *report = before;
    return false;
}

// Conditions that rules usually lack, all at once: it is enough if they follow from the properties then.
static bool is_proved_with_what_suffices(const struct provers *p, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    if (!p->theory || !text_is_of_real_numbers(&eq) || !text_is_defined_everywhere(&eq))
        return false;
    struct judge *judge = report->outcome == RULE_REFUTED ? p->judge : NULL;
    struct found_condition sufficient = find_sufficient_condition(p->theory, judge, &report->proved, p->arena);
    return is_proved_with(p, &sufficient, report);
}

// A rule for which no argument is found has more instances, and one for which conditions are chosen. Gives the limit
// there was.
static uint64_t ask_for_more_instances(struct judge *j)
{
    uint64_t usual = j->instance_limit;
    j->instance_limit = usual * CHECKED_INSTANCE_LIMIT / RULE_INSTANCE_LIMIT;
    return usual;
}

// Failing instances that the first condition does not exclude may need a second one.
#define MOST_ATTEMPTS 2
static void exclude_failing_instances(const struct provers *p, struct rule_report *report)
{
    struct rule_report before = *report;
    for (int i = 0; i < MOST_ATTEMPTS; i++) {
        struct equation eq = equation_of_rule(&report->proved);
        uint64_t usual = ask_for_more_instances(p->judge);
        struct found_condition found = find_weakest_condition(p->judge, &eq, p->arena);
        p->judge->instance_limit = usual;
        if (found.count == 0 || is_proved_with(p, &found, report))
            return;
        rule_add_conditions(&report->proved, &found, p->arena);
        append_conditions(&report->added, &found);
    }
    *report = before;
}

static void try_under_conditions(const struct provers *p, struct rule_report *report)
{
    struct rule as_it_stands = report->proved;
    if (!p->judge->adds_conditions || is_proved_with_what_suffices(p, report))
        return;
    exclude_failing_instances(p, report);
    if (rule_report_is_proved(report))
        return;
    report->proved = as_it_stands;
    report->added.count = 0;
}

// A rule that names the axes of images is often only meant for images.
static void try_with_ranks(const struct provers *p, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    struct found_condition on_ranks = find_condition_on_ranks(&eq, p->arena);
    if (p->judge->adds_conditions && !is_proved_with(p, &on_ranks, report))
        is_proved_with_what_suffices(p, report);
}

// --- verdicts --------------------------------------------------------------------------------------------------------

static void judge_refuted(const struct provers *p, struct rule_report *report)
{
    struct equation eq = equation_of_rule(report->rule);
    report->outcome = RULE_REFUTED;
    derive(p, &eq, PART_OF_FIRST_STEPS, report);
    if (rule_report_is_derived(report))
        report->outcome = RULE_BREAKS_A_PROPERTY;
    else
        try_under_conditions(p, report);
}

static void judge_agreeing(const struct provers *p, struct rule_report *report)
{
    report->outcome = find_argument(p, report) ? RULE_PROVED : RULE_CHECKED;
    if (report->outcome == RULE_CHECKED)
        try_with_ranks(p, report);
}

static void judge_rule(const struct provers *p, const struct rule *r, struct rule_report *ret_report)
{
    struct equation eq = equation_of_rule(r);
    *ret_report = (struct rule_report){.rule = r, .proved = *r};
    judge_equation(p->judge, &eq, &ret_report->first);
    if (ret_report->first.verdict == VERDICT_REFUTED)
        judge_refuted(p, ret_report);
    else
        judge_agreeing(p, ret_report);
}

// A rule for which no argument is found is tested at more instances.
static void test_more(const struct provers *p, struct rule_report *report)
{
    struct equation eq = equation_of_rule(report->rule);
    judgement_free(&report->first);
    uint64_t usual = ask_for_more_instances(p->judge);
    judge_equation(p->judge, &eq, &report->first);
    p->judge->instance_limit = usual;
    report->outcome = report->first.verdict == VERDICT_REFUTED ? RULE_REFUTED : RULE_CHECKED;
}

// Random instances at other attributes and larger sizes than those that were tested, and far ones.
static void try_random_instances(const struct provers *p, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    enum trial_effort effort = rule_report_is_proved(report) ? TRIALS_OF_PROVED : TRIALS_OF_UNPROVED;
    if (!trials_run_usual(&eq, effort, &report->n_far, &report->trial))
        report->outcome = RULE_REFUTED;
}

static bool holds_where_it_was_tried(const struct rule_report *report)
{
    return rule_report_is_proved(report) || report->outcome == RULE_CHECKED || report->outcome == RULE_NOT_PROVED;
}

// A rule of which no instance was found agrees everywhere and says nothing.
static bool was_tried_anywhere(const struct rule_report *report)
{
    return report->first.instances > 0 || report->direct.instances > 0 || report->n_far > 0;
}

static void finish(const struct provers *p, struct rule_report *report)
{
    if (report->outcome == RULE_CHECKED)
        test_more(p, report);
    if (holds_where_it_was_tried(report))
        try_random_instances(p, report);
    if (report->outcome != RULE_REFUTED && !was_tried_anywhere(report))
        report->outcome = RULE_NOT_PROVED;
    report->proved.proof = rule_certificate(report, p->arena);
}

void prove_rule(struct judge *j, struct theory *theory, struct symbolic_prover *symbols, const struct rule *r,
                struct arena *a, struct rule_report *ret_report)
{
    struct provers p = {j, theory, symbols, a};
    judge_rule(&p, r, ret_report);
    finish(&p, ret_report);
}

// Conditions have the names of the other rule's variables.
bool prove_rule_reversed(const struct rule_report *reversed, const struct rule *r, struct rule_report *ret_report)
{
    bool holds = reversed->outcome == RULE_PROVED || (reversed->outcome == RULE_CHECKED && !reversed->added.count);
    if (!holds)
        return false;
    *ret_report = *reversed;
    ret_report->rule = r;
    ret_report->reversed = reversed;
    ret_report->proved = *r;
    ret_report->proved.proof = reversed->proved.proof;
    ret_report->first.counterexample = ret_report->direct.counterexample = ret_report->trial =
        (struct counterexample){0};
    ret_report->entailment.seconds = ret_report->seconds = 0;
    return true;
}
