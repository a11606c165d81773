// A graph as one expression has the entries that its operators give one after the other, over the prime
// field and over integers, and its text is taken back; what is equal by the normal form is one scope.
#include "expressions/definition_parse.h"
#include "expressions/definition_print.h"
#include "expressions/evaluation/evaluate.h"
#include "expressions/evaluation/evaluate_entry.h"
#include "expressions/field.h"
#include "graph/compose.h"
#include "graph/graph_whole.h"
#include "substitutions/rule.h"
#include "tests/support/parse_graph.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"

#define KEY 17
#define MOST_OPERATIONS 3e5   // of an expression that is evaluated
enum { LEAVES = 10, STEPS = 10, SEEDS = 150 };

// --- one operator after the other ------------------------------------------------------------------------------------

// Of every tensor of the graph.
struct values {
    uint64_t **field;
    int64_t **integers;
};

static void fill_leaf(const struct graph *g, tensor_id t, struct random *random, struct values *v)
{
    for (int64_t i = 0; i < type_elements(graph_type(g, t)); i++) {
        v->integers[t][i] = (int64_t)random_below(random, 9) - 4;
        v->field[t][i] = random_below(random, 3) ? field_reduce(random_next(random)) : random_below(random, 5);
    }
}

static void evaluate_node(const struct graph *g, node_id n, struct values *v, struct arena *a)
{
    const struct node *node = &g->nodes.items[n];
    struct definition d FREED_BY(definition_free);
    const uint64_t **of_field = arena_array(a, const uint64_t *, node->n_inputs + 1);
    const int64_t **of_integers = arena_array(a, const int64_t *, node->n_inputs + 1);
    for (uint32_t i = 0; i < node->n_inputs; i++) {
        of_field[i] = v->field[graph_inputs(g, n)[i]];
        of_integers[i] = v->integers[graph_inputs(g, n)[i]];
    }
    assert_true(graph_define(g, n, &d, a));
    evaluate_field(&d, KEY, of_field, v->field + node->first_output, a);
    evaluate_i64(&d, of_integers, v->integers + node->first_output, a);
}

static struct values evaluate_graph(const struct graph *g, struct random *random, struct arena *a)
{
    struct values v = {arena_array(a, uint64_t *, g->tensors.count), arena_array(a, int64_t *, g->tensors.count)};
    for (tensor_id t = 0; t < g->tensors.count; t++) {
        v.field[t] = arena_array(a, uint64_t, type_elements(graph_type(g, t)) + 1);
        v.integers[t] = arena_array(a, int64_t, type_elements(graph_type(g, t)) + 1);
    }
    for (node_id n = 0; n < g->nodes.count; n++)
        if (g->nodes.items[n].op->flags & OPERATOR_IS_LEAF)
            fill_leaf(g, g->nodes.items[n].first_output, random, &v);
        else
            evaluate_node(g, n, &v, a);
    return v;
}

// --- one expression --------------------------------------------------------------------------------------------------

static int64_t place_of(const struct type *type, const int64_t *index)
{
    int64_t place = 0;
    for (int axis = 0; axis < type->rank; axis++)
        place = place * type->dim[axis] + index[axis];
    return place;
}

struct reader {
    const struct definition *d;
    const struct values *values;
};

static uint64_t read_entry(void *context, int input, const int64_t *index)
{
    const struct reader *r = context;
    return r->values->field[input][place_of(&r->d->inputs[input], index)];
}

static void expect_entries(const struct definition *d, const struct values *v, tensor_id t)
{
    const struct type *type = definition_output(d, 0);
    struct reader r = {d, v};
    int64_t index[MAX_RANK] = {0};
    for (int64_t place = 0; place < type_elements(type); place++) {
        assert_true(evaluate_field_entry(d, KEY, 0, index, read_entry, &r) == v->field[t][place]);
        for (int axis = type->rank; axis-- > 0 && ++index[axis] == type->dim[axis];)
            index[axis] = 0;
    }
}

static void expect_values(const struct definition *d, const struct values *v, tensor_id t, struct arena *a)
{
    size_t n = (size_t)type_elements(definition_output(d, 0));
    uint64_t *field = arena_array(a, uint64_t, n + 1);
    int64_t *integers = arena_array(a, int64_t, n + 1);
    evaluate_field(d, KEY, (const uint64_t *const *)v->field, &field, a);
    evaluate_i64(d, (const int64_t *const *)v->integers, &integers, a);
    assert_memory_equal(field, v->field[t], n * sizeof *field);
    assert_memory_equal(integers, v->integers[t], n * sizeof *integers);
    expect_entries(d, v, t);
}

static void expect_same_text(const struct definition *d, const struct values *v, tensor_id t, struct arena *a)
{
    struct text text = {0}, text_again = {0};
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
    text_free(&text);
    text_free(&text_again);
}

// The first tensors of the graph are its leaves, in order.
static int compare_tensors(const struct graph *g, const struct values *v, struct arena *a)
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
    struct rule_set rules FREED_BY(rule_set_free);
    int n_compared = 0;
    read_rules(&rules, &a, getenv("TASO_RULES"));
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct random random = random_seed(seed);
        struct arena_mark mark = arena_mark(&a);
        struct graph g FREED_BY(graph_free);
        graph_init(&g, &a);
        random_graph_fill(&g, &rules, &random, STEPS);
        struct values v = evaluate_graph(&g, &random, &a);
        n_compared += compare_tensors(&g, &v, &a);
        arena_release(&a, mark);
    }
    assert_true(n_compared > 3 * SEEDS);
}

