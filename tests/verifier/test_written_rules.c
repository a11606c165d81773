// Winograd's convolutions in substitutions/written.rules are proved by hand as they stand, and nothing like them is.
#include "tests/support/check.h"
#include "verifier/laws/laws.h"
#include "verifier/laws/written_rules.h"
#include <ctype.h>

#define N_LAWS 4
static const char *beginning_of_laws(void)
{
    return strstr(written_rules_file, "(rule conv-winograd-even");
}

// Behind it stands what is proved with symbols for sizes.
static const char *end_of_laws(void)
{
    const char *end = strstr(written_rules_file, "; --- forms that runtimes have better kernels for");
    assert_non_null(end);
    return end;
}

// How many rules of the text are laws; -1: it is none of rules.
static int count_laws(const char *text)
{
    ARENA(a);
    struct rule_set rules FREED_BY(rule_set_free);
    struct error error;
    int n_laws = 0;
    rule_set_init(&rules, &a);
    bool is_read = rule_set_parse(&rules, "written.rules", text, strlen(text), &error);
    for (size_t i = 0; is_read && i < rules.rules.count; i++) {
        struct equation eq = equation_of_rule(rules.rules.items[i]);
        n_laws += law_of_equation(&eq) != NULL;
    }
    return is_read ? n_laws : -1;
}

// With one piece of the text replaced.
static int count_laws_with(const char *at, size_t length, const char *instead)
{
    TEXT(text);
    text_printf(&text, "%.*s%s%s", (int)(at - written_rules_file), written_rules_file, instead, at + length);
    int n_laws = count_laws(text.chars);
    return n_laws;
}

static void knows_them_by_any_names(void **state)
{
    TEXT(text);
    for (const char *c = written_rules_file; *c; c++)
        text_printf(&text, *c == '$' ? "$of_" : *c == '?' ? "?of_" : "%c", *c);
    assert_int_equal(count_laws(written_rules_file), N_LAWS);
    assert_int_equal(count_laws(text.chars), N_LAWS);
}

// Whether or not it is a rule still.
static void expect_one_law_less(const char *at, size_t length, const char *instead)
{
    int n_laws = count_laws_with(at, length, instead);
    assert_true(n_laws == N_LAWS - 1 || n_laws == -1);
}

static void knows_none_with_another_number(void **state)
{
    uint64_t n_numbers = 0, steps = 1000 / some_of(1000);
    const char *text = beginning_of_laws(), *end = end_of_laws();
    for (size_t length; text < end; text += length + strspn(text + length, " ()\n")) {
        length = strcspn(text, " ()\n");
        if (length == 0 || strspn(text, "0123456789") != length)
            continue;
        if (n_numbers++ % steps == 0)
            expect_one_law_less(text, length, *text == '1' ? "2" : "1");
    }
    assert_true(n_numbers > 300);
}

static void knows_none_with_another_word(void **state)
{
    static const struct {
        const char *word, *other;
    } cases[] = {
        {"ewadd ", "sub "},     {"(neg ", "(abs "},       {"?x3 ", "?x0 "}, {"(dtype ?x f32)", "(dtype ?x f64)"},
        {"(dtype ?x f32)", ""}, {"(= (dim ?k 2) 3)", ""},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const char *at = strstr(beginning_of_laws(), cases[i].word);
        assert_non_null(at);
        for (; at && at < end_of_laws(); at = strstr(at + 1, cases[i].word))
            expect_one_law_less(at, strlen(cases[i].word), cases[i].other);
    }
}

// What is a weight changes no value.
static void knows_them_without_weights(void **state)
{
    const char *weight = "(weight ?k)";
    assert_int_equal(count_laws_with(strstr(written_rules_file, weight), strlen(weight), ""), N_LAWS);
}

RUN_TESTS(TEST(knows_them_by_any_names), TEST(knows_none_with_another_number), TEST(knows_none_with_another_word),
          TEST(knows_them_without_weights))
