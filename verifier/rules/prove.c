// What is tried for a rule, in order.
#include "verifier/rules/prove.h"

#include "verifier/bounds/forms/theorems.h"
#include "verifier/direct_proof/trial.h"
#include "verifier/laws/laws.h"
#include "verifier/rules/abduction.h"
#include "verifier/rules/certificate.h"
#include "verifier/rules/subterms.h"
#include <string.h>

// Types tried for one rule. Those of every node are written down, so that a large rule needs more of them before its
// first instance is found.
uint64_t rule_step_limit(const struct rule *r)
{
    const uint64_t usual = 3000000, per_node = 400000;
    uint64_t n_nodes = r->pattern.nodes.count;
    return n_nodes * per_node > usual ? n_nodes * per_node : usual;
}

const char *rule_outcome_name(enum rule_outcome outcome)
{
    static const char *const names[RULE_OUTCOMES] = {
        [RULE_PROVED] = "proved",         [RULE_PROVED_UNDER_CONDITIONS] = "proved under conditions",
        [RULE_CHECKED] = "checked",       [RULE_REFUTED] = "refuted",
        [RULE_NOT_PROVED] = "not proved", [RULE_BREAKS_A_PROPERTY] = "false, but it follows from the properties",
    };
    return names[outcome];
}

void rule_report_free(struct rule_report *report)
{
    judgement_free(&report->first);
    judgement_free(&report->direct);
    text_free(&report->trial);
}

static bool is_positive(const struct judgement *result)
{
    return result->verdict == VERDICT_PROVED || result->verdict == VERDICT_TESTED;
}

// Facts hold at the instances that were heard, which is no argument.
bool rule_report_is_derived(const struct rule_report *report)
{
    return report->has_entailment && report->entailment.status == ENTAILMENT_PROVED && report->entailment.n_facts == 0;
}

bool rule_report_is_proved(const struct rule_report *report)
{
    return report->outcome == RULE_PROVED || report->outcome == RULE_PROVED_UNDER_CONDITIONS;
}

// Tests that were cut short do where the properties prove the rule. The argument is asked for when all are made.
static enum rule_outcome outcome_of_positive(const struct judgement *result, const struct rule_report *report,
                                             enum rule_outcome proved)
{
    return result->verdict == VERDICT_PROVED || rule_report_is_derived(report) ? proved : RULE_CHECKED;
}

static void judge_and_listen(struct judge *j, struct theory *theory, const struct equation *eq,
                             struct judgement *ret_result)
{
    if (theory && j->explored.is_known)
        theory_listen_again(theory, j);
    else if (theory)
        theory_listen(theory, j, eq);
    judge_equation(j, eq, ret_result);
}

// Would all of the tests say nothing else? Once the properties prove a rule tests that are no proof do; and when no
// limit was met there are no more tests.
static bool is_settled(const struct judgement *of_part, const struct entailment *entailment)
{
    if (of_part->verdict == VERDICT_TESTED)
        return entailment->status == ENTAILMENT_PROVED;
    return of_part->verdict == VERDICT_PROVED || of_part->verdict == VERDICT_REFUTED || !of_part->met_limits;
}

#define PART_OF_TESTS 8
// A part of the tests tells as well what is false. False: neither proved nor refuted yet.
static bool judge_in_part(struct judge *j, struct theory *theory, const struct equation *eq,
                          struct judgement *ret_result, struct entailment *ret_entailment)
{
    struct judge whole = *j;
    j->step_limit /= PART_OF_TESTS;
    j->instance_limit /= PART_OF_TESTS;
    j->work_limit /= PART_OF_TESTS;
    j->patience = 1;
    judge_and_listen(j, theory, eq, ret_result);
    j->step_limit = whole.step_limit;
    j->instance_limit = whole.instance_limit;
    j->work_limit = whole.work_limit;
    j->patience = whole.patience;
    *ret_entailment = theory_prove_heard(theory, j, ret_result);
    return is_settled(ret_result, ret_entailment);
}

