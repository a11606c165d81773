// Which rules are chosen for a search, and why the others are not.
#include "selection/select.h"
#include "selection/select_for_egraph.h"
#include "tests/support/cases.h"
#include "tests/support/parse_rules.h"

TEST_OF_CASES(chooses_what_helps, c, "selection/select.cases")
{
    ARENA(arena);
    const struct sexp *generated = &c->items[1], *written = &c->items[2], *uses = &c->items[3];
    RULES(set, &arena, text_of_items(&arena, generated, 1));
    struct selection s FREED_BY(selection_free) = {.n_generated = set.rules.count,
                                                   .max_coincidences = 1,
                                                   .max_steps = 3,
                                                   .max_graphs = 300,
                                                   .max_operators = 3,
                                                   .threads = 1,
                                                   .arena = &arena};
    parse_rules(&set, &arena, text_of_items(&arena, written, 1));
    assert_int_equal(set.rules.count, uses->count - 1);
    (sexp_is_call(c, "search") ? selection_make : selection_make_for_egraph)(&s, &set);
    for (size_t i = 0; i < set.rules.count; i++)
        if (strcmp(rule_use_name(s.uses[i]), uses->items[i + 1].text) != 0)
            fail_msg("%s: %s", set.rules.items[i]->name, rule_use_name(s.uses[i]));
}

// A rule that gains only when something is computed beforehand asks for that.
TEST(asks_for_weights)
{
    ARENA(arena);
    TEXT(printed);
    RULES(set, &arena, "(rule folds (source (ewadd (ewadd ?x ?y) ?z)) (target (ewadd ?x (ewadd ?y ?z))))");
    struct selection s FREED_BY(selection_free) = {.n_generated = set.rules.count,
                                                   .max_coincidences = 2,
                                                   .max_steps = 1,
                                                   .max_graphs = 10,
                                                   .threads = 1,
                                                   .arena = &arena};
    selection_make(&s, &set);
    assert_int_equal(s.uses[0], RULE_IS_KEPT);
    rule_print(&printed, s.rules[0]);
    assert_non_null(strstr(printed.chars, "(where (weight ?y) (weight ?z))"));
}
