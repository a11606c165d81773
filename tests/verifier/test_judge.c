// Small instances and random ones: true equations agree, planted errors are refuted with a counterexample.
#include "substitutions/pattern.h"
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"
#include "verifier/limits.h"
#include "verifier/rules/prove.h"
#include "verifier/testing/random_trials.h"

struct expected {
    const char *text;
    enum verdict verdict;
    const char *says;   // a part of the counterexample
};

static const struct expected rules[] = {
    {"(rule a (source (matmul (matmul ?x ?y) ?z)) (target (matmul ?x (matmul ?y ?z))))", VERDICT_AGREES, NULL},
    {"(rule matmul-commutes (source (matmul ?x ?y)) (target (matmul ?y ?x)))", VERDICT_REFUTED, "different types"},
    {"(rule linear-under-relu (source (conv :act relu ?x (ewadd ?y ?z)))"
     " (target (ewadd (conv :act relu ?x ?y) (conv :act relu ?x ?z))))",
     VERDICT_REFUTED, "different values"},
    {"(rule axes-exchanged (source (concat 0 (concat 1 ?x ?y) (concat 1 ?z ?w)))"
     " (target (concat 1 (concat 0 ?x ?y) (concat 0 ?z ?w))))",
     VERDICT_REFUTED, "different"},
    {"(rule blocks (source (matmul (concat 1 ?y ?x) (concat 0 ?z ?v))) (target (matmul (concat 1 ?x ?y) (concat 0 ?v "
     "?z))) (where (= (rank ?x) 2)))",
     VERDICT_REFUTED, "different values"},
    {"(rule aligned-blocks (source (matmul (concat 1 ?y ?x) (concat 0 ?z ?v)))"
     " (target (matmul (concat 1 ?x ?y) (concat 0 ?v ?z))) (where (= (rank ?x) 2) (= (dim ?y 1) (dim ?z 0))))",
     VERDICT_AGREES, NULL},
    // Copies stand one behind the other: these positions go together whatever the sizes.
    {"(rule copies (source (matmul (concat 1 ?x (concat 1 ?x ?x)) ?y)) (target (matmul (concat 1 (concat 1 ?x ?x) ?x) "
     "?y)))",
     VERDICT_AGREES, NULL},
    {"(rule copied-blocks (source (matmul (concat 1 (concat 1 ?y ?y) ?x) (concat 0 (concat 0 ?z ?z) ?v)))"
     " (target (matmul (concat 1 ?x (concat 1 ?y ?y)) (concat 0 ?v (concat 0 ?z ?z)))))",
     VERDICT_REFUTED, "different values"},
    {"(rule copies-and-others (source (matmul (concat 1 (concat 1 ?y ?y) ?x) (concat 0 ?z ?v)))"
     " (target (matmul (concat 1 ?x (concat 1 ?y ?y)) (concat 0 ?v ?z)))"
     " (where (= (rank ?y) 2) (= (dim ?x 1) (dim ?v 0))))",
     VERDICT_AGREES, NULL},
    // That cuts overlap is seen at sizes that come after many others.
    {"(rule overlaps-behind-others (source (relu ?a) (relu ?b) (relu ?c) (ewadd (reducesum :axes 0 (ewmul (concat 0 ?y "
     "?x) (concat 0 ?z ?v))) (reducesum :axes 0 (ewmul (concat 0 ?x ?y) (concat 0 ?v ?z)))))"
     " (target (relu (relu ?a)) (relu (relu ?b)) (relu (relu ?c)) (ewadd (reducesum :axes 0 (ewmul (concat 0 ?x ?y) "
     "(concat 0 ?v ?z))) (reducesum :axes 0 (ewmul (concat 0 ?y ?x) (concat 0 ?z ?v)))))"
     " (where (= (rank ?x) 1) (= (rank ?a) 1) (= (rank ?b) 1) (= (rank ?c) 1) (= (dim ?c 0) 1)))",
     VERDICT_AGREES, NULL},
    // So do those that are merged, where the parts are even.
    {"(rule merged-halves (source (split0 0 (merge 4 4 (concat 0 ?x ?y)))) (target (split0 0 (merge 4 4 (concat 0 ?x "
     "?x)))) (where (= (dims ?x) (dims ?y))))",
     VERDICT_AGREES, NULL},
    {"(rule merged-parts (source (split0 0 (merge 4 4 (concat 0 ?x ?y)))) (target (split0 0 (merge 4 4 (concat 0 ?x "
     "?x)))))",
     VERDICT_REFUTED, "different"},
    // Parts that are not as long as one another stand beside what groups divide, and not in it.
    {"(rule part-beside-halves (source (split0 0 (concat 0 (concat 1 ?x ?y) ?z))) (target (ewadd (split0 0 (merge 2 2 "
     "(concat 0 ?x ?y))) (split1 0 (merge 2 2 (concat 0 ?x ?y))))))",
     VERDICT_AGREES, NULL},
    {"(rule part-beside-merged (source (split1 0 (concat 0 (merge 4 2 ?x) (concat 1 ?y ?z)))) (target (ewadd (split0 0 "
     "(merge 2 2 (concat 0 ?y ?z))) (split1 0 (merge 2 2 (concat 0 ?y ?z))))))",
     VERDICT_AGREES, NULL},
    {"(rule part-beside-uneven (source (split0 0 (merge 2 2 (split1 0 (concat 0 ?w (concat 0 ?x ?y)))))) (target "
     "(split0 0 (merge 2 2 (split1 0 (concat 0 ?w (concat 0 ?x ?x)))))))",
     VERDICT_REFUTED, "different values"},
    // Windows behind windows, the same at each level; a kernel of one entry has nothing to dilate.
    {"(rule chain (source (conv :stride $s :pad $p (conv :stride $t :pad $q :act $a ?x (concat 0 ?y ?z)) (concat 1 ?w "
     "?v))) (target (conv :stride $s :pad $p (conv :stride $t :pad $q :act $a ?x (concat 0 ?z ?y)) (concat 1 ?v ?w)))"
     " (where (= (dim ?y 0) (dim ?w 1))))",
     VERDICT_AGREES, NULL},
    {"(rule chain-of-ones (source (conv :stride $s :pad $p :dilation $d (conv :stride $s :pad $p :dilation $e ?x"
     " (ewadd ?y (iconv :shape (dim ?x 1) (dim ?x 1) 1 1))) ?y)) (target (conv :stride $s :pad $p (conv :stride $s :pad"
     " $p ?x ?y) (ewadd ?y (iconv :shape (dim ?x 1) (dim ?x 1) 1 1)))))",
     VERDICT_AGREES, NULL},
    {"(rule dilated-chain (source (conv :stride $s :pad $p :dilation $d (conv :stride $t :pad $q ?x ?y) ?w))"
     " (target (conv :stride $s :pad $p (conv :stride $t :pad $q ?x ?y) ?w)))",
     VERDICT_REFUTED, "the sides have different"},
    {"(rule dilated-beside-ones (source (conv :stride $s :dilation $d ?x (concat 2 ?k (iconv :shape (dim ?x 1) (dim ?x "
     "1) 1 1)))) (target (conv :stride $s ?x (concat 2 ?k (iconv :shape (dim ?x 1) (dim ?x 1) 1 1)))))",
     VERDICT_REFUTED, "different types"},
    // Of entries that permutations of labels make of one another one is compared: not the diagonal alone, and of each
    // part of a concatenation some.
    {"(rule other-side-is-a-variable (source (matmul ?x (imatmul :shape (dim ?x 1) (dim ?x 1)))) (target ?x)"
     " (where (= (dim ?x 0) 4) (= (dim ?x 1) 4)))",
     VERDICT_AGREES, NULL},
    {"(rule others-need-more (source (matmul ?x ?y) (matmul (matmul ?x ?y) ?z)) (target (matmul ?x ?y) (matmul ?x "
     "(matmul ?y ?z))) (where (= (rank ?x) 2) (= (dim ?x 0) 4) (= (dim ?y 1) 4)))",
     VERDICT_AGREES, NULL},
    {"(rule off-the-diagonal (source (matmul ?x (transpose :perm 1 0 ?y))) (target (matmul ?y (transpose :perm 1 0 "
     "?x))) (where (= (dim ?x 0) 4)))",
     VERDICT_REFUTED, "?x = (f32 4"},
    {"(rule ones-for-identity (source (matmul ?x (imatmul :shape (dim ?x 0) (dim ?x 0)))) (target (ewmul ?x (matmul ?x "
     "(iewmul :shape (dim ?x 0) (dim ?x 0))))) (where (= (dim ?x 0) 5)))",
     VERDICT_REFUTED, "?x = (f32 5"},
    {"(rule second-part (source (concat 0 (matmul ?x ?z) (matmul ?y ?z))) (target (concat 0 (matmul ?x ?z) (matmul "
     "?x ?z))) (where (= (rank ?x) 2) (= (dim ?x 0) 2) (= (dim ?y 0) 2) (= (dim ?z 1) 4)))",
     VERDICT_REFUTED, "different values"},
    {"(rule of-one-group (source (concat 1 (conv :group $g ?x ?y) (conv :group $g ?x ?z)))"
     " (target (conv :group $g ?x (concat 0 ?y ?z))))",
     VERDICT_REFUTED, "$g = 2"},
    {"(rule pool-as-conv (source (poolavg :kernel 3 3 :pad 1 1 1 1 ?x))"
     " (target (conv :pad 1 1 1 1 :group (dim ?x 1) ?x (cpool :shape (dim ?x 1) 1 3 3))))",
     VERDICT_REFUTED, "different values"},
    {"(rule pool-counted (source (poolavg :kernel 3 3 :pad 1 1 1 1 :padding counted ?x))"
     " (target (conv :pad 1 1 1 1 :group (dim ?x 1) ?x (cpool :shape (dim ?x 1) 1 3 3))))",
     VERDICT_AGREES, NULL},
    // SAME at stride 2 on an even size pads (0, 1) for 3x3 and nothing for 1x1: the window starts elsewhere.
    {"(rule enlarge-same (source (conv :stride 2 2 ?x ?k)) (target (conv :stride 2 2 :pad 0 0 1 1 ?x"
     " (enlarge :kernel 3 3 ?k))) (where (= (dim ?k 2) 1) (= (dim ?k 3) 1)))",
     VERDICT_REFUTED, "the sides have different"},
    // Groups named by a number: false when the two halves have other numbers of filters, or of channels.
    {"(rule halves (source (conv :group 4 (concat 1 ?x ?y) (concat 0 ?z ?w)))"
     " (target (concat 1 (conv :group 2 ?x ?z) (conv :group 2 ?y ?w))))",
     VERDICT_REFUTED, "the sides have different"},
    // Windows that differ along the second spatial axis only, and there from 4 places on.
    {"(rule uneven (source (poolmax :kernel 1 1 :stride 1 3 ?x)) (target (poolmax :kernel 1 1 :stride 1 4 ?x)))",
     VERDICT_REFUTED, "different types"},
    // Dilations make no difference at sizes that are too small for two places of a window.
    {"(rule dilated (source (conv :pad 0 0 0 0 :dilation $d ?x ?k)) (target (conv :pad 0 0 0 0 :dilation 1 1 ?x ?k)))",
     VERDICT_REFUTED, "different types"},
    {"(rule dilated-pool (source (poolavg :kernel $k :stride $s :pad $p :dilation $d ?x))"
     " (target (poolavg :kernel $k :stride $s :pad $p :dilation 1 1 ?x)))",
     VERDICT_REFUTED, "different types"},
    {"(rule dilated-enlarged (source (conv :pad $p :dilation $d ?x (enlarge :kernel 3 3 ?k)))"
     " (target (conv :pad $p :dilation 1 1 ?x (enlarge :kernel 3 3 ?k))))",
     VERDICT_REFUTED, "different types"},
    // A condition that ties the two spatial axes to each other, and one that speaks of the first alone.
    {"(rule dilated-square (source (conv :dilation 2 2 ?x ?k)) (target (conv ?x ?k)) (where (= (dim ?k 2) (dim ?k "
     "3))))",
     VERDICT_REFUTED, "different types"},
    {"(rule strided (source (conv :stride $s ?x ?k)) (target (conv :stride 1 1 ?x ?k))"
     " (where (= (dim ?x 2) (dim ?k 2))))",
     VERDICT_REFUTED, "different types"},
    // Equal by the signs of what maxima are made of.
    {"(rule doubled (source (relu (ewadd (relu ?x) (relu ?x)))) (target (relu (ewadd ?x ?x))))", VERDICT_AGREES, NULL},
    {"(rule signs-of-squares (source (relu (ewadd (ewmul ?x (relu ?x)) (relu ?x)))) (target (relu (ewadd ?x (ewmul ?x "
     "(relu ?x))))))",
     VERDICT_AGREES, NULL},
    {"(rule tripled (source (relu (ewadd ?x (relu ?x)))) (target (relu (ewadd ?x (ewadd ?x ?x)))))", VERDICT_REFUTED,
     "different values"},
    {"(rule doubled-product (source (relu (ewadd (relu (matmul ?x ?y)) (relu (matmul ?x ?y))))) (target (relu (ewadd "
     "(matmul ?x ?y) (matmul ?x ?y)))))",
     VERDICT_AGREES, NULL},
    {"(rule added-product (source (relu (ewadd (matmul ?x ?y) (relu (matmul ?x ?y))))) (target (ewadd (relu (matmul ?x "
     "?y)) (relu (matmul ?x ?y)))))",
     VERDICT_AGREES, NULL},
    // Conditions name the sizes of images, on which strides beyond 2 are alike. On larger ones they are not, and nothing
    // is named where an axis of an image has a size of its own.
    {"(rule named (source (poolavg :kernel 3 3 :stride $s :pad 1 1 1 1 (concat 0 ?x (poolavg :kernel 3 3 :pad 1 1 1 1 "
     "?y)))) (target (concat 0 (poolavg :kernel 3 3 :stride $s :pad 1 1 1 1 ?x) (poolavg :kernel 3 3 :stride $s :pad 1 "
     "1 1 1 ?y))) (where (= (dim ?x 2) 2) (= (dim ?x 3) 1) (= (dim ?y 2) 2) (= (dim ?y 3) 1)))",
     VERDICT_AGREES, NULL},
    {"(rule named-larger (source (poolavg :kernel 3 3 :stride $s :pad 1 1 1 1 (concat 0 ?x (poolavg :kernel 3 3 :pad 1 "
     "1 1 1 ?y)))) (target (concat 0 (poolavg :kernel 3 3 :stride $s :pad 1 1 1 1 ?x) (poolavg :kernel 3 3 :stride $s "
     ":pad 1 1 1 1 (poolavg :kernel 3 3 :pad 1 1 1 1 ?y)))) (where (= (dim ?x 2) 4) (= (dim ?x 3) 1) (= (dim ?y 2) 4) "
     "(= (dim ?y 3) 1)))",
     VERDICT_AGREES, NULL},
    {"(rule named-in-part (source (poolavg :kernel 3 3 :stride $s :pad 1 1 1 1 (concat 0 ?x (poolavg :kernel 3 3 :pad "
     "1 1 1 1 ?y)))) (target (concat 0 (poolavg :kernel 3 3 :stride $s :pad 1 1 1 1 ?x) (poolavg :kernel 3 3 :stride "
     "$s :pad 1 1 1 1 (poolavg :kernel 3 3 :pad 1 1 1 1 ?y)))) (where (= (dim ?x 2) 2) (= (dim ?y 2) 2)))",
     VERDICT_AGREES, NULL},
    {"(rule broadcasting (source (ewmul (broadcast :shape $s ?x) (broadcast :shape $s ?y)))"
     " (target (broadcast :shape $s (ewmul ?x ?y))) (where (= (rank ?x) (rank ?y))))",
     VERDICT_AGREES, NULL},
    {"(rule broadcasting-split (source (reducesum :axes 0 (broadcast :shape 2 (dim ?x 0) ?x)))"
     " (target (broadcast :shape 1 (dim ?x 0) ?x)))",
     VERDICT_REFUTED, "different values"},
    // Of what has the rank of ?x and of what has that of ?y, three trailing axes are each told apart.
    {"(rule axis-of-two-ranks (source (ewmul (softmax $i ?x) (softmax (- (rank ?x) 3) ?x)) (ewmul (softmax $i ?y) ?y))"
     " (target (ewmul (softmax (- (rank ?x) 3) ?x) (softmax $i ?x)) (ewmul ?y (softmax $i ?y))))",
     VERDICT_AGREES, NULL},
    {"(rule never (source (concat 0 ?x (reshape :shape 2 ?x))) (target (reshape :shape 5 ?x)))", VERDICT_NOT_COVERED,
     NULL},
};

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
    property_set_free(&f->properties);   // all are named p
    property_set_init(&f->properties, &f->arena);
    if (!property_set_parse(&f->properties, "test", text, strlen(text), &error))
        fail_msg("%s: %s", text, error.message);
    return equation_of_property(vec_last(&f->properties.properties));
}

