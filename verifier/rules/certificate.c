// The certificate of a rule: the argument that it rests on, and what was tested.
#include "verifier/rules/certificate.h"

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
    text_printf(out, " (tested (ranks 0 %d) (sizes 1 %d) (instances %llu)", direct->largest_rank, direct->largest_size,
                (unsigned long long)direct->instances);
    text_printf(out, " (random %u))", report->n_far);
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
