// Rules whose sides are alike around the subterms in which they differ.
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"
#include "verifier/rules/prove.h"
#include "verifier/rules/subterms.h"

// In one line; NULL: nothing is taken off.
static void expect_subterms(const char *text, const char *expected)
{
    ARENA(a);
    TEXT(found);
    struct rule *r = parse_rule(&a, text), *subterms = rule_of_subterms(r, &a);
    if (!expected) {
        assert_null(subterms);
    } else {
        struct rule *wanted = parse_rule(&a, expected);
        TEXT(of_wanted);
        assert_non_null(subterms);
        rule_print(&found, subterms);
        rule_print(&of_wanted, wanted);
        assert_string_equal(found.chars, of_wanted.chars);
        rule_free(wanted);
        rule_free(subterms);
    }
    rule_free(r);
}

static void takes_off_what_is_alike(void **state)
{
    expect_subterms("(rule r (source (relu (ewadd ?x ?y))) (target (relu (ewadd ?y ?x))))",
                    "(rule r (source (ewadd ?x ?y)) (target (ewadd ?y ?x)))");
    // Pairs that are met twice are one; the source is an application.
    expect_subterms("(rule r (source (ewadd ?x (ewadd ?x ?z))) (target (ewadd (relu ?x) (ewadd (relu ?x) ?z))))",
                    "(rule r (source (relu ?x) (ewadd ?x ?z)) (target ?x (ewadd (relu ?x) ?z)))");
    // Conditions of other variables stay behind.
    expect_subterms("(rule r (source (ewadd (relu (relu ?x)) ?y)) (target (ewadd (relu ?x) ?y))"
                    " (where (= (rank ?x) 2) (= (dims ?x) (dims ?y)) (weight ?y)))",
                    "(rule r (source (relu (relu ?x))) (target (relu ?x)) (where (= (rank ?x) 2)))");
    expect_subterms("(rule r (source (conv :stride $s (relu (relu ?x)) ?y)) (target (conv :stride $s (relu ?x) ?y))"
                    " (where (= (product $s) 1)))",
                    "(rule r (source (relu (relu ?x))) (target (relu ?x)))");
    // Sizes that typing makes equal are one size.
    expect_subterms("(rule r (source (broadcast :shape (dim ?x 0) (ewadd ?x ?y)))"
                    " (target (broadcast :shape (dim ?y 0) (ewadd ?y ?x))))",
                    "(rule r (source (ewadd ?x ?y)) (target (ewadd ?y ?x)))");
    expect_subterms("(rule r (source (broadcast :shape (dim ?x 1) (ewadd ?z (concat 0 ?x ?y))))"
                    " (target (broadcast :shape (dim ?y 1) (ewadd (concat 0 ?x ?y) ?z))))",
                    "(rule r (source (ewadd ?z (concat 0 ?x ?y))) (target (ewadd (concat 0 ?x ?y) ?z)))");
    expect_subterms("(rule r (source (split0 0 :sizes 1 2 (relu (relu ?x)))) (target (split0 0 :sizes 1 2 (relu ?x))))",
                    "(rule r (source (relu (relu ?x))) (target (relu ?x)))");
}

