// Matching: what a split cuts, and what is known of axes beside the rule.
#include "substitutions/match_index.h"
#include "tests/support/cases.h"
#include "tests/support/parse_graph.h"
#include "tests/support/parse_rules.h"

struct found {
    struct graph g;   // all of whose tensors are outputs
    struct arena arena;
    int n_matches;
    struct match last;
    bool is_applied;   // the last match
};

static bool note_match(void *context, const struct match *m)
{
    struct found *f = context;
    f->n_matches++;
    f->last = *m;
    return true;
}

static void find(struct found *f, const char *graph, const char *text)
{
    tensor_id before[MAX_RULE_OUTPUTS], after[MAX_RULE_OUTPUTS];
    ARENA(scratch);
    *f = (struct found){.n_matches = 0};
    parse_graph(&f->g, &f->arena, graph);
    struct rule *rule = parse_rule(&f->arena, text);
    vec_clear(&f->g.outputs);
    for (tensor_id t = 0; t < f->g.tensors.count; t++)
        graph_add_output(&f->g, t);
    struct match_index index FREED_BY(match_index_free);
    match_index_init(&index, &f->g);
    rule_match(rule, &index, NO_NODE, &f->arena, note_match, f);
    f->is_applied = f->n_matches && match_apply(&f->last, &f->g, &scratch, before, after);
    rule_free(rule);
}

static void found_free(struct found *f)
{
    graph_free(&f->g);
    arena_free(&f->arena);
}

TEST_OF_CASES(matches_and_applies, c, "substitutions/match.cases")
{
    struct found f FREED_BY(found_free);
    ARENA(a);
    find(&f, c->items[0].text, text_of_items(&a, c, 3));
    assert_int_equal(f.n_matches, c->items[1].integer);
    assert_int_equal(f.is_applied, sexp_is_symbol(&c->items[2], "applied"));
}

// The sizes of a split that names none are those of the concatenation that it is matched with, and not of what it
// reads.
TEST(splits_what_was_matched)
{
    struct found f FREED_BY(found_free);
    find(&f,
         "a b = f32 3 3; x = f32 2 3; y = f32 4 3; c = concat 0 a b; d = concat 0 x y; e g = split 0 :sizes 2 4 d; "
         "r = relu e",
         "(rule a (source (relu (split0 0 (concat 0 ?x ?y)))) (target (relu ?x)))");
    assert_non_null(graph_type(&f.g, 5)->split[0]);   // d
    assert_int_equal(f.n_matches, 1);
    assert_int_equal(f.last.variables[0], 2);   // x
}
