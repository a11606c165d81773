// Rules read backwards: those whose target binds all that the source has, with their conditions and without a certificate.
#include "tests/support/cases.h"
#include "tests/support/parse_rules.h"

// A sum of that many, one behind the other.
static void write_sums(struct text *text, int n, const char *name)
{
    text_printf(text, "(rule sums (source (relu ");
    for (int i = 0; i < n; i++)
        text_add(text, "(ewadd (neg ");
    text_printf(text, "?%s", name);
    for (int i = 0; i < n; i++)
        text_printf(text, ") ?%s)", name);
    text_printf(text, ")) (target (relu ?%s)))", name);
}

TEST(sources_have_so_many_operators)
{
    static const int sums[] = {23, 24};   // each with a change of sign, and relu
    for (int i = 0; i < 2; i++) {
        ARENA(a);
        struct rule_set set FREED_BY(rule_set_free);
        TEXT(text);
        rule_set_init(&set, &a);
        write_sums(&text, sums[i], "x");
        assert_int_equal(rule_set_parse(&set, "sums", text.chars, text.count, &(struct error){0}), sums[i] == 23);
    }
}

static void write_exponentials(struct text *text, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        text_add(text, "(exp ");
    text_printf(text, "?%s", name);
    for (int i = 0; i < n; i++)
        text_add(text, ")");
}

static void print_again(struct text *ret, const struct text *text)
{
    ARENA(a);
    RULES(set, &a, text->chars);
    rule_print(ret, set.rules.items[0]);
}

// Parts that a long target reads twice are named, unless the rule has such names of its own.
TEST(long_targets_are_printed_by_names)
{
    static const char *const names[] = {"x", "part1"};
    for (int i = 0; i < 2; i++) {
        TEXT(text);
        TEXT(once);
        TEXT(twice);
        text_printf(&text, "(rule long (source (neg ?%s)) (target (ewmul ", names[i]);
        write_exponentials(&text, 50, names[i]);
        text_add(&text, " (neg ");
        write_exponentials(&text, 50, names[i]);
        text_add(&text, "))))");
        print_again(&once, &text);
        print_again(&twice, &once);
        assert_string_equal(once.chars, twice.chars);
        assert_int_equal(strstr(once.chars, "(let") != NULL, i == 0);
    }
}

TEST_OF_CASES(rules_that_bind_all_are_read_backwards, c, "substitutions/backwards.cases")
{
    ARENA(a);
    TEXT(text);
    RULES(set, &a, c->items[0].text);
    size_t n = set.rules.count;
    rule_set_add_backwards(&set);
    for (size_t i = n; i < set.rules.count; i++) {
        assert_int_equal(set.rules.items[i]->number, i);
        rule_print(&text, set.rules.items[i]);
    }
    assert_string_equal(text.chars, c->items[1].text);
}
