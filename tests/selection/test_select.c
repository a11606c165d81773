// Which rules are chosen for a search, and why the others are not.
#include "selection/select.h"
#include "selection/select_for_egraph.h"
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"

#define SHARES "(rule shares (source (ewadd (matmul ?x ?y) (matmul ?x ?z))) (target (matmul ?x (ewadd ?y ?z))))"
#define TWICE "(rule twice (source (transpose :perm 1 0 (transpose :perm 1 0 ?x))) (target ?x))"
#define MERGES "(rule merges (source (relu (relu ?x))) (target (relu ?x)))"
#define PROVED "(proof (symbols (families 2)) (tested (ranks 0 4) (sizes 1 2) (instances 9)))"
#define TESTED "(checked (tested (ranks 0 4) (sizes 1 2) (instances 9)))"

struct expected {
    const char *text;   // of the generated rules
    const char *written;
    enum rule_use uses[4];
};
static const struct expected cases[] = {
    // Two products become one; to make two of one is never wanted.
    {SHARES "(rule opens (source (matmul ?x (ewadd ?y ?z))) (target (ewadd (matmul ?x ?y) (matmul ?x ?z))))",
     "",
     {RULE_IS_KEPT, RULE_ONLY_COSTS}},
    // True of real numbers by cases of signs, which the prime field has not.
    {"(rule doubles (source (relu (ewadd (relu ?x) ?x))) (target (relu (ewadd ?x ?x))))"
     "(rule keeps (source (relu (relu ?x))) (target (relu ?x)))",
     "",
     {RULE_IS_REFUSED, RULE_IS_KEPT}},
    // Equal on both sides.
    {"(rule turns (source (ewadd (ewadd ?x ?y) ?z)) (target (sub ?x (sub (sub ?x ?y) (ewadd ?z ?x)))))"
     "(rule moves (source (relu (transpose :perm 1 0 ?x))) (target (transpose :perm 1 0 (relu ?x))))",
     "",
     {RULE_ONLY_COSTS, RULE_ONLY_MOVES}},
    // Any two sums match; and a tensor that is read four times.
    {"(rule strangers (source (relu ?x) (relu ?y)) (target (split0 0 (relu (concat 0 ?x ?y))) (split1 0 (relu (concat "
     "0 ?x ?y)))))"
     "(rule chance (source (ewadd (ewadd ?x ?x) (relu ?x))) (target (ewadd ?x (ewadd ?x (relu ?x)))))",
     "",
     {RULE_IS_APART, RULE_IS_A_COINCIDENCE}},
    // An operator that only rules make has to be made by one.
    {"(rule enlarged (source (conv :pad 1 1 1 1 ?x (enlarge :kernel 3 3 ?y))) (target (conv ?x ?y)) (where (= (dim ?y "
     "2) 1) (= (dim ?y 3) 1)))",
     "",
     {RULE_NEVER_MATCHES}},
    // Two steps of another rule.
    {TWICE
     "(rule four (source (transpose :perm 1 0 (transpose :perm 1 0 (transpose :perm 1 0 (transpose :perm 1 0 ?x)))))"
     " (target ?x))" MERGES,
     "",
     {RULE_IS_KEPT, RULE_IS_DERIVED, RULE_IS_KEPT}},
    // Of two that say the same the general one stays, also when somebody wrote it; what moves stays when it was
    // written.
    {"(rule special (source (concat 0 (relu ?x) (relu ?y))) (target (relu (concat 0 ?x ?y))))",
     "(rule general (source (concat $i (relu ?x) (relu ?y))) (target (relu (concat $i ?x ?y))))"
     "(rule moves (source (relu (transpose :perm 1 0 ?x))) (target (transpose :perm 1 0 (relu ?x))))",
     {RULE_IS_DERIVED, RULE_IS_KEPT, RULE_IS_KEPT}},
    // A written rule stays, also when it follows from others or nothing makes what it matches.
    {TWICE,
     "(rule four (source (transpose :perm 1 0 (transpose :perm 1 0 (transpose :perm 1 0 (transpose :perm 1 0 ?x)))))"
     " (target ?x))"
     "(rule enlarged (source (conv :pad 1 1 1 1 ?x (enlarge :kernel 3 3 ?y))) (target (conv ?x ?y)))",
     {RULE_IS_KEPT, RULE_IS_KEPT, RULE_IS_KEPT}},
    // One that was only tested does not stand for one that is proved, and the other way round it does.
    {"(rule special (source (concat 0 (relu ?x) (relu ?y))) (target (relu (concat 0 ?x ?y)))" PROVED ")",
     "(rule general (source (concat $i (relu ?x) (relu ?y))) (target (relu (concat $i ?x ?y)))" TESTED ")",
     {RULE_IS_KEPT, RULE_IS_KEPT}},
    {"(rule special (source (concat 0 (relu ?x) (relu ?y))) (target (relu (concat 0 ?x ?y)))" TESTED ")",
     "(rule general (source (concat $i (relu ?x) (relu ?y))) (target (relu (concat $i ?x ?y)))" PROVED ")",
     {RULE_IS_DERIVED, RULE_IS_KEPT}},
};

