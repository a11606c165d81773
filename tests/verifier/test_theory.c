// Entailment: what follows from a set of properties, and what a false, redundant or contradictory one does to it.
#include "substitutions/pattern.h"
#include "tests/support/cases.h"
#include "tests/support/parse_rules.h"
#include "verifier/entailment/derivation.h"
#include "verifier/rules/abduction.h"
#include "verifier/rules/prove.h"
#include "verifier/text/numbers.h"

struct fixture {
    struct arena arena;
    struct judge judge;
    struct rule_set rules;
    struct property_set properties;
    struct axioms axioms;
    struct theory *theory;
    struct rule_report report;
    bool has_report, has_symbols;   // symbols: these prove, too
    struct symbolic_prover symbols;
};

static void set_up(struct fixture *f, const char *properties)
{
    f->has_report = f->has_symbols = false;
    symbolic_prover_init(&f->symbols);
    arena_init(&f->arena);
    judge_init(&f->judge);
    rule_set_init(&f->rules, &f->arena);
    property_set_init(&f->properties, &f->arena);
    OK(property_set_parse(&f->properties, "test", properties, strlen(properties), &error));
    axioms_make(&f->axioms, &f->properties);
    f->theory = theory_make(&f->axioms, 200000);
}

static struct equation read_rule(struct fixture *f, const char *text)
{
    parse_rules(&f->rules, &f->arena, text);
    return equation_of_rule(vec_last(&f->rules.rules));
}

static void drop_report(struct fixture *f)
{
    if (f->has_report)
        rule_report_free(&f->report);
    f->has_report = false;
}

static void prove(struct fixture *f, struct theory *theory, const char *text)
{
    drop_report(f);
    parse_rules(&f->rules, &f->arena, text);
    prove_rule(&f->judge, theory, f->has_symbols ? &f->symbols : NULL, vec_last(&f->rules.rules), &f->arena,
               &f->report);
    f->has_report = true;
}

static void tear_down(struct fixture *f)
{
    drop_report(f);
    theory_free(f->theory);
    axioms_free(&f->axioms);
    property_set_free(&f->properties);
    rule_set_free(&f->rules);
    judge_free(&f->judge);
    symbolic_prover_free(&f->symbols);
    arena_free(&f->arena);
}

static enum entailment_status prove_without(struct fixture *f, const struct equation *eq, const char *name)
{
    struct names without = {&name, 1};
    return theory_prove(f->theory, eq, &without).status;
}

#define COMMUTES "(property commutes (equal (ewadd ?x ?y) (ewadd ?y ?x)))"
#define ASSOCIATES "(property associates (equal (ewadd ?x (ewadd ?y ?z)) (ewadd (ewadd ?x ?y) ?z)))"

static const struct {
    const char *name;
    int value;   // of its own enum
} names[] = {
    {"proved", ENTAILMENT_PROVED}, {"unknown", ENTAILMENT_UNKNOWN}, {"unstated", ENTAILMENT_UNSTATED},
    {"is-proved", RULE_PROVED},    {"is-checked", RULE_CHECKED},    {"is-refuted", RULE_REFUTED},
};

static int value_of_name(const char *name)
{
    size_t i = 0;
    while (strcmp(names[i].name, name) != 0)
        i++;
    return names[i].value;
}

TEST_OF_CASES(finds_what_follows, c, "verifier/theory.cases")
{
    TEXT(printed);
    ARENA(a);
    const char *expected = c->items[1].text, *rule = text_of_items(&a, c, 3);
    FIXTURE(&f, text_of_items(&a, &c->items[2], 0));
    struct equation eq = read_rule(&f, rule);
    if (sexp_is_call(c, "suffices")) {
        struct found_condition found = find_sufficient_condition(f.theory, NULL, vec_last(&f.rules.rules), &f.arena);
        text_add(&printed, "");
        for (uint32_t i = 0; i < found.count; i++)
            pattern_print_condition(&printed, eq.pattern, &found.conditions[i]);
        assert_string_equal(printed.chars, expected);
    } else if (sexp_is_call(c, "outcome")) {
        prove(&f, f.theory, rule);
        assert_int_equal(f.report.outcome, value_of_name(expected));
    } else {
        assert_true(sexp_is_call(c, "entailed") || sexp_is_call(c, "partial"));
        assert_int_equal(text_is_defined_everywhere(&eq), !sexp_is_call(c, "partial"));
        assert_int_equal(theory_prove(f.theory, &eq, NULL).status, value_of_name(expected));
    }
}

