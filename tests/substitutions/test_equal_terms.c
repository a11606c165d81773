// Matching where tensors are known to be equal: a term is any of them, as it is where it stands.
#include "core/memory/arena.h"
#include "core/text/error.h"
#include "core/text/sexp.h"
#include "substitutions/match.h"
#include "tests/support/check.h"
#include <string.h>

struct fixture {
    struct arena arena, scratch;
    struct graph g;
    tensor_id class_of[64], next_equal[64];
    int n_matches;
    struct match last;
    bool is_applied;   // the last match
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){0};
    arena_init(&f->arena);
    arena_init(&f->scratch);
    graph_init(&f->g, &f->arena);
    for (tensor_id t = 0; t < 64; t++)
        f->class_of[t] = f->next_equal[t] = t;
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

// Two tensors that are alone so far.
static void join(struct fixture *f, tensor_id a, tensor_id b)
{
    f->class_of[b] = f->class_of[a];
    f->next_equal[a] = b;
    f->next_equal[b] = a;
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
    const struct sexp *list;
    struct rule *rule;
    struct error error = {0};
    struct match_index index;
    assert_true(sexp_parse(&f->arena, "test", text, strlen(text), &list, &error));
    if (!rule_parse(&list->items[0], "test", &f->arena, &rule, &error))
        fail_msg("%s", error.message);
    vec_clear(&f->g.outputs);
    for (tensor_id t = 0; t < f->g.tensors.count; t++)
        graph_add_output(&f->g, t);
    match_index_init(&index, &f->g);
    index.class_of = f->class_of;
    index.next_equal = f->next_equal;
    f->n_matches = 0;
    rule_match(rule, &index, NO_NODE, &f->scratch, note_match, f);
    match_index_free(&index);
    if (f->n_matches)
        try_to_apply(f);
    rule_free(rule);
    return f->n_matches;
}

static void goes_through_equal_tensors(void **state)
{
    struct fixture f;
    set_up(&f);
    tensor_id x = leaf(&f, 0, 4), y = leaf(&f, 1, 4);
    tensor_id r = add(&f, OP_RELU, NULL, 1, &x, 0);
    add(&f, OP_TANH, NULL, 1, &y, 0);
    const char *rule = "(rule a (source (tanh (relu ?x))) (target (relu (tanh ?x))))";
    assert_int_equal(count_matches(&f, rule), 0);
    join(&f, r, y);
    assert_int_equal(count_matches(&f, rule), 1);
    assert_int_equal(f.last.variables[0], x);
    tear_down(&f);
}

static void takes_equal_tensors_for_one_variable(void **state)
{
    struct fixture f;
    set_up(&f);
    tensor_id both[2] = {leaf(&f, 0, 4), leaf(&f, 1, 4)};
    add(&f, OP_EWADD, NULL, 2, both, 0);
    const char *rule = "(rule a (source (ewadd ?x ?x)) (target ?x))";
    assert_int_equal(count_matches(&f, rule), 0);
    join(&f, both[0], both[1]);
    assert_true(count_matches(&f, rule) > 0);
    tear_down(&f);
}

// The sizes of a split that names none are those of the concatenation that it is matched with, and not of what it
// reads.
static void splits_what_was_matched(void **state)
{
    struct fixture f;
    set_up(&f);
    const int64_t axis = 0, sizes[2] = {2, 4};
    const struct attribute_value of_concat[] = {{1, &axis}}, of_split[] = {{1, &axis}, {2, sizes}};
    tensor_id even[2] = {leaf(&f, 0, 3), leaf(&f, 1, 3)}, uneven[2] = {leaf(&f, 2, 2), leaf(&f, 3, 4)};
    tensor_id a = add(&f, OP_CONCAT, of_concat, 2, even, 0), b = add(&f, OP_CONCAT, of_concat, 2, uneven, 0);
    add(&f, OP_SPLIT, of_split, 1, &b, 0);
    const char *rule = "(rule a (source (relu (split0 0 (concat 0 ?x ?y)))) (target (relu ?x)))";
    tensor_id cut = graph_output_of(&f.g, (node_id)f.g.nodes.count - 1, 0);
    add(&f, OP_RELU, NULL, 1, &cut, 0);
    assert_int_equal(count_matches(&f, rule), 1);
    assert_int_equal(f.last.variables[0], uneven[0]);
    join(&f, a, b);
    assert_int_equal(count_matches(&f, rule), 1);
    assert_int_equal(f.last.variables[0], uneven[0]);
    tear_down(&f);
}

// Rules are proved for inputs whose axes remember no concatenation: what one outside of the rule says of them must not
// count, be it in the source or in the target.
static void knows_no_cuts_but_those_of_the_rule(void **state)
{
    struct fixture f;
    set_up(&f);
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
    tear_down(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(goes_through_equal_tensors), TEST(takes_equal_tensors_for_one_variable),
                                       TEST(splits_what_was_matched), TEST(knows_no_cuts_but_those_of_the_rule)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
