// Entailment: what follows from a set of properties, and what a false, redundant or contradictory one does to it.
#include "substitutions/pattern.h"
#include "tests/support/check.h"
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

// Properties are of real numbers: products of integers overflow, and their means are cut off.
TEST(proves_nothing_of_integers)
{
    static const char properties[] =
        "(property distributes (equal (ewmul (ewadd ?x ?y) ?z) (ewadd (ewmul ?x ?z) (ewmul ?y ?z))))"
        "(property means (equal (reducemean :axes $a (ewadd ?x ?y))"
        " (ewadd (reducemean :axes $a ?x) (reducemean :axes $a ?y))))";
    static const struct {
        const char *text;               // but for the type
        enum rule_outcome outcome[2];   // of floating-point numbers, of integers
    } rules[] = {
        {"(rule r (source (ewmul (ewadd ?x ?y) ?z))"
         " (target (ewadd (ewmul ?x ?z) (ewmul ?y ?z))) (where (dtype ?x ",
         {RULE_PROVED, RULE_CHECKED}},
        {"(rule r (source (reducemean :axes 0 (ewadd ?x ?y)))"
         " (target (ewadd (reducemean :axes 0 ?x) (reducemean :axes 0 ?y))) (where (dtype ?x ",
         {RULE_PROVED, RULE_REFUTED}},
    };
    for (int i = 0; i < 2; i++)
        for (int is_integer = 0; is_integer < 2; is_integer++) {
            FIXTURE(&f, properties);
            TEXT(text);
            text_printf(&text, "%s%s)))", rules[i].text, is_integer ? "i64" : "f32");
            prove(&f, f.theory, text.chars);
            assert_int_equal(f.report.outcome, rules[i].outcome[is_integer]);
        }
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

// An activation is none or relu: what is proved of both is proved.
TEST(tells_names_apart)
{
    static const char *const rules[] = {
        "(rule r (source (relu (matmul :act $a ?x ?y))) (target (matmul :act relu ?x ?y)))",
        "(rule r (source (relu (matmul :act $a ?x ?y))) (target (matmul :act $a ?x ?y)))"};
    for (int i = 0; i < 2; i++) {
        FIXTURE(&f, "(property relu-of-relu (equal (relu (relu ?x)) (relu ?x)))"
                    "(property product (equal (matmul :act relu ?x ?y) (relu (matmul ?x ?y))))");
        struct equation eq = read_rule(&f, rules[i]);
        assert_int_equal(theory_prove(f.theory, &eq, NULL).status, i == 0 ? ENTAILMENT_PROVED : ENTAILMENT_UNKNOWN);
    }
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

// Where no bound is known tests alone prove nothing; with a derivation they do.
TEST(does_not_take_tests_for_proofs)
{
    static const char *const properties[] = {
        COMMUTES, COMMUTES
        "(property p (equal (reduceprod :axes 0 (ewmul ?x ?x)) (ewmul (reduceprod :axes 0 ?x) (reduceprod :axes "
        "0 ?x))))"};
    for (int i = 0; i < 2; i++) {
        FIXTURE(&f, properties[i]);
        prove(&f, f.theory,
              "(rule r (source (reduceprod :axes 0 (ewmul ?x ?x)))"
              " (target (ewmul (reduceprod :axes 0 ?x) (reduceprod :axes 0 ?x))))");
        assert_int_equal(f.report.outcome, i == 0 ? RULE_CHECKED : RULE_PROVED);
    }
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

// The conditions that are found for the rule of a text, printed one behind another: none is NULL.
static void check_sufficient(const char *properties, const char *text, const char *conditions)
{
    TEXT(printed);
    FIXTURE(&f, properties);
    struct equation eq = read_rule(&f, text);
    struct found_condition found = find_sufficient_condition(f.theory, NULL, vec_last(&f.rules.rules), &f.arena);
    for (uint32_t i = 0; i < found.count; i++)
        pattern_print_condition(&printed, eq.pattern, &found.conditions[i]);
    assert_int_equal(found.count > 0, conditions != NULL);
    if (found.count)
        assert_string_equal(printed.chars, conditions);
}

// Of all that such rules usually lack one condition is kept when it suffices, and none when nothing does.
TEST(finds_what_suffices)
{
    check_sufficient(COMMUTES,
                     "(rule r (source (ewadd (matmul :act $a ?x ?y) (matmul :act $b ?x ?y)))"
                     " (target (ewadd (matmul :act $a ?x ?y) (matmul :act $a ?x ?y))))",
                     "(= $b $a)");
    check_sufficient(
        COMMUTES,
        "(rule r (source (conv :stride $s :dilation $d ?x ?k)) (target (conv :stride $s :dilation 1 1 ?x ?k)))",
        "(= (product $d) 1)");
    check_sufficient(COMMUTES, "(rule r (source (matmul :act $a ?x ?y)) (target (matmul :act relu ?x ?y)))",
                     "(= $a 1)");
    check_sufficient(COMMUTES, "(rule r (source (matmul :act $a ?x ?y)) (target (matmul :act $a ?y ?x)))", NULL);
}

// Parts that groups divide are as long as one another, and a kernel has the size that its pads tell.
TEST(finds_sizes_that_suffice)
{
    static const char merges[] =
        "(property merges (equal (merge 4 2 (concat 0 ?x ?y)) (concat 0 (merge 2 2 ?x) (merge 2 2 "
        "?y))) (where (= (dim ?x 0) (dim ?y 0))))"
        "(property enlarges (equal (conv :pad 0 1 0 1 ?x ?k) (conv :pad 1 1 1 1 ?x (enlarge "
        ":kernel 3 3 ?k))) (where (= (dim ?k 2) 1) (= (dim ?k 3) 3)))";
    check_sufficient(merges,
                     "(rule r (source (merge 4 2 (concat 0 ?x ?y))) (target (concat 0 (merge 2 2 ?x) (merge 2 2 ?y))))",
                     "(= (dim ?x 0) (dim ?y 0))");
    check_sufficient(
        merges, "(rule r (source (conv :pad 0 1 0 1 ?x ?k)) (target (conv :pad 1 1 1 1 ?x (enlarge :kernel 3 3 ?k))))",
        "(= (rank ?k) 4)(= (dim ?k 2) 1)(= (dim ?k 3) 3)");
    check_sufficient(merges,
                     "(rule r (source (merge 4 2 (concat 0 ?x ?y))) (target (concat 0 (merge 2 2 ?y) (merge 2 2 ?x))))",
                     NULL);
}

// With windows on one axis a list of them that is left out has one entry, on two axes two.
TEST(tells_ranks_of_images_apart)
{
    FIXTURE(&f, "(property one (equal (conv :dilation $d ?x ?k) (conv ?x ?k))"
                " (where (= (product $d) 1) (defined (conv :dilation $d ?x ?k))))");
    struct equation eq = read_rule(&f, "(rule r (source (conv :dilation $d :stride 1 1 ?x ?k)) (target (conv ?x ?k))"
                                       " (where (= (product $d) 1)))");
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_PROVED);
    eq = read_rule(&f, "(rule s (source (conv :dilation $d :stride 1 2 ?x ?k)) (target (conv ?x ?k))"
                       " (where (= (product $d) 1)))");
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_UNKNOWN);
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

// A list that has no value leaves nothing to prove anything by.
TEST(states_nothing_without_values)
{
    FIXTURE(&f, COMMUTES);
    struct equation eq = read_rule(&f, "(rule r (source (transpose :perm (/ (iota 3) 2) ?x)) (target ?x))");
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_UNSTATED);
    eq = read_rule(&f, "(rule s (source (ewadd ?x ?y)) (target (ewadd ?y ?x)))");
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_PROVED);
}