TEST(proves_and_explains)
{
    FIXTURE(&f, COMMUTES ASSOCIATES);
    struct equation eq = read_rule(&f, "(rule r (source (ewadd (ewadd ?x ?y) ?z)) (target (ewadd (ewadd ?z ?x) ?y)))");
    struct entailment e = theory_prove(f.theory, &eq, NULL);
    assert_int_equal(e.status, ENTAILMENT_PROVED);
    assert_int_equal(e.n_uses, 2);
    struct derivation d FREED_BY(property_derivation_free);
    assert_true(property_derivation_find(&d, &f.axioms, &eq, 0, &e, 1000));
    assert_int_equal(d.steps.count, 3);
    assert_null(d.steps.items[0].property);
    assert_int_equal(prove_without(&f, &eq, "associates"), ENTAILMENT_UNKNOWN);
}

TEST(names_a_broken_property)
{
    TEXT(reason);
    FIXTURE(&f, "(property wrong (equal (matmul ?x ?y) (matmul ?y ?x)))" ASSOCIATES);
    prove(&f, f.theory, "(rule r (source (relu (matmul ?x ?y))) (target (relu (matmul ?y ?x))))");
    assert_int_equal(f.report.outcome, RULE_BREAKS_A_PROPERTY);
    rule_report_print_reason(&reason, &f.report);
    assert_non_null(strstr(reason.chars, "one of these properties is false: wrong"));
}

// On small images a kernel of 3x3 has room only without dilation: that must not become a fact of typing.
TEST(assumes_nothing_of_small_sizes)
{
    FIXTURE(&f, COMMUTES);
    static const char text[] = "(rule r (source (conv :stride 1 1 :pad $p :dilation $d ?x (enlarge :kernel 3 3 ?k)))"
                               " (target (conv :stride 1 1 :pad $p :dilation 1 1 ?x (enlarge :kernel 3 3 ?k))))";
    struct equation eq = read_rule(&f, text);
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_UNKNOWN);
    prove(&f, f.theory, text);
    assert_int_equal(f.report.outcome, RULE_PROVED_UNDER_CONDITIONS);
    assert_non_null(strstr(f.report.proved.proof, "(proof (properties)"));
}

// Axes 2 and 3 of a kernel are all that it has only at rank 4; at rank 5 there is one more to dilate.
TEST(proves_nothing_of_other_ranks)
{
    FIXTURE(&f, "(property one (equal (conv :dilation $d ?x ?k) (conv ?x ?k))"
                " (where (= (rank ?k) 4) (= (dim ?k 2) 1) (= (dim ?k 3) 1) (defined (conv :dilation $d ?x ?k))))");
    static const char text[] = "(rule r (source (conv :dilation $d ?x ?k)) (target (conv ?x ?k))"
                               " (where (= (dim ?k 2) 1) (= (dim ?k 3) 1)))";
    struct equation eq = read_rule(&f, text);
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_UNKNOWN);
    prove(&f, f.theory, text);
    assert_int_equal(f.report.outcome, RULE_PROVED_UNDER_CONDITIONS);
    assert_int_equal(f.report.added.count, 1);
    assert_int_equal(f.report.added.conditions[0].a->kind, TERM_RANK);
}

TEST(finds_contradictions)
{
    struct fixture f FREED_BY(tear_down);
    struct entailment core;
    set_up(&f, COMMUTES "(property first (equal (ewadd ?x ?y) ?x) (where (defined (ewadd ?x ?y))))");
    assert_true(theory_contradicts(f.theory, "first", &core));
    assert_int_equal(core.n_uses, 2);
    tear_down(&f);
    set_up(&f, COMMUTES ASSOCIATES);
    assert_false(theory_contradicts(f.theory, "commutes", &core));
    assert_false(theory_contradicts(f.theory, "associates", &core));
}

TEST(finds_redundant_properties)
{
    FIXTURE(&f, COMMUTES ASSOCIATES "(property rotates (equal (ewadd (ewadd ?x ?y) ?z) (ewadd (ewadd ?z ?x) ?y)))");
    struct equation eq = equation_of_property(property_find(&f.properties, "rotates"));
    assert_int_equal(prove_without(&f, &eq, "rotates"), ENTAILMENT_PROVED);
    eq = equation_of_property(property_find(&f.properties, "commutes"));
    assert_int_equal(prove_without(&f, &eq, "commutes"), ENTAILMENT_UNKNOWN);
}

