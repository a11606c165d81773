// Which kinds of instances there may be, by equations of their sizes.
#include "core/memory/arena.h"
#include "core/text/text.h"
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"
#include "verifier/kinds/kind_sizes.h"

#define RANK 5

// Of tensors of rank RANK alone.
static bool may_have_instances(const char *rule)
{
    struct arena arena;
    struct learned_forms learned = {0};
    arena_init(&arena);
    struct rule *r = parse_rule(&arena, rule);
    struct equation eq = equation_of_rule(r);
    struct kind *kind = arena_new(&arena, struct kind);
    *kind = (struct kind){.eq = &eq, .arena = &arena, .max_rank = RANK, .learned = &learned};
    kind->typed = ((node_set)1 << eq.pattern->nodes.count) - 1;
    for (uint32_t v = 0; v < eq.pattern->n_variables; v++) {
        kind->types[v] = (struct type){.dtype = DTYPE_F32, .rank = RANK};
        kind->type_of[v] = &kind->types[v];
    }
    bool may_have = kind_may_have_instances(kind);
    learned_forms_free(&learned);
    rule_free(r);
    arena_free(&arena);
    return may_have;
}

// Each pooling makes three sizes of its own.
static bool poolings_may_have_instances(int n_poolings, const char *to, const char *condition)
{
    struct text text = {0};
    text_add(&text, "(rule r (source (ewadd ?y ");
    for (int i = 0; i < n_poolings; i++)
        text_add(&text, "(poolmax :kernel 2 2 2 ");
    text_add(&text, "?x");
    for (int i = 0; i < n_poolings; i++)
        text_add(&text, ")");
    text_printf(&text, ")) (target %s) %s)", to, condition);
    bool may_have = may_have_instances(text.chars);
    text_free(&text);
    return may_have;
}

static void knows_sizes_that_do_not_go_together(void **state)
{
    assert_true(poolings_may_have_instances(2, "(relu ?y)", ""));
    assert_true(poolings_may_have_instances(2, "(relu ?y)", "(where (= (dim ?y 1) 7) (= (dim ?x 1) 7))"));
    assert_false(poolings_may_have_instances(2, "(relu ?y)", "(where (= (dim ?y 1) 7) (= (dim ?x 1) 8))"));
    assert_false(poolings_may_have_instances(2, "(relu (concat 1 ?x ?y))", "(where (= (dim ?x 1) (+ (dim ?y 1) 1)))"));
}

// Of some of so many nothing is known, so nothing is said.
static void says_nothing_of_more_sizes_than_it_has_room_for(void **state)
{
    assert_true(poolings_may_have_instances(30, "(relu ?y)", ""));
    assert_true(poolings_may_have_instances(44, "(relu ?y)", ""));
}

RUN_TESTS(TEST(knows_sizes_that_do_not_go_together), TEST(says_nothing_of_more_sizes_than_it_has_room_for))