static void check_case(const struct expected *expected, void (*make)(struct selection *s, const struct rule_set *set))
{
    ARENA(arena);
    RULES(set, &arena, expected->text);
    struct selection s FREED_BY(selection_free) = {.n_generated = set.rules.count,
                                                   .max_coincidences = 1,
                                                   .max_steps = 3,
                                                   .max_graphs = 300,
                                                   .max_operators = 3,
                                                   .threads = 1,
                                                   .arena = &arena};
    parse_rules(&set, &arena, expected->written);
    make(&s, &set);
    for (size_t j = 0; j < set.rules.count; j++)
        if (s.uses[j] != expected->uses[j])
            fail_msg("%s: %s, expected %s", set.rules.items[j]->name, rule_use_name(s.uses[j]),
                     rule_use_name(expected->uses[j]));
}

TEST_OF_EACH(chooses_what_helps, row, cases)
{
    check_case(row, selection_make);
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

#define MOVES "(rule moves (source (relu (transpose :perm 1 0 ?x))) (target (transpose :perm 1 0 (relu ?x))))"
#define MOVES_BACK "(rule back (source (transpose :perm 1 0 (relu ?x))) (target (relu (transpose :perm 1 0 ?x))))"
#define TURNED "(transpose :perm 1 0 (relu (transpose :perm 1 0 ?x)))"

static const struct expected cases_for_egraphs[] = {
    // Both directions of a move stay; what three of them make of each other goes, in either place.
    {MOVES MOVES_BACK TWICE "(rule around (source (relu " TURNED ")) (target (relu ?x)))",
     "",
     {RULE_IS_KEPT, RULE_IS_KEPT, RULE_IS_KEPT, RULE_IS_LARGE}},
    {MERGES "(rule again (source (relu (relu (transpose :perm 1 0 ?x)))) (target (relu (transpose :perm 1 0 ?x))))",
     "",
     {RULE_IS_KEPT, RULE_IS_DERIVED}},
    // By two others that meet: neither leads to the target alone.
    {MERGES MOVES
     "(rule meets (source (relu (relu (transpose :perm 1 0 ?x)))) (target (transpose :perm 1 0 (relu ?x))))",
     "",
     {RULE_IS_KEPT, RULE_IS_KEPT, RULE_IS_DERIVED}},
    // A written rule stays.
    {MERGES,
     "(rule again (source (relu (relu (transpose :perm 1 0 ?x)))) (target (relu (transpose :perm 1 0 ?x))))",
     {RULE_IS_KEPT, RULE_IS_KEPT}},
    // A law for weights as the model has them derives none for weights that are computed.
    {"(rule given (source (transpose :perm 1 0 (transpose :perm 1 0 ?x))) (target ?x) (where (given ?x)))"
     "(rule computed (source (transpose :perm 1 0 (transpose :perm 1 0 ?x))) (target ?x) (where (weight ?x)))",
     "",
     {RULE_IS_KEPT, RULE_IS_KEPT}},
    // One that was only tested does not stand for one that is proved.
    {"(rule tested (source (concat $i (relu ?x) (relu ?y))) (target (relu (concat $i ?x ?y)))" TESTED ")"
     "(rule proved (source (concat 0 (relu ?x) (relu ?y))) (target (relu (concat 0 ?x ?y)))" PROVED ")",
     "",
     {RULE_IS_KEPT, RULE_IS_KEPT}},
};

TEST_OF_EACH(chooses_for_egraphs, row, cases_for_egraphs)
{
    check_case(row, selection_make_for_egraph);
}