static void leaves_what_is_no_rule(void **state)
{
    expect_subterms("(rule r (source (ewadd ?x ?y)) (target (ewadd ?y ?x)))", NULL);
    expect_subterms("(rule r (source (ewadd ?x ?y)) (target (ewmul ?x ?y)))", NULL);
    expect_subterms("(rule r (source (conv :pad 1 1 1 1 ?x (relu ?y))) (target (conv ?x ?y)))", NULL);
    // Those along the axis of a concatenation are not, nor those of what says nothing of sizes.
    expect_subterms("(rule r (source (broadcast :shape (dim ?x 0) (ewadd ?z (concat 0 ?x ?y))))"
                    " (target (broadcast :shape (dim ?y 0) (ewadd (concat 0 ?x ?y) ?z))))",
                    NULL);
    expect_subterms("(rule r (source (broadcast :shape (dim ?x 0) (relu (matmul ?x ?y))))"
                    " (target (broadcast :shape (dim ?y 0) (matmul ?x ?y))))",
                    NULL);
    // What is added to integers, or has the type of places, is none of real numbers.
    expect_subterms(
        "(rule r (source (ewadd ?y (relu (relu ?x)))) (target (ewadd ?y (relu ?x))) (where (dtype ?y i64)))", NULL);
    expect_subterms(
        "(rule r (source (gather :axis 0 ?x ?i) (relu (relu ?i))) (target (gather :axis 0 ?x ?i) (relu ?i)))", NULL);
    expect_subterms("(rule r (source (gather :axis 0 (relu (relu ?x)) ?i)) (target (gather :axis 0 (relu ?x) ?i)))",
                    "(rule r (source (relu (relu ?x))) (target (relu ?x)))");
    // One more is asked of ?y than the subterms can say.
    expect_subterms("(rule r (source (ewadd (relu ?x) ?y)) (target (ewadd (broadcast :shape (dims ?y) ?x) ?y)))", NULL);
    // A split looks at how its input came about, which subterms that are equal need not have in common.
    expect_subterms(
        "(rule r (source (relu (split0 0 (relu (concat 0 ?x ?y)))))"
        " (target (relu (split0 0 (concat 0 (relu ?x) (relu ?y))))))",
        "(rule r (source (split0 0 (relu (concat 0 ?x ?y)))) (target (split0 0 (concat 0 (relu ?x) (relu ?y)))))");
    expect_subterms("(rule r (source (split0 0 (relu (concat 0 ?x ?y))))"
                    " (target (split0 0 (concat 0 (relu ?x) (relu ?y)))))",
                    NULL);
}

static enum rule_outcome prove(const char *text, struct text *ret_proved)
{
    ARENA(a);
    struct judge j;
    struct symbolic_prover symbols;
    struct rule_report report;
    judge_init(&j);
    symbolic_prover_init(&symbols);
    j.adds_conditions = false;
    struct rule *r = parse_rule(&a, text);
    prove_rule(&j, NULL, &symbols, r, &a, &report);
    rule_print(ret_proved, &report.proved);
    enum rule_outcome outcome = report.outcome;
    rule_report_free(&report);
    rule_free(r);
    symbolic_prover_free(&symbols);
    judge_free(&j);
    return outcome;
}

static enum rule_outcome prove_as_it_is(const char *source, const char *target, struct text *ret_proved)
{
    TEXT(rule);
    text_printf(&rule, "(rule r (source %s) (target %s))", source, target);
    enum rule_outcome outcome = prove(rule.chars, ret_proved);
    return outcome;
}

// The difference may take away what the logarithm leaves without a value, of which no proof of the whole speaks.
static void proves_by_subterms(void **state)
{
    TEXT(text);
    assert_int_equal(
        prove_as_it_is("(sub (log ?z) (transpose :perm 1 0 (transpose :perm 1 0 ?x)))", "(sub (log ?z) ?x)", &text),
        RULE_PROVED);
    assert_non_null(strstr(text.chars, "(proof (subterms (proof (symbols "));
}

// A law is one by its text, with any names, each of which stands for one of the law's.
static void knows_laws_by_their_texts(void **state)
{
    static const struct {
        const char *source, *target;
        bool is_law;
    } cases[] = {
        {"(reshape :shape $s (reshape :shape $t ?x))", "(reshape :shape $s ?x)", true},
        {"(reshape :shape $t (reshape :shape $s ?image))", "(reshape :shape $t ?image)", true},
        {"(reshape :shape $s (reshape :shape $s ?x))", "(reshape :shape $s ?x)", false},
        {"(reshape :shape $s (reshape :shape $t ?x))", "(reshape :shape $s (reshape :shape $s ?x))", false},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        TEXT(text);
        enum rule_outcome outcome = prove_as_it_is(cases[i].source, cases[i].target, &text);
        assert_int_equal(outcome, cases[i].is_law ? RULE_PROVED : RULE_CHECKED);
        assert_int_equal(text.chars && strstr(text.chars, "(law L27)"), cases[i].is_law);
    }
}

RUN_TESTS(TEST(takes_off_what_is_alike), TEST(leaves_what_is_no_rule), TEST(proves_by_subterms),
          TEST(knows_laws_by_their_texts))