// Kinds of instances that were not found at the first attempt are not looked for again.
static bool lacks_kinds(const struct judgement *result, const struct entailment *of_part)
{
    return result->verdict == VERDICT_TESTED && of_part->has_unknown_kinds && result->was_cut_short &&
           !result->saw_all_kinds;
}

// Judges an equation and, from the instances that were compared, derives it from the properties.
static void judge_and_derive(struct judge *j, struct theory *theory, const struct rule *r, struct judgement *ret_result,
                             struct rule_report *report)
{
    struct equation eq = equation_of_rule(r);
    report->has_entailment = theory != NULL;
    judge_begin(j, true);
    if (theory && judge_in_part(j, theory, &eq, ret_result, &report->entailment))
        return;
    if (theory)
        judgement_free(ret_result);
    judge_and_listen(j, theory, &eq, ret_result);
    if (theory && lacks_kinds(ret_result, &report->entailment))
        theory_stop_listening(j);
    else if (theory)
        report->entailment = theory_prove_heard(theory, j, ret_result);
}

static void append_conditions(struct found_condition *all, const struct found_condition *more)
{
    for (uint32_t i = 0; i < more->count && all->count < MAX_ADDED_CONDITIONS; i++)
        all->conditions[all->count++] = more->conditions[i];
}

// Judges the rule with the weakest condition that excludes the failing instances. False: there is none.
static bool try_weakest_condition(struct judge *j, struct theory *theory, struct arena *a, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    struct found_condition found = find_weakest_condition(j, &eq, a);
    if (found.count == 0 || found.count + report->added.count > MAX_ADDED_CONDITIONS)
        return false;
    append_conditions(&report->added, &found);
    rule_add_conditions(&report->proved, &found, a);
    if (report->has_direct)
        judgement_free(&report->direct);
    judge_and_derive(j, theory, &report->proved, &report->direct, report);
    report->has_direct = true;
    return true;
}

// Failing instances that the first condition does not exclude may need a second one.
#define MOST_ATTEMPTS 2
static void try_under_conditions(struct judge *j, struct theory *theory, struct arena *a, struct rule_report *report)
{
    bool goes_on = j->adds_conditions;
    report->outcome = RULE_REFUTED;
    for (int i = 0; i < MOST_ATTEMPTS && goes_on; i++) {
        goes_on = try_weakest_condition(j, theory, a, report) && report->direct.verdict == VERDICT_REFUTED;
        if (report->has_direct && is_positive(&report->direct))
            report->outcome = outcome_of_positive(&report->direct, report, RULE_PROVED_UNDER_CONDITIONS);
    }
    if (report->outcome == RULE_REFUTED && report->first.verdict == VERDICT_UNDECIDED)
        report->outcome = RULE_NOT_PROVED;
}

// Judges what could only be tested anew with more conditions, which stay when it is proved with them.
static void try_with_more(struct judge *j, struct theory *theory, struct arena *a, const struct found_condition *more,
                          struct rule_report *report)
{
    struct rule_report before = *report;
    uint64_t usual = j->search_times;
    if (more->count == 0 || more->count + report->added.count > MAX_ADDED_CONDITIONS)
        return;
    rule_add_conditions(&report->proved, more, a);
    append_conditions(&report->added, more);
    j->search_times = more->takes_longer ? LONGER_SEARCH : usual;
    judge_and_derive(j, theory, &report->proved, &report->direct, report);
    j->search_times = usual;
    if (is_positive(&report->direct))
        report->outcome = outcome_of_positive(&report->direct, report, RULE_PROVED_UNDER_CONDITIONS);
    if (report->outcome == RULE_PROVED_UNDER_CONDITIONS) {
        report->has_direct = true;
        judgement_free(&before.direct);
        return;
    }
    judgement_free(&report->direct);
    *report = before;
}

// A rule that names the axes of images is often only meant for images; what the tests did not get to may need
// conditions that they did not ask for.
static void try_what_was_tested(struct judge *j, struct theory *theory, struct arena *a, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    struct found_condition on_ranks = find_condition_on_ranks(&eq, a);
    try_with_more(j, theory, a, &on_ranks, report);
    if (report->outcome != RULE_CHECKED || !theory)
        return;
    bool is_tested = report->first.verdict == VERDICT_TESTED;
    struct found_condition sufficient = find_sufficient_condition(j, theory, &report->proved, is_tested, a);
    try_with_more(j, theory, a, &sufficient, report);
}

