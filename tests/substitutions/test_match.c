// Matching: what a split cuts, and what is known of axes beside the rule.
#include "substitutions/match_index.h"
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"

struct fixture {
    struct arena arena, scratch;
    struct graph g;
    int n_matches;
    struct match last;
    bool is_applied;   // the last match
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){0};
    graph_init(&f->g, &f->arena);
}

static void tear_down(struct fixture *f)
{
    graph_free(&f->g);
    arena_free(&f->scratch);
    arena_free(&f->arena);
}

static tensor_id leaf(struct fixture *f, int64_t index, int64_t rows)
{
    struct type t = type_make(DTYPE_F32, 2, (const int64_t[]){rows, 3});
    return graph_add_leaf(&f->g, operators[OP_INPUT], index, &t);
}

static tensor_id add(struct fixture *f, enum operator_id op, const struct attribute_value *attributes, uint32_t n,
                     const tensor_id *inputs, uint32_t output)
{
    node_id node;
    assert_true(graph_add(&f->g, operators[op], attributes, n, inputs, &node));
    return graph_output_of(&f->g, node, output);
}

static bool note_match(void *context, const struct match *m)
{
    struct fixture *f = context;
    f->n_matches++;
    f->last = *m;
    return true;
}

static void try_to_apply(struct fixture *f)
{
    tensor_id before[MAX_RULE_OUTPUTS], after[MAX_RULE_OUTPUTS];
    struct graph_mark mark = graph_mark(&f->g);
    f->is_applied = match_apply(&f->last, &f->g, &f->scratch, before, after);
    graph_rollback(&f->g, mark);
}

static int count_matches(struct fixture *f, const char *text)
{
    struct rule *rule = parse_rule(&f->arena, text);
    vec_clear(&f->g.outputs);
    for (tensor_id t = 0; t < f->g.tensors.count; t++)
        graph_add_output(&f->g, t);
    struct match_index index FREED_BY(match_index_free);
    match_index_init(&index, &f->g);
    f->n_matches = 0;
    rule_match(rule, &index, NO_NODE, &f->scratch, note_match, f);
    if (f->n_matches)
        try_to_apply(f);
    rule_free(rule);
    return f->n_matches;
}

// The sizes of a split that names none are those of the concatenation that it is matched with, and not of what it
// reads.
TEST(splits_what_was_matched)
{
    FIXTURE(&f);
    const int64_t axis = 0, sizes[2] = {2, 4};
    const struct attribute_value of_concat[] = {{1, &axis}}, of_split[] = {{1, &axis}, {2, sizes}};
    tensor_id even[2] = {leaf(&f, 0, 3), leaf(&f, 1, 3)}, uneven[2] = {leaf(&f, 2, 2), leaf(&f, 3, 4)};
    add(&f, OP_CONCAT, of_concat, 2, even, 0);
    tensor_id b = add(&f, OP_CONCAT, of_concat, 2, uneven, 0);
    add(&f, OP_SPLIT, of_split, 1, &b, 0);
    const char *rule = "(rule a (source (relu (split0 0 (concat 0 ?x ?y)))) (target (relu ?x)))";
    tensor_id cut = graph_output_of(&f.g, (node_id)f.g.nodes.count - 1, 0);
    add(&f, OP_RELU, NULL, 1, &cut, 0);
    assert_int_equal(count_matches(&f, rule), 1);
    assert_int_equal(f.last.variables[0], uneven[0]);
}

// Rules are proved for inputs whose axes remember no concatenation: what one outside of the rule says of them must not
// count, be it in the source or in the target.
TEST(knows_no_cuts_but_those_of_the_rule)
{
    FIXTURE(&f);
    const int64_t axis = 0, sizes[2] = {2, 4};
    const struct attribute_value of_concat[] = {{1, &axis}}, of_split[] = {{1, &axis}, {2, sizes}};
    tensor_id inputs[2] = {leaf(&f, 0, 2), leaf(&f, 1, 4)};
    tensor_id x = add(&f, OP_CONCAT, of_concat, 2, inputs, 0);
    tensor_id part = add(&f, OP_SPLIT, of_split, 1, &x, 0);
    add(&f, OP_RELU, NULL, 1, &part, 0);
    assert_non_null(graph_type(&f.g, x)->split[0]);
    assert_int_equal(count_matches(&f, "(rule a (source (relu (split0 0 ?x))) (target (split0 0 (relu ?x))))"), 0);
    assert_int_equal(count_matches(&f, "(rule a (source (relu (split0 0 :sizes 2 4 ?x)))"
                                       " (target (split0 0 :sizes 2 4 (relu ?x))))"),
                     1);
    assert_true(f.is_applied);
    assert_int_equal(count_matches(&f, "(rule a (source (relu (split0 0 :sizes 2 4 ?x)))"
                                       " (target (split0 0 (relu ?x))))"),
                     1);
    assert_false(f.is_applied);
    assert_int_equal(count_matches(&f, "(rule a (source (relu (split0 0 (concat 0 ?x ?y)))) (target (relu ?x)))"), 1);
    assert_true(f.is_applied);
}

