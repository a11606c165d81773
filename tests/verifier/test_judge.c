// Small instances and random ones: true equations agree, planted errors are refuted with a counterexample.
#include "substitutions/pattern.h"
#include "tests/support/cases.h"
#include "tests/support/parse_rules.h"
#include "verifier/limits.h"
#include "verifier/rules/prove.h"
#include "verifier/testing/random_trials.h"

struct fixture {
    struct judge judge;
    struct arena arena;
    struct rule_set rules;
    struct property_set properties;
};

static void set_up(struct fixture *f)
{
    judge_init(&f->judge);
    arena_init(&f->arena);
    rule_set_init(&f->rules, &f->arena);
    property_set_init(&f->properties, &f->arena);
}

static void tear_down(struct fixture *f)
{
    property_set_free(&f->properties);
    rule_set_free(&f->rules);
    judge_free(&f->judge);
    arena_free(&f->arena);
}

// The equation of a rule or of a property.
static struct equation read_equation(struct fixture *f, const char *text)
{
    struct error error = {0};
    if (strncmp(text, "(rule", 5) == 0) {
        parse_rules(&f->rules, &f->arena, text);
        return equation_of_rule(vec_last(&f->rules.rules));
    }
    if (!property_set_parse(&f->properties, "test", text, strlen(text), &error))
        fail_msg("%s: %s", text, error.message);
    return equation_of_property(vec_last(&f->properties.properties));
}

static void require_verdict(struct fixture *f, const struct equation *eq, enum verdict verdict, const char *says)
{
    struct judgement result FREED_BY(judgement_free);
    judge_equation(&f->judge, eq, &result);
    uint32_t n_random = 0;
    if (result.verdict == VERDICT_AGREES &&
        !trials_run_usual(eq, TRIALS_OF_PROPERTY, &n_random, &result.counterexample))
        result.verdict = VERDICT_REFUTED;
    const char *said = result.counterexample.text.chars;
    if (result.verdict != verdict || (says && !(said && strstr(said, says))))
        fail_msg("verdict %d\n%s", (int)result.verdict, said);
}

TEST_OF_CASES(judges_rules, c, "verifier/judge.cases")
{
    FIXTURE(&f);
    struct equation eq = read_equation(&f, text_of_items(&f.arena, c, c->count - 1));
    require_verdict(&f, &eq,
                    sexp_is_call(c, "agrees")    ? VERDICT_AGREES
                    : sexp_is_call(c, "refuted") ? VERDICT_REFUTED
                                                 : VERDICT_NOT_COVERED,
                    c->count > 2 ? c->items[1].text : NULL);
}

// A judgement that was cut short before the first instance is not even tested.
TEST(proves_nothing_without_instances)
{
    struct judgement result FREED_BY(judgement_free);
    FIXTURE(&f);
    struct equation eq = read_equation(&f, "(rule r (source (matmul ?x (matmul ?y ?z))) (target (matmul ?z ?x)))");
    f.judge.step_limit = 1;
    judge_equation(&f.judge, &eq, &result);
    assert_int_equal(result.verdict, VERDICT_NOT_COVERED);
    assert_true(result.was_cut_short);
    judgement_free(&result);
    f.judge.step_limit = RULE_STEP_LIMIT;
    judge_equation(&f.judge, &eq, &result);
    assert_int_equal(result.verdict, VERDICT_REFUTED);
}

// (n - 1) (n - 2) (n - 3) (n - 4) = 0 for the size n of an axis: true up to 4, false at 5.
#define SIZE "(reducesum :axes 0 :keepdims 0 (iewmul :shape (dim ?x 0)))"
#define LESS(a) "(sub " a " (iewmul :shape))"
#define LESS_1 LESS(SIZE)
#define LESS_2 LESS(LESS_1)
#define LESS_3 LESS(LESS_2)
#define LESS_4 LESS(LESS_3)
static const char up_to_four[] = "(property four (equal (ewmul (ewmul " LESS_1 " " LESS_2 ") (ewmul " LESS_3 " " LESS_4
                                 ")) (sub " SIZE " " SIZE ")))";
// The third elementary symmetric polynomial by Newton's identities: 0 for fewer than three entries.
#define SUM_OF(x) "(reducesum :axes 0 :keepdims 0 " x ")"
#define SUM_1 SUM_OF("?x")
#define SUM_2 SUM_OF("(ewmul ?x ?x)")
#define SUM_3 SUM_OF("(ewmul ?x (ewmul ?x ?x))")
#define PRODUCT "(ewmul " SUM_1 " " SUM_2 ")"
static const char newton[] =
    "(property newton (equal (ewadd (ewmul " SUM_1 " (ewmul " SUM_1 " " SUM_1 ")) (ewadd " SUM_3 " " SUM_3 ")) "
    "(ewadd " PRODUCT " (ewadd " PRODUCT " " PRODUCT "))))";

TEST(tests_sizes_up_to_a_bound)
{
    FIXTURE(&f);
    f.judge.largest_size = 5;
    struct equation of_five = read_equation(&f, up_to_four), of_three = read_equation(&f, newton);
    require_verdict(&f, &of_five, VERDICT_REFUTED, "?x = (f32 5");
    require_verdict(&f, &of_three, VERDICT_REFUTED, "?x = (f32 3");
}

// The instances that conditions are chosen by are of many attributes, between which a judge forgets its types.
TEST(finds_conditions_within_a_bound)
{
    TEXT(printed);
    FIXTURE(&f);
    f.judge.largest_size = 3;
    f.judge.instance_limit = 20000;
    f.judge.step_limit = 20000000;
    struct equation eq = read_equation(&f, "(rule split (source (split1 $i (poolmax :kernel $k :stride $s :pad $p "
                                           ":dilation $d :act $a (concat $i ?x ?y))))"
                                           " (target (poolmax :kernel $k :stride $s :pad $p ?y)))");
    struct found_condition found = find_weakest_condition(&f.judge, &eq, &f.arena);
    for (uint32_t i = 0; i < found.count; i++)
        pattern_print_condition(&printed, eq.pattern, &found.conditions[i]);
    assert_string_equal(printed.chars, "(= (product $d) 1)(= $a 0)");
}