// Conditions that exclude the failing instances may say little else (one spatial axis, as the instances that were
// looked at have). So what rules usually lack is asked of the rule as it stands.
static void try_sufficient_conditions(struct judge *j, struct theory *theory, struct arena *a,
                                      struct rule_report *report)
{
    struct rule_report before = *report;
    if (report->first.verdict != VERDICT_REFUTED || !theory)
        return;
    struct found_condition sufficient = find_sufficient_condition(j, theory, report->rule, false, a);
    report->proved = *report->rule;
    report->added.count = 0;
    try_with_more(j, theory, a, &sufficient, report);
    if (report->outcome != RULE_PROVED_UNDER_CONDITIONS)
        *report = before;
}

// The theory's, which go with the next rule that is judged, be it of subterms.
static void keep_facts(struct arena *a, struct rule_report *report)
{
    struct entailment *e = &report->entailment;
    for (uint32_t i = 0; i < e->n_facts; i++)
        e->facts[i] = arena_string(a, e->facts[i]);
}

// Judges the rule between the subterms in which the sides differ, which is smaller.
static void try_subterms(struct judge *j, struct theory *theory, struct symbolic_prover *symbols, struct arena *a,
                         struct rule_report *report)
{
    struct rule proved = *report->rule;
    struct rule_report inside;
    struct found_condition added;
    struct rule *subterms = rule_of_subterms(&proved, a);
    if (!subterms)
        return;
    prove_rule(j, theory, symbols, subterms, a, &inside);
    bool is_proved = rule_report_is_proved(&inside);
    bool is_contradiction = inside.outcome == RULE_PROVED && report->first.verdict == VERDICT_REFUTED;
    if (is_proved && !is_contradiction && conditions_of_whole(subterms, &inside.added, &proved, a, &added)) {
        report->outcome = inside.outcome;
        report->of_subterms = inside.proved.proof;
        report->added = added;
        report->proved = proved;
        rule_add_conditions(&report->proved, &added, a);
    }
    rule_report_free(&inside);
    rule_free(subterms);
}

// The counterexample is one of the instances that were heard, and an entailment speaks of inputs without split trees
// only.
static bool follows_and_is_false(const struct rule_report *report)
{
    return report->first.verdict == VERDICT_REFUTED && !report->first.has_cut_inputs && report->has_entailment &&
           report->entailment.status == ENTAILMENT_PROVED;
}

static enum rule_outcome outcome_as_it_stands(const struct rule_report *report)
{
    if (is_positive(&report->first))
        return outcome_of_positive(&report->first, report, RULE_PROVED);
    if (follows_and_is_false(report))
        return RULE_BREAKS_A_PROPERTY;
    bool is_wanting = report->first.verdict == VERDICT_REFUTED || report->first.verdict == VERDICT_UNDECIDED;
    return is_wanting ? RULE_REFUTED : RULE_NOT_PROVED;
}

// What is tried in turn for a rule that is not proved as it stands, by what became of it so far.
#define ON(outcome) (1u << (outcome))
static const struct attempt {
    unsigned outcomes;
    bool adds_conditions;   // is not made where conditions are not looked for
    void (*make)(struct judge *j, struct theory *theory, struct arena *a, struct rule_report *report);
} attempts[] = {
    {ON(RULE_REFUTED), true, try_sufficient_conditions},
    {ON(RULE_REFUTED), false, try_under_conditions},
    {ON(RULE_CHECKED), true, try_what_was_tested},
};

// The argument by which a rule that agrees at all instances does so at all others.
static void find_argument(struct symbolic_prover *symbols, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    struct symbolic_proof proof = {0};
    report->law = theorems_cover_text(&eq, THEOREMS_OF_LAWS) ? law_of_equation(&eq) : NULL;
    if (rule_report_is_derived(report) || report->law || !symbols)
        return;
    symbolic_prove(symbols, &eq, &proof);
    report->families = proof.is_proved ? proof.families : 0;
    text_free(&proof.why);
}

