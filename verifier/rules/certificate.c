// The certificate of a rule that is proved: what was tested, by which law, and from which properties it follows.
#include "verifier/rules/certificate.h"

#include "verifier/laws/laws.h"

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

static void print_entailment(struct text *out, const struct entailment *e)
{
    static const char *const statuses[] = {
        [ENTAILMENT_PROVED] = "proved", [ENTAILMENT_UNKNOWN] = "unknown", [ENTAILMENT_UNSTATED] = "unstated"};
    text_printf(out, " (z3 %s", statuses[e->status]);
    if (e->status == ENTAILMENT_PROVED) {
        text_add(out, " (uses");
        print_names(out, e->uses, e->n_uses);
        text_add(out, ")");
    }
    if (e->status == ENTAILMENT_PROVED && e->n_facts) {
        text_add(out, " (typing");
        print_names(out, e->facts, e->n_facts);
        text_add(out, ")");
    }
    text_add(out, ")");
}

const char *rule_certificate(const struct rule_report *report, struct arena *a)
{
    if (report->of_subterms)
        return arena_printf(a, "(proof (subterms %s))", report->of_subterms);
    const struct judgement *direct = report->has_direct ? &report->direct : &report->first;
    struct text out = {0};
    text_add(&out, "(proof");
    if (report->has_entailment)
        print_entailment(&out, &report->entailment);
    text_printf(&out, " (definitions %s (ranks 0 %d) (sizes 1 %d) (instances %llu)%s", verdict_name(direct->verdict),
                direct->max_rank, largest_bound(direct), (unsigned long long)direct->instances,
                direct->needs_reals ? " (over reals)" : "");
    if (direct->in_numbers)
        text_printf(&out, " (in numbers %llu)", (unsigned long long)direct->in_numbers);
    struct equation eq = equation_of_rule(&report->proved);
    const char *law = direct->verdict == VERDICT_PROVED ? law_of_equation(&eq) : NULL;
    text_add(&out, law ? " (law " : "");
    text_add(&out, law ? law : "");
    text_add(&out, law ? ")))" : "))");
    const char *text = arena_string(a, out.chars);
    text_free(&out);
    return text;
}