static void require_verdict(struct fixture *f, const struct expected *expected)
{
    struct equation eq = read_equation(f, expected->text);
    struct judgement result FREED_BY(judgement_free);
    judge_equation(&f->judge, &eq, &result);
    uint32_t n_random = 0;
    if (result.verdict == VERDICT_AGREES &&
        !trials_run_usual(&eq, TRIALS_OF_PROPERTY, &n_random, &result.counterexample))
        result.verdict = VERDICT_REFUTED;
    const char *said = result.counterexample.text.chars;
    if (result.verdict != expected->verdict || (expected->says && !(said && strstr(said, expected->says))))
        fail_msg("%s: verdict %d\n%s", expected->text, (int)result.verdict, said);
}

static void require_verdicts(const struct expected *expected, size_t count)
{
    FIXTURE(&f);
    for (size_t i = 0; i < count; i++)
        require_verdict(&f, &expected[i]);
}

TEST(judges_rules)
{
    require_verdicts(rules, COUNT_OF(rules));
}

static const struct expected properties[] = {
    {"(property p (equal (ewadd ?x ?y) (ewadd ?y ?x)))", VERDICT_AGREES, NULL},
    // Without its guard only one side is defined where the blocks do not line up.
    {"(property p (equal (ewadd (matmul ?x ?y) (matmul ?z ?w)) (matmul (concat 1 ?x ?z) (concat 0 ?y ?w)))"
     " (where (= (rank ?x) 2) (= (rank ?y) 2) (= (rank ?w) 2)))",
     VERDICT_REFUTED, "only the left side is ill-typed"},
    {"(property p (equal (ewadd (matmul ?x ?y) (matmul ?z ?w)) (matmul (concat 1 ?x ?z) (concat 0 ?y ?w)))"
     " (where (= (rank ?x) 2) (= (rank ?y) 2) (= (rank ?w) 2) (defined (matmul ?x ?y))))",
     VERDICT_AGREES, NULL},
    {"(property p (equal (split0 $i (concat $i ?x ?y)) ?x) (where (defined (concat $i ?x ?y))))", VERDICT_REFUTED,
     "different split trees"},
    {"(property p (equal (transpose :perm 1 0 (relu ?x)) (relu ?x)))", VERDICT_REFUTED, NULL},
    {"(property p (equal (sigmoid (neg ?x)) (neg (sigmoid ?x))))", VERDICT_REFUTED, "different values"},
};

