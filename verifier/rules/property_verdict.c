// The instances first: no argument is asked for what they refute.
#include "verifier/rules/property_verdict.h"

#include "verifier/laws/laws.h"
#include "verifier/symbolic_proof/symbolic.h"
#include "verifier/testing/random_trials.h"
#include <inttypes.h>

static const struct {
    const char *name, *meaning;
} standings[PROPERTY_STANDINGS] = {
    [PROPERTY_PROVED] = {"proved", "It holds for all sizes, and proofs of rules may rest on it."},
    [PROPERTY_AXIOM] = {"axiom", "No instance differs, and proofs of rules rest on it by the sentence in its text "
                                 "alone."},
    [PROPERTY_CHECKED] = {"only checked", "No instance differs, which is no proof: no rule rests on it until it is "
                                          "proved, or its text says why it is true."},
    [PROPERTY_REFUTED] = {"refuted", "It is false at the instance that is shown: mend it, or add a condition that "
                                     "excludes this."},
    [PROPERTY_NOT_COVERED] = {"not covered", "Nothing was tried, as no instance was found: look for a mistake in its "
                                             "attributes or conditions, or try larger sizes."},
};

const char *property_standing_name(enum property_standing standing)
{
    return standings[standing].name;
}

const char *property_standing_meaning(enum property_standing standing)
{
    return standings[standing].meaning;
}

const struct counterexample *property_verdict_counterexample(const struct property_verdict *v)
{
    return v->trial.text.count ? &v->trial : &v->tested.counterexample;
}

void property_verdict_free(struct property_verdict *v)
{
    judgement_free(&v->tested);
    counterexample_free(&v->trial);
    text_free(&v->unknown);
}

bool property_verdict_is_good(const struct property_verdict *v)
{
    return v->standing == PROPERTY_PROVED || v->standing == PROPERTY_AXIOM;
}

static enum property_standing standing_of_tests(const struct judgement *tested)
{
    switch (tested->verdict) {
    case VERDICT_REFUTED:
        return PROPERTY_REFUTED;
    case VERDICT_NOT_COVERED:
        return PROPERTY_NOT_COVERED;
    default:
        return PROPERTY_CHECKED;
    }
}

// A law is one of values: that both sides are well-typed together is shown with symbols.
static bool is_proved(const struct equation *eq, struct symbolic_prover *symbols, struct property_verdict *v)
{
    struct symbolic_proof proof = {0};
    const char *law = law_of_equation(eq);
    if (law)
        symbolic_prove_typing(symbols, eq, &proof);
    else
        symbolic_prove(symbols, eq, &proof);
    v->law = proof.is_proved ? law : NULL;
    v->families = proof.is_proved && !law ? proof.families : 0;
    v->unknown = proof.why;
    return proof.is_proved;
}

struct property_verdict property_verdict_find(const struct property *p, struct judge *judge,
                                              struct symbolic_prover *symbols)
{
    struct property_verdict v = {0};
    struct equation eq = equation_of_property(p);
    judge_equation(judge, &eq, &v.tested);
    v.standing = standing_of_tests(&v.tested);
    if (v.standing == PROPERTY_CHECKED && symbols && !trials_run_usual(&eq, TRIALS_OF_PROPERTY, &v.n_far, &v.trial))
        v.standing = PROPERTY_REFUTED;
    if (v.standing == PROPERTY_CHECKED && symbols)
        v.standing = is_proved(&eq, symbols, &v) ? PROPERTY_PROVED : p->axiom ? PROPERTY_AXIOM : PROPERTY_CHECKED;
    return v;
}

void property_verdict_print(struct text *out, const struct property_verdict *v)
{
    text_add(out, property_standing_name(v->standing));
    if (v->law)
        text_printf(out, " (law %s)", v->law);
    if (v->families)
        text_printf(out, " (symbols, %" PRIu32 " famil%s)", v->families, v->families == 1 ? "y" : "ies");
    if (v->unknown.count)
        text_printf(out, " (symbols: %s)", v->unknown.chars);
    text_printf(out, ", %" PRIu64 " instance%s, %" PRIu32 " random", v->tested.instances,
                plural_ending(v->tested.instances), v->n_far);
}