static bool has_argument(const struct rule_report *report)
{
    return rule_report_is_derived(report) || report->law || report->families;
}

// No instance differs: an argument makes a proof of that, be it of the subterms.
static void rest_on_argument(struct judge *j, struct theory *theory, struct symbolic_prover *symbols, struct arena *a,
                             struct rule_report *report)
{
    bool is_known_to_hold = rule_report_is_proved(report);
    if (report->of_subterms || (!is_known_to_hold && report->outcome != RULE_CHECKED))
        return;
    find_argument(symbols, report);
    if (has_argument(report)) {
        report->outcome = report->added.count ? RULE_PROVED_UNDER_CONDITIONS : RULE_PROVED;
        return;
    }
    report->outcome = RULE_CHECKED;
    if (is_known_to_hold && report->added.count == 0)
        try_subterms(j, theory, symbols, a, report);
}

static void prove_within_limits(struct judge *j, struct theory *theory, struct symbolic_prover *symbols,
                                const struct rule *r, struct arena *a, struct rule_report *ret_report)
{
    *ret_report = (struct rule_report){.rule = r, .proved = *r};
    if (theory)
        theory_forget(theory);
    judge_and_derive(j, theory, r, &ret_report->first, ret_report);
    ret_report->outcome = outcome_as_it_stands(ret_report);
    for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++)
        if ((attempts[i].outcomes & ON(ret_report->outcome)) && (j->adds_conditions || !attempts[i].adds_conditions))
            attempts[i].make(j, theory, a, ret_report);
    keep_facts(a, ret_report);
    if (ret_report->outcome == RULE_CHECKED || ret_report->outcome == RULE_NOT_PROVED)
        try_subterms(j, theory, symbols, a, ret_report);
    if (ret_report->outcome == RULE_CHECKED && ret_report->first.verdict == VERDICT_REFUTED)
        ret_report->outcome = RULE_REFUTED;   // conditions were not found under which it certainly holds
    rest_on_argument(j, theory, symbols, a, ret_report);
}

// Random instances at other attributes and larger sizes than those that were tested, and far ones.
static void try_random_instances(struct judge *j, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    if (!trials_run_usual(&j->typing, &eq, rule_report_is_proved(report), &report->n_far, &report->trial))
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

// Few rules are neither proved nor refuted, and what the search for instances did not get to may be all that they lack.
void prove_rule(struct judge *j, struct theory *theory, struct symbolic_prover *symbols, const struct rule *r,
                struct arena *a, struct rule_report *ret_report)
{
    prove_within_limits(j, theory, symbols, r, a, ret_report);
    if (ret_report->outcome == RULE_CHECKED && ret_report->first.met_limits) {
        rule_report_free(ret_report);
        j->search_times = LONGER_SEARCH;
        prove_within_limits(j, theory, symbols, r, a, ret_report);
        j->search_times = 1;
    }
    if (holds_where_it_was_tried(ret_report))
        try_random_instances(j, ret_report);
    if (ret_report->outcome == RULE_CHECKED && !was_tried_anywhere(ret_report))
        ret_report->outcome = RULE_NOT_PROVED;
    judge_begin(j, false);
    ret_report->proved.proof = rule_certificate(ret_report, a);
}

// Conditions, typing facts and subterms have the names of the other rule's variables.
bool prove_rule_reversed(const struct rule_report *reversed, const struct rule *r, struct rule_report *ret_report)
{
    bool holds = reversed->outcome == RULE_PROVED || (reversed->outcome == RULE_CHECKED && !reversed->added.count);
    if (!holds || reversed->of_subterms || reversed->entailment.n_facts)
        return false;
    *ret_report = *reversed;
    ret_report->rule = r;
    ret_report->reversed = reversed;
    ret_report->proved = *r;
    ret_report->proved.proof = reversed->proved.proof;
    ret_report->first.counterexample = ret_report->direct.counterexample = ret_report->trial = (struct text){0};
    ret_report->first.form = ret_report->direct.form = (struct text){0};
    ret_report->entailment.seconds = ret_report->seconds = 0;
    return true;
}