// Nothing is asked of ?v but a size: it may be a tensor of any rank.
TEST(states_properties_of_all_ranks_of_what_is_named)
{
    FIXTURE(&f, "(property columns (equal (matmul ?x (matmul ?y (iewmul :shape 1 (dim ?v 0)))) "
                "(matmul (matmul ?x ?y) (iewmul :shape 1 (dim ?v 0)))))");
    struct equation eq = read_rule(&f, "(rule r (source (matmul ?x (matmul ?y (iewmul :shape 1 (dim ?x 0))))) "
                                       "(target (matmul (matmul ?x ?y) (iewmul :shape 1 (dim ?x 0)))))");
    assert_int_equal(theory_prove(f.theory, &eq, NULL).status, ENTAILMENT_PROVED);
}

static enum entailment_status status_of(struct fixture *f, struct theory *theory, const char *text)
{
    prove(f, theory, text);
    return f->report.entailment.status;
}

// 1 / (1 / x) = x is true of a quotient by 0 that is 0, and of no other: nothing is derived from it, nor from any other
// property of a function that is not defined everywhere.
static const struct {
    const char *property, *rule;
    bool is_defined;
    enum entailment_status status;
} cases[] = {
    {"(property p (equal (reciprocal (reciprocal ?x)) ?x))",
     "(rule r (source (ewadd (reciprocal (reciprocal ?x)) ?y)) (target (ewadd ?x ?y)))", false, ENTAILMENT_UNKNOWN},
    {"(property p (equal (reciprocal (sqrt ?x)) (sqrt (reciprocal ?x))))",
     "(rule r (source (reciprocal (sqrt ?x))) (target (sqrt (reciprocal ?x))))", false, ENTAILMENT_UNKNOWN},
    {"(property p (equal (less ?x ?y) (less ?y ?x)))", "(rule r (source (less ?x ?y)) (target (less ?y ?x)))", true,
     ENTAILMENT_UNKNOWN},
    {"(property p (equal (div ?x ?y) (div ?y ?x)))", "(rule r (source (div ?x ?y)) (target (div ?y ?x)))", false,
     ENTAILMENT_UNKNOWN},
    {"(property p (equal (softmax $a (transpose :perm 0 1 ?x)) (transpose :perm 0 1 (softmax $a ?x))))",
     "(rule r (source (softmax 1 (transpose :perm 0 1 ?x))) (target (transpose :perm 0 1 (softmax 1 ?x))))", true,
     ENTAILMENT_PROVED},
};

TEST_OF_EACH(cancels_no_partial_function, row, cases)
{
    FIXTURE(&f, row->property);
    struct equation eq = read_rule(&f, row->rule);
    assert_int_equal(text_is_defined_everywhere(&eq), row->is_defined);
    if (theory_prove(f.theory, &eq, NULL).status != row->status)
        fail_msg("%s", row->property);
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
