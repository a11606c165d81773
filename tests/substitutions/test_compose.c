// A graph as one expression has the entries that its operators give one after the other, over the prime
// field and over integers, and its text is taken back; what is equal by the normal form is one scope.
#include "expressions/definition_parse.h"
#include "expressions/definition_print.h"
#include "expressions/evaluation/evaluate.h"
#include "graph/compose.h"
#include "tests/support/cases.h"
#include "tests/support/graph_values.h"
#include "tests/support/parse_graph.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"

#define MOST_OPERATIONS 3e5   // of an expression that is evaluated
enum { LEAVES = 10, STEPS = 10, SEEDS = 150 };

static void expect_values(const struct definition *d, const struct graph_entries *v, tensor_id t, struct arena *a)
{
    size_t n = (size_t)type_elements(definition_output(d, 0));
    uint64_t *field = arena_array(a, uint64_t, n + 1);
    int64_t *integers = arena_array(a, int64_t, n + 1);
    evaluate_field(d, FIELD_KEY, (const uint64_t *const *)v->field, &field, a);
    evaluate_i64(d, (const int64_t *const *)v->integers, &integers, a);
    assert_memory_equal(field, v->field[t], n * sizeof *field);
    assert_memory_equal(integers, v->integers[t], n * sizeof *integers);
    assert_int_equal(find_other_entry(d, 0, (const uint64_t *const *)v->field, v->field[t]), -1);
}

static void expect_same_text(const struct definition *d, const struct graph_entries *v, tensor_id t, struct arena *a)
{
    TEXT(text);
    TEXT(text_again);
    struct definition again;
    struct error error;
    definition_print_typed(&text, d);
    if (!definition_parse(a, "text", text.chars, text.count, &again, &error)) {
        if (strcmp(error.message, "nested too deeply") != 0)
            fail_msg("%u:%u: %s\n%s", error.line, error.column, error.message, text.chars);
    } else {
        definition_print_typed(&text_again, &again);
        assert_string_equal(text_again.chars, text.chars);
        expect_values(&again, v, t, a);
        definition_free(&again);
    }
}

// The first tensors of the graph are its leaves, in order.
static int compare_tensors(const struct graph *g, const struct graph_entries *v, struct arena *a)
{
    struct type types[LEAVES];
    int *tensors = arena_array(a, int, g->tensors.count), n_compared = 0;
    for (int i = 0; i < LEAVES; i++)
        types[i] = *graph_type(g, (tensor_id)i);
    struct composition c FREED_BY(composition_free);
    composition_init(&c, a, LEAVES, types);
    assert_true(graph_compose(g, &c, tensors));
    for (size_t i = 0; i < g->outputs.count; i++) {
        tensor_id t = g->outputs.items[i];
        struct definition d FREED_BY(definition_free);
        composition_extract(&c, composition_scope_of(&c, tensors[t]), &d);
        assert_true(type_equal_shape(definition_output(&d, 0), graph_type(g, t)));
        if (definition_flops(&d) < MOST_OPERATIONS) {
            expect_values(&d, v, t, a);
            expect_same_text(&d, v, t, a);
            n_compared++;
        }
    }
    return n_compared;
}

TEST(graphs_are_one_expression)
{
    ARENA(a);
    int n_compared = 0;
    RULES_OF(rules, &a, getenv("TASO_RULES"));
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random random = random_seed(seed);
        ARENA_MARK(mark, &a);
        struct graph g FREED_BY(graph_free);
        graph_init(&g, &a);
        random_graph_fill(&g, &rules, &random, STEPS);
        struct graph_entries v = graph_entries_of(&g, seed, ENTRIES_AND_INTEGERS, &a);
        n_compared += compare_tensors(&g, &v, &a);
    }
    assert_true(n_compared > 3 * SEEDS);
}

// --- normal form -----------------------------------------------------------------------------------------------------

static void expect_text(const struct composition *c, int scope, const char *expected)
{
    struct definition d FREED_BY(definition_free);
    TEXT(text);
    composition_extract(c, scope, &d);
    definition_print_typed(&text, &d);
    if (!strstr(text.chars, expected))
        fail_msg("%s is not %s", text.chars, expected);
}

TEST_OF_CASES(normal_forms_of_what_is_equal_are_one, pair, "substitutions/compose.cases")
{
    ARENA(a);
    struct type types[2];
    int tensors[20], n = 0;
    GRAPH(g, &a, pair->items[1].text);
    for (node_id k = 0; k < g.nodes.count; k++)
        if (g.nodes.items[k].op->flags & OPERATOR_IS_LEAF)
            types[n++] = *graph_type(&g, g.nodes.items[k].first_output);
    struct composition c FREED_BY(composition_free);
    composition_init(&c, &a, n, types);
    assert_true(graph_compose(&g, &c, tensors));
    int first = composition_scope_of(&c, tensors[g.outputs.items[0]]);
    int second = composition_scope_of(&c, tensors[g.outputs.items[1]]);
    assert_int_equal(first == second, sexp_is_call(pair, "equal"));
    expect_text(&c, first, pair->items[2].text);
}