TEST(finds_conditions)
{
    TEXT(printed);
    FIXTURE(&f, COMMUTES);
    f.has_symbols = true;
    prove(&f, NULL,
          "(rule r (source (matmul (concat 1 ?y ?x) (concat 0 ?z ?v)))"
          " (target (matmul (concat 1 ?x ?y) (concat 0 ?v ?z))) (where (= (rank ?x) 2)))");
    assert_int_equal(f.report.outcome, RULE_PROVED_UNDER_CONDITIONS);
    assert_int_equal(f.report.added.count, 1);
    pattern_print_condition(&printed, &f.report.proved.pattern, &f.report.added.conditions[0]);
    assert_string_equal(printed.chars, "(= (dim ?y 1) (dim ?z 0))");
}

// A condition that excludes the instances that were looked at may let others fail: a second one is looked for.
TEST(finds_a_second_condition)
{
    FIXTURE(&f, COMMUTES);
    f.judge.step_limit = 3000000;
    f.judge.instance_limit = 20000;
    f.has_symbols = true;
    prove(&f, NULL, "(rule r (source (conv :dilation 3 3 ?x ?k)) (target (conv ?x ?k)))");
    assert_int_equal(f.report.outcome, RULE_PROVED_UNDER_CONDITIONS);
    assert_int_equal(f.report.added.count, 2);
}

// Rules are matched where windows run along three axes at most; properties speak of all axes.
TEST(proves_no_property_false_beyond_three_axes)
{
    FIXTURE(&f,
            "(property p (equal (conv :stride $s :pad $p ?x ?k) (conv :stride $s :pad (+ $p (sum (drop 3 $s))) ?x ?k))"
            " (where (<= 5 (rank ?x)) (defined (conv :stride $s :pad $p ?x ?k))"
            " (defined (conv :stride $s :pad (+ $p (sum (drop 3 $s))) ?x ?k))))");
    struct equation eq = equation_of_property(f.properties.properties.items[0]);
    struct symbolic_proof proof = {0};
    symbolic_prove(&f.symbols, &eq, &proof);
    assert_false(proof.is_proved);
    text_free(&proof.why);
}

// No condition is true of sizes that there are not: it says nothing of tensors of other ranks.
TEST(takes_no_missing_sizes_for_equal)
{
    FIXTURE(&f, "(property p (equal (relu ?x) (neg ?x)) (where (= (dim ?x 5) (dim ?x 5))))");
    struct equation eq = read_rule(&f, "(rule r (source (relu ?x)) (target (neg ?x)))");
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_UNKNOWN);
    eq = read_rule(&f, "(rule s (source (relu ?x)) (target (neg ?x)) (where (= (dim ?x 5) (dim ?x 5))))");
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_PROVED);
}

static enum entailment_status status_of(struct fixture *f, struct theory *theory, const char *text)
{
    prove(f, theory, text);
    return f->report.entailment.status;
}

TEST(uses_most_properties_that_ship)
{
    ARENA(a);
    size_t n_used = 0;
    struct property_set properties FREED_BY(property_set_free);
    property_set_init(&properties, &a);
    OK(property_set_read_folder(&properties, getenv("TASO_PROPERTIES"), &error));
    for (size_t i = 0; i < properties.properties.count; i++) {
        struct equation eq = equation_of_property(properties.properties.items[i]);
        n_used += text_is_defined_everywhere(&eq);
    }
    assert_true(n_used > 0 && 20 * n_used > 19 * properties.properties.count);
}

// Also where the steps end a search: at any number of them.
TEST(says_the_same_whatever_was_asked_before)
{
    static const char far[] = "(rule r (source (ewadd (ewadd (ewadd ?x ?y) (ewadd ?z ?w)) ?v))"
                              " (target (ewadd (ewadd ?v (ewadd ?w ?y)) (ewadd ?x ?z))))";
    static const char other[] = "(rule s (source (ewadd (ewadd ?u ?y) ?z)) (target (ewadd (ewadd ?z ?u) ?y)))";
    int n_proved = 0, n_unknown = 0;
    FIXTURE(&f, COMMUTES ASSOCIATES);
    for (unsigned steps = 1000; steps <= 1000000; steps += steps / 4) {
        struct theory *fresh = theory_make(&f.axioms, steps), *used = theory_make(&f.axioms, steps);
        enum entailment_status status = status_of(&f, fresh, far);
        status_of(&f, used, other);
        assert_int_equal(status_of(&f, used, far), status);
        n_proved += status == ENTAILMENT_PROVED;
        n_unknown += status == ENTAILMENT_UNKNOWN;
        theory_free(fresh);
        theory_free(used);
    }
    assert_true(n_proved > 0);
    assert_true(n_unknown > 0);
}