// --- normal form -----------------------------------------------------------------------------------------------------

// Graphs of two outputs; what the first one is as an expression, and whether the second one is it, too.
static const struct {
    const char *lets, *first, *second, *expression;
    bool are_one;
} pairs[] = {
    {"(let t0 (input 0) (f32 2 3)) (let t1 (transpose :perm 1 0 t0)) (let t2 (transpose :perm 1 0 t1))", "t2", "t0",
     "z[i,j] f32[2,3] = x0[i,j]\n", true},
    {"(let t0 (input 0) (f32 2 3 4)) (let t1 (reshape :shape 6 4 t0)) (let t2 (reshape :shape 24 t1))"
     " (let t3 (reshape :shape 2 3 4 t2))",
     "t3", "t0", "z[i,j,k] f32[2,3,4] = x0[i,j,k]\n", true},
    {"(let t0 (input 0) (f32 2 3 4)) (let t1 (reshape :shape 6 4 t0)) (let t2 (reshape :shape 24 t1))"
     " (let t3 (reshape :shape 24 t0))",
     "t2", "t3", "z[i] f32[24] = x0[i / 12,(i / 4) mod 3,i mod 4]\n", true},
    {"(let t0 (input 0) (f32 2 3)) (let t1 (input 1) (f32 3 4)) (let t2 (matmul t0 t1))"
     " (let t3 (transpose :perm 1 0 t2)) (let t4 (transpose :perm 1 0 t0)) (let t5 (transpose :perm 1 0 t1))"
     " (let t6 (matmul t5 t4))",
     "t3", "t6", "z[i,j] f32[4,2] = sum(k < 3) (x0[j,k] * x1[k,i])\n", true},
    {"(let t0 (input 0) (f32 2 3)) (let t1 (input 1) (f32 2 3)) (let t2 (concat 0 t0 t1))"
     " (let (t3 t4) (split 0 :sizes 2 2 t2))",
     "t3", "t0", "z[i,j] f32[2,3] = x0[i,j]\n", true},
    {"(let t0 (input 0) (f32 2 3)) (let t1 (input 1) (f32 2 3)) (let t2 (concat 0 t0 t1))"
     " (let (t3 t4) (split 0 :sizes 2 2 t2))",
     "t4", "t0", "z[i,j] f32[2,3] = x1[i,j]\n", false},
    {"(let t0 (input 0) (f32 2 3)) (let t1 (relu t0)) (let t2 (transpose :perm 1 0 t1))"
     " (let t3 (transpose :perm 1 0 t0)) (let t4 (relu t3))",
     "t2", "t4", "z[i,j] f32[3,2] = relu(x0[j,i])\n", true},
    {"(let t0 (input 0) (f32 2 3)) (let t1 (pad :pads 0 1 0 1 t0)) (let t2 (slice :start 0 1 :size 2 3 t1))", "t2",
     "t0", "z[i,j] f32[2,3] = x0[i,j]\n", true},
    {"(let t0 (input 0) (f32 2 3)) (let t1 (relu t0)) (let t2 (pad :pads 0 0 0 1 t1)) (let t3 (pad :pads 0 0 0 1 t0))"
     " (let t4 (relu t3))",
     "t2", "t4", "", false},
};

static void read_graph(struct graph *g, struct arena *a, size_t pair)
{
    char text[1000];
    snprintf(text, sizeof text, "(graph %s (output %s %s))", pairs[pair].lets, pairs[pair].first, pairs[pair].second);
    parse_graph(g, a, text);
}

static void expect_text(const struct composition *c, int scope, const char *expected)
{
    struct definition d FREED_BY(definition_free);
    TEXT(text);
    composition_extract(c, scope, &d);
    definition_print_typed(&text, &d);
    if (!strstr(text.chars, expected))
        fail_msg("%s is not %s", text.chars, expected);
}

TEST(normal_forms_of_what_is_equal_are_one)
{
    for (size_t i = 0; i < COUNT_OF(pairs); i++) {
        ARENA(a);
        struct type types[2];
        int tensors[20], n = 0;
        struct graph g FREED_BY(graph_free);
        read_graph(&g, &a, i);
        for (node_id k = 0; k < g.nodes.count; k++)
            if (g.nodes.items[k].op->flags & OPERATOR_IS_LEAF)
                types[n++] = *graph_type(&g, g.nodes.items[k].first_output);
        struct composition c FREED_BY(composition_free);
        composition_init(&c, &a, n, types);
        assert_true(graph_compose(&g, &c, tensors));
        int first = composition_scope_of(&c, tensors[g.outputs.items[0]]);
        int second = composition_scope_of(&c, tensors[g.outputs.items[1]]);
        if ((first == second) != pairs[i].are_one)
            fail_msg("pair %zu: %d %d", i, first, second);
        expect_text(&c, first, pairs[i].expression);
    }
}
