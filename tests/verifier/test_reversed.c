// Rules that are one another read backwards: one proof serves both.
#include "tests/support/cases.h"
#include "tests/support/parse_rules.h"
#include "verifier/rules/prove.h"
#include "verifier/rules/reversed.h"

// Which of the rules the last one is read backwards.
TEST_OF_CASES(finds_rules_read_backwards, c, "verifier/reversed.cases")
{
    ARENA(a);
    RULES(set, &a, text_of_items(&a, c, 1));
    size_t n = set.rules.count;
    uint32_t found = find_reversed_rules((const struct rule *const *)set.rules.items, n, &a)[n - 1];
    assert_int_equal(found, c->items[0].kind == SEXP_INTEGER ? c->items[0].integer : NO_RULE);
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
