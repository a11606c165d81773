#include "verifier/prove.h"

#include <string.h>

const char *rule_outcome_name(enum rule_outcome outcome)
{
    static const char *const names[RULE_OUTCOMES] = {
        [RULE_PROVED] = "proved",
        [RULE_PROVED_UNDER_CONDITIONS] = "proved under conditions",
        [RULE_REFUTED] = "refuted",
        [RULE_NOT_PROVED] = "not proved",
        [RULE_BREAKS_A_PROPERTY] = "false, but it follows from the properties",
    };
    return names[outcome];
}

void rule_report_free(struct rule_report *report)
{
    judgement_free(&report->first);
    judgement_free(&report->direct);
}

static void add_conditions(struct rule *r, const struct found_condition *added, struct arena *a)
{
    uint32_t n = r->n_conditions + added->count;
    struct condition *conditions = arena_array(a, struct condition, n + 1);
    if (r->n_conditions)
        memcpy(conditions, r->conditions, r->n_conditions * sizeof *conditions);
    memcpy(conditions + r->n_conditions, added->conditions, added->count * sizeof *conditions);
    r->conditions = conditions;
    r->n_conditions = n;
}

static bool is_positive(const struct judgement *result)
{
    return result->verdict == VERDICT_PROVED || result->verdict == VERDICT_TESTED;
}

static int largest_bound(const struct judgement *result)
{
    int largest = 1;
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= MAX_RANK; r++)
            for (int axis = 0; axis < r; axis++)
                largest = result->bounds.size[v][r][axis] > largest ? result->bounds.size[v][r][axis] : largest;
    return largest;
}

static void print_uses(struct text *out, const struct entailment *e)
{
    for (uint32_t i = 0; i < e->n_uses; i++)
        text_printf(out, " %s", e->uses[i]);
}

static void print_entailment(struct text *out, const struct entailment *e)
{
    static const char *const statuses[] = {
        [ENTAILMENT_PROVED] = "proved", [ENTAILMENT_UNKNOWN] = "unknown", [ENTAILMENT_UNSTATED] = "unstated"};
    text_printf(out, " (z3 %s", statuses[e->status]);
    if (e->status == ENTAILMENT_PROVED) {
        text_add(out, " (uses");
        print_uses(out, e);
        text_add(out, ")");
    }
    text_add(out, ")");
}

static const char *certificate(const struct rule_report *report, struct arena *a)
{
    const struct judgement *direct = report->has_direct ? &report->direct : &report->first;
    struct text out = {0};
    text_add(&out, "(proof");
    if (report->has_entailment)
        print_entailment(&out, &report->entailment);
    text_printf(&out, " (definitions %s (ranks 0 %d) (sizes 1 %d) (instances %llu)%s))", verdict_name(direct->verdict),
                direct->max_rank, largest_bound(direct), (unsigned long long)direct->instances,
                direct->needs_reals ? " (over reals)" : "");
    const char *text = arena_string(a, out.chars);
    text_free(&out);
    return text;
}

static void try_entailment(struct judge *j, struct theory *theory, struct rule_report *report)
{
    struct equation eq = equation_of_rule(report->rule);
    // An entailment speaks of inputs without split trees only.
    bool is_refuted = report->first.verdict == VERDICT_REFUTED && !report->first.has_cut_inputs;
    if (!theory)
        return;
    report->entailment = theory_prove(theory, j, &eq, NULL);
    report->has_entailment = true;
    if (is_refuted && report->entailment.status == ENTAILMENT_PROVED) {
        report->outcome = RULE_BREAKS_A_PROPERTY;
        return;
    }
    eq = equation_of_rule(&report->proved);
    if (report->has_direct)
        report->entailment = theory_prove(theory, j, &eq, NULL);
}

static void try_under_conditions(struct judge *j, struct arena *a, struct rule_report *report)
{
    struct equation eq = equation_of_rule(&report->proved);
    report->added = find_weakest_condition(j, &eq, a);
    report->outcome = RULE_REFUTED;
    if (report->added.count == 0)
        return;
    add_conditions(&report->proved, &report->added, a);
    eq = equation_of_rule(&report->proved);
    judge_equation(j, &eq, &report->direct);
    report->has_direct = true;
    if (is_positive(&report->direct))
        report->outcome = RULE_PROVED_UNDER_CONDITIONS;
}

void prove_rule(struct judge *j, struct theory *theory, const struct rule *r, struct arena *a,
                struct rule_report *ret_report)
{
    *ret_report = (struct rule_report){.rule = r, .proved = *r, .outcome = RULE_NOT_PROVED};
    struct equation eq = equation_of_rule(r);
    judge_equation(j, &eq, &ret_report->first);
    if (is_positive(&ret_report->first))
        ret_report->outcome = RULE_PROVED;
    else if (ret_report->first.verdict == VERDICT_REFUTED || ret_report->first.verdict == VERDICT_UNDECIDED)
        try_under_conditions(j, a, ret_report);
    if (ret_report->outcome == RULE_REFUTED && ret_report->first.verdict == VERDICT_UNDECIDED)
        ret_report->outcome = RULE_NOT_PROVED;
    try_entailment(j, theory, ret_report);
    ret_report->proved.proof = certificate(ret_report, a);
}

void rule_report_print_reason(struct text *out, const struct rule_report *report)
{
    if (report->first.verdict == VERDICT_VACUOUS)
        text_add(out, "source and target are never well-typed together at the sizes tried");
    else if (report->first.counterexample.count)
        text_add(out, report->first.counterexample.chars);
    else
        text_add(out, rule_outcome_name(report->outcome));
    if (report->outcome == RULE_BREAKS_A_PROPERTY) {
        text_add(out, "\n    one of these properties is false:");
        print_uses(out, &report->entailment);
    }
}