TEST(judges_properties)
{
    require_verdicts(properties, COUNT_OF(properties));
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
static const char up_to_four[] =
    "(property p (equal (ewmul (ewmul " LESS_1 " " LESS_2 ") (ewmul " LESS_3 " " LESS_4 ")) (sub " SIZE " " SIZE ")))";
// The third elementary symmetric polynomial by Newton's identities: 0 for fewer than three entries.
#define SUM_OF(x) "(reducesum :axes 0 :keepdims 0 " x ")"
#define SUM_1 SUM_OF("?x")
#define SUM_2 SUM_OF("(ewmul ?x ?x)")
#define SUM_3 SUM_OF("(ewmul ?x (ewmul ?x ?x))")
#define PRODUCT "(ewmul " SUM_1 " " SUM_2 ")"
static const char newton[] =
    "(property p (equal (ewadd (ewmul " SUM_1 " (ewmul " SUM_1 " " SUM_1 ")) (ewadd " SUM_3 " " SUM_3 ")) "
    "(ewadd " PRODUCT " (ewadd " PRODUCT " " PRODUCT "))))";

static const struct expected of_sizes[] = {
    {up_to_four, VERDICT_REFUTED, "?x = (f32 5"},
    {newton, VERDICT_REFUTED, "?x = (f32 3"},
};

TEST(tests_sizes_up_to_a_bound)
{
    FIXTURE(&f);
    f.judge.largest_size = 5;
    for (size_t i = 0; i < COUNT_OF(of_sizes); i++)
        require_verdict(&f, &of_sizes[i]);
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
