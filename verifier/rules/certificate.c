// The certificate of a rule: the argument that it rests on, and what was tested.
#include "verifier/rules/certificate.h"

static int largest_bound(const struct judgement *result)
{
    uint32_t sizes = 2;
    for (int v = 0; v < MAX_RULE_VARIABLES; v++)
        for (int r = 0; r <= MAX_RANK; r++)
            for (int axis = 0; axis < r; axis++)
                sizes |= result->bounds.sizes[v][r][axis];
    return 31 - __builtin_clz(sizes);
}

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

static void print_tests(struct text *out, const struct rule_report *report)
{
    const struct judgement *direct = report->has_direct ? &report->direct : &report->first;
    text_printf(out, " (tested (ranks 0 %d) (sizes 1 %d) (instances %llu)", direct->max_rank, largest_bound(direct),
                (unsigned long long)direct->instances);
    if (direct->in_numbers)
        text_printf(out, " (in numbers %llu)", (unsigned long long)direct->in_numbers);
    text_printf(out, " (random %u)%s)", report->n_far, direct->needs_reals ? " (over reals)" : "");
}

const char *rule_certificate(const struct rule_report *report, struct arena *a)
{
    if (report->of_subterms)
        return arena_printf(a, "(proof (subterms %s))", report->of_subterms);
    struct text out = {0};
    text_add(&out, rule_report_is_proved(report) ? "(proof" : "(checked");
    if (rule_report_is_proved(report))
        print_argument(&out, report);
    print_tests(&out, report);
    text_add(&out, ")");
    const char *text = arena_string(a, out.chars);
    text_free(&out);
    return text;
}
