// The direct proof decided again by Z3's real arithmetic: it agrees on true equations and on false ones, and says so
// where it has not the laws.
#include "core/text/error.h"
#include "properties/property.h"
#include "tests/support/check.h"
#include "verifier/recheck/sample.h"
#include <string.h>

struct outcome {
    enum verdict verdict;
    uint64_t counts[RECHECK_VERDICTS];
    bool agrees;
};

static struct outcome recheck(const char *equation)
{
    char text[512];
    struct arena arena;
    struct property_set set;
    struct judge judge;
    struct judgement judgement;
    struct error error = {0};
    struct outcome result = {0};
    snprintf(text, sizeof text, "(property p %s)", equation);
    arena_init(&arena);
    property_set_init(&set, &arena);
    judge_init(&judge);
    if (!property_set_parse(&set, "test", text, strlen(text), &error))
        fail_msg("%s", error.message);
    struct equation eq = equation_of_property(set.properties.items[0]);
    struct sample sample = {.recheck = recheck_make(), .seed = 1};
    result.agrees = sample_equation(&sample, &judge, &eq, &judgement);
    result.verdict = judgement.verdict;
    memcpy(result.counts, sample.counts, sizeof result.counts);
    judgement_free(&judgement);
    recheck_free(sample.recheck);
    judge_free(&judge);
    property_set_free(&set);
    arena_free(&arena);
    return result;
}

static void agrees_on_true_ones(void **state)
{
    static const char *const equations[] = {
        "(equal (ewadd ?x ?y) (ewadd ?y ?x))",
        "(equal (matmul ?x (ewadd ?y ?z)) (ewadd (matmul ?x ?y) (matmul ?x ?z))) (where (defined (ewadd ?y ?z)))",
        "(equal (relu (relu ?x)) (relu ?x))",
        "(equal (transpose :perm $p (tanh ?x)) (tanh (transpose :perm $p ?x)))",
        "(equal (poolmax :kernel 2 2 :stride 1 1 :pad 1 1 1 1 (relu ?x)) (relu (poolmax :kernel 2 2 :stride 1 1 :pad 1 "
        "1 1 1 ?x)))",
    };
    for (size_t i = 0; i < sizeof equations / sizeof *equations; i++) {
        struct outcome o = recheck(equations[i]);
        assert_true(o.verdict == VERDICT_PROVED || o.verdict == VERDICT_TESTED);
        assert_true(o.agrees);
        assert_true(o.counts[RECHECK_EQUAL] >= 3);
        assert_int_equal(o.counts[RECHECK_DIFFERENT], 0);
    }
}

static void agrees_on_false_ones(void **state)
{
    static const char *const equations[] = {
        "(equal (ewadd (relu ?x) (relu ?y)) (relu (ewadd ?x ?y)))",
        "(equal (sub ?x ?y) (sub ?y ?x))",
        "(equal (ewmul ?x ?x) ?x)",
    };
    for (size_t i = 0; i < sizeof equations / sizeof *equations; i++) {
        struct outcome o = recheck(equations[i]);
        assert_int_equal(o.verdict, VERDICT_REFUTED);
        assert_true(o.agrees);
        assert_true(o.counts[RECHECK_DIFFERENT] + o.counts[RECHECK_UNKNOWN] >= 1);
    }
}

// That exp is increasing and tanh odd are laws of the polynomials; what a gather does depends on data.
static void says_where_it_ends(void **state)
{
    struct outcome o = recheck("(equal (max (exp ?x) (exp ?y)) (exp (max ?x ?y)))");
    assert_int_equal(o.verdict, VERDICT_PROVED);
    assert_true(o.agrees);
    assert_true(o.counts[RECHECK_UNKNOWN] >= 1);
    assert_int_equal(o.counts[RECHECK_DIFFERENT], 0);
    o = recheck("(equal (tanh (sub ?x ?y)) (neg (tanh (sub ?y ?x))))");
    assert_int_equal(o.verdict, VERDICT_PROVED);
    assert_true(o.agrees);
    assert_true(o.counts[RECHECK_UNKNOWN] >= 1);
    o = recheck("(equal (gather :axis 0 ?x ?i) (gather :axis 0 ?x ?i))");
    assert_int_equal(o.counts[RECHECK_EQUAL], 0);
}

static void takes_the_same_sample(void **state)
{
    const char *equation = "(equal (concat 0 (ewadd ?x ?y) (ewadd ?z ?w)) (ewadd (concat 0 ?x ?z) (concat 0 ?y ?w)))";
    struct outcome a = recheck(equation), b = recheck(equation);
    assert_memory_equal(a.counts, b.counts, sizeof a.counts);
}

RUN_TESTS(TEST(agrees_on_true_ones), TEST(agrees_on_false_ones), TEST(says_where_it_ends), TEST(takes_the_same_sample))
