// Rules read backwards: those whose target binds all that the source has, with their conditions and without a certificate.
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"

static const char rules[] = "(rule turns (source (relu (concat $i ?x ?y))) (target (concat $i (relu ?x) (relu ?y)))"
                            "  (where (< (dim ?x 0) 3) (weight ?y)) (proof (properties)))"
                            "(rule forgets (source (split0 1 (concat 1 ?x ?y))) (target ?x))"
                            "(rule forgets-a-size (source (reshape :shape $s (reshape :shape $t ?x)))"
                            "  (target (reshape :shape $s ?x)))"
                            "(rule cuts (source (relu ?x) (relu ?y)) (target (split0 0 (relu (concat 0 ?x ?y)))"
                            "  (split1 0 (relu (concat 0 ?x ?y)))))";
static const char expected[] = "(rule turns-backwards\n"
                               "  (source (concat $i (relu ?x) (relu ?y)))\n"
                               "  (target (relu (concat $i ?x ?y)))\n"
                               "  (where (< (dim ?x 0) 3) (weight ?y)))\n"
                               "(rule cuts-backwards\n"
                               "  (source (split0 0 (relu (concat 0 ?x ?y)))\n"
                               "          (split1 0 (relu (concat 0 ?x ?y))))\n"
                               "  (target (relu ?x)\n"
                               "          (relu ?y)))\n";

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

TEST(rules_that_bind_all_are_read_backwards)
{
    ARENA(a);
    TEXT(text);
    RULES(set, &a, rules);
    size_t n = set.rules.count;
    rule_set_add_backwards(&set);
    for (size_t i = n; i < set.rules.count; i++) {
        assert_int_equal(set.rules.items[i]->number, i);
        rule_print(&text, set.rules.items[i]);
    }
    assert_string_equal(text.chars, expected);
}