// A node both of whose inputs could be the one that is next to what is bound.
TEST(visits_a_match_once)
{
    FIXTURE(&f);
    const int64_t axis = 0;
    const struct attribute_value of_concat[] = {{1, &axis}};
    tensor_id y = leaf(&f, 0, 2), first[2] = {y, leaf(&f, 1, 4)}, second[2] = {y, leaf(&f, 2, 4)};
    tensor_id both[2] = {add(&f, OP_CONCAT, of_concat, 2, first, 0), add(&f, OP_CONCAT, of_concat, 2, second, 0)};
    add(&f, OP_RELU, NULL, 1, &y, 0);
    add(&f, OP_SUB, NULL, 2, both, 0);
    assert_int_equal(count_matches(&f, "(rule a (source (relu ?y) (sub ?z (concat 0 ?y ?w)))"
                                       " (target (relu (relu ?y)) (sub ?z (concat 0 ?y ?w))))"),
                     1);
}

// Proved of real numbers: below a cast of integers nothing is put in that computes, while what moves them is.
TEST(computes_no_integers)
{
    struct fixture f FREED_BY(tear_down);
    set_up(&f);
    const int64_t to = DTYPE_F32;
    const struct attribute_value of_cast[] = {{1, &to}};
    const char *computed = "(rule a (source (cast :to f32 ?x)) (target (cast :to f32 (sub (ewadd ?x ?x) ?x))))";
    const char *moved = "(rule a (source (cast :to f32 ?x))"
                        " (target (cast :to f32 (transpose :perm 1 0 (transpose :perm 1 0 ?x)))))";
    struct type t = type_make(DTYPE_I64, 2, (const int64_t[]){2, 3});
    tensor_id of_integers = graph_add_leaf(&f.g, operators[OP_INPUT], 0, &t);
    add(&f, OP_CAST, of_cast, 1, &of_integers, 0);
    assert_int_equal(count_matches(&f, computed), 1);
    assert_false(f.is_applied);
    assert_int_equal(count_matches(&f, moved), 1);
    assert_true(f.is_applied);
    tear_down(&f);
    set_up(&f);
    tensor_id of_reals = leaf(&f, 0, 2);
    add(&f, OP_CAST, of_cast, 1, &of_reals, 0);
    assert_int_equal(count_matches(&f, computed), 1);
    assert_true(f.is_applied);
}

// The greatest of no numbers is none, which relu makes a number of.
TEST(wants_entries)
{
    const char *rule = "(rule a (source (max (relu (reducemax :axes 0 ?x)) (reducemax :axes 0 ?y)))"
                       " (target (max (reducemax :axes 0 (relu ?x)) (reducemax :axes 0 ?y))))";
    const int64_t axis = 0, keepdims = 1;
    const struct attribute_value of_reduce[] = {{1, &axis}, {1, &keepdims}};
    for (int64_t rows = 0; rows < 3; rows++) {
        struct fixture f;
        set_up(&f);
        tensor_id x = leaf(&f, 0, rows), y = leaf(&f, 1, 2);
        tensor_id of_x = add(&f, OP_REDUCEMAX, of_reduce, 1, &x, 0), of_y = add(&f, OP_REDUCEMAX, of_reduce, 1, &y, 0);
        tensor_id both[2] = {add(&f, OP_RELU, NULL, 1, &of_x, 0), of_y};
        add(&f, OP_MAX, NULL, 2, both, 0);
        count_matches(&f, rule);
        assert_int_equal(f.is_applied, rows > 0);
        tear_down(&f);
    }
}
