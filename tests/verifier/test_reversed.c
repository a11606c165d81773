// Rules that are one another read backwards: one proof serves both.
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"
#include "verifier/rules/prove.h"
#include "verifier/rules/reversed.h"

#define MOST_RULES 4

// Of the last of the rules.
static uint32_t find_reversed(const char *const *texts, size_t n)
{
    ARENA(a);
    struct rule *rules[MOST_RULES];
    for (size_t i = 0; i < n; i++)
        rules[i] = parse_rule(&a, texts[i]);
    uint32_t found = find_reversed_rules((const struct rule *const *)rules, n, &a)[n - 1];
    for (size_t i = 0; i < n; i++)
        rule_free(rules[i]);
    return found;
}

static bool are_reversed(const char *x, const char *y)
{
    return find_reversed((const char *const[]){x, y}, 2) == 0;
}

TEST(finds_rules_read_backwards)
{
    assert_true(are_reversed("(rule r (source (relu (ewadd ?x ?y))) (target (ewadd ?x (tanh ?y))))",
                             "(rule s (source (ewadd ?b (tanh ?a))) (target (relu (ewadd ?b ?a))))"));
    assert_true(
        are_reversed("(rule r (source (conv :stride $s :act $a ?x ?k)) (target (conv :pad $s :act $a ?k ?x)))",
                     "(rule s (source (conv :pad $a :act $s ?x ?k)) (target (conv :stride $a :act $s ?k ?x)))"));
    assert_true(
        are_reversed("(rule r (source (reshape :shape (dim ?x 0) (rank ?y) (ewadd ?x ?y))) (target (ewadd ?x ?y)))",
                     "(rule s (source (ewadd ?y ?x)) (target (reshape :shape (dim ?y 0) (rank ?x) (ewadd ?y ?x))))"));
}

TEST(tells_other_rules_from_them)
{
    const char *rule = "(rule r (source (ewadd (relu ?x) ?y)) (target (sub ?x ?y)))";
    assert_false(are_reversed(rule, rule));
    assert_false(are_reversed(rule, "(rule s (source (sub ?y ?x)) (target (ewadd (relu ?x) ?y)))"));
    assert_false(are_reversed(rule, "(rule s (source (sub ?x ?x)) (target (ewadd (relu ?x) ?x)))"));
    assert_false(are_reversed(rule, "(rule s (source (sub ?x ?y)) (target (ewadd (tanh ?x) ?y)))"));
    assert_false(are_reversed(rule, "(rule s (source (sub ?x ?y)) (target (ewadd (relu ?x) ?y))"
                                    " (where (= (rank ?x) 2)))"));
    assert_false(are_reversed("(rule r (source (transpose :perm 1 0 ?x)) (target ?x))",
                              "(rule s (source (reshape :shape (dim ?x 0) ?x)) (target (transpose :perm 1 0 ?x)))"));
    assert_false(are_reversed("(rule r (source (reshape :shape (dim ?x 0) (relu ?x))) (target (relu ?x)))",
                              "(rule s (source (relu ?x)) (target (reshape :shape (dim ?x 1) (relu ?x))))"));
    // One that is found has none itself.
    const char *backwards = "(rule s (source (sub ?x ?y)) (target (ewadd (relu ?x) ?y)))";
    assert_int_equal(find_reversed((const char *const[]){rule, backwards, rule}, 3), NO_RULE);
    assert_int_equal(find_reversed((const char *const[]){rule, rule, backwards}, 3), 0);
}

static bool proves_backwards(const char *text, const char *backwards, struct text *ret)
{
    ARENA(a);
    struct rule_report report, of_other;
    struct judge j FREED_BY(judge_free);
    judge_init(&j);
    struct symbolic_prover symbols FREED_BY(symbolic_prover_free);
    symbolic_prover_init(&symbols);
    struct rule *r = parse_rule(&a, text), *other = parse_rule(&a, backwards);
    prove_rule(&j, NULL, &symbols, r, &a, &report);
    bool is_proved = prove_rule_reversed(&report, other, &of_other);
    if (is_proved) {
        rule_print(ret, &of_other.proved);
        rule_report_free(&of_other);
    }
    rule_report_free(&report);
    rule_free(r);
    rule_free(other);
    return is_proved;
}

// Only what holds as it stands.
TEST(one_proof_serves_both)
{
    TEXT(text);
    assert_true(proves_backwards("(rule r (source (relu (relu ?x))) (target (relu ?x)))",
                                 "(rule s (source (relu ?y)) (target (relu (relu ?y))))", &text));
    assert_non_null(strstr(text.chars, "(rule s"));
    assert_non_null(strstr(text.chars, "(target (relu (relu ?y)))"));
    assert_non_null(strstr(text.chars, "(proof (symbols "));
    assert_false(proves_backwards("(rule r (source (tanh (tanh ?x))) (target (tanh ?x)))",
                                  "(rule s (source (tanh ?y)) (target (tanh (tanh ?y))))", &text));
    assert_false(proves_backwards("(rule r (source (relu (matmul :act $a ?x ?y))) (target (matmul :act $a ?x ?y)))",
                                  "(rule s (source (matmul :act $a ?x ?y)) (target (relu (matmul :act $a ?x ?y))))",
                                  &text));
}
