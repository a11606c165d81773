// Rules read backwards: those whose target binds all that the source has, with their conditions and without a certificate.
#include "substitutions/rule.h"
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

TEST(rules_that_bind_all_are_read_backwards)
{
    ARENA(a);
    struct rule_set set FREED_BY(rule_set_free);
    TEXT(text);
    rule_set_init(&set, &a);
    parse_rules(&set, &a, rules);
    size_t n = set.rules.count;
    rule_set_add_backwards(&set);
    for (size_t i = n; i < set.rules.count; i++) {
        assert_int_equal(set.rules.items[i]->number, i);
        rule_print(&text, set.rules.items[i]);
    }
    assert_string_equal(text.chars, expected);
}
