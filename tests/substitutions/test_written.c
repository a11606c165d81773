// Every rule that the generator did not find, applied wherever it matches in graphs of random sizes: the outputs must not change,
// over the prime field and over doubles.
#include "core/system/file.h"
#include "graph/graph_whole.h"
#include "graph/text.h"
#include "substitutions/match_index.h"
#include "tests/support/cases.h"
#include "tests/support/graph_check.h"
#include "tests/support/graph_values.h"
#include "tests/support/parse_rules.h"
#include <ctype.h>

#define ROUNDS 6

// --- instances -------------------------------------------------------------------------------------------------------

// "{a+b}" becomes the sum of the sizes that the letters stand for.
static void write_with_sizes(struct text *out, const char *chars, size_t n, const int64_t *sizes)
{
    for (size_t i = 0; i < n; i++) {
        if (chars[i] != '{') {
            text_add_n(out, &chars[i], 1);
            continue;
        }
        int64_t sum = 0;
        for (i++; chars[i] != '}'; i++)
            if (islower((unsigned char)chars[i]))
                sum += sizes[chars[i] - 'a'];
        text_printf(out, "%lld", (long long)sum);
    }
}

static const struct sexp *read_instances(struct arena *a, struct random *random)
{
    struct file_map map;
    struct error error = {0};
    TEXT(text);
    const struct sexp *list;
    int64_t sizes[26];
    for (int i = 0; i < 26; i++)
        sizes[i] = 1 + (int64_t)random_below(random, 4);
    if (!file_map_open(&map, getenv("TASO_INSTANCES"), &error))
        fail_msg("%s", error.message);
    write_with_sizes(&text, (const char *)map.bytes, map.size, sizes);
    file_map_close(&map);
    if (!sexp_parse(a, "instances", text.chars, text.count, &list, &error))
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
    return list;
}

// --- the test --------------------------------------------------------------------------------------------------------

struct checking {
    struct arena *a, *scratch;
    const struct graph *g;
    int matches;
};

static void assert_same_values(const struct graph *before, const struct graph *after, struct arena *a, const char *name)
{
    struct graph_entries x = graph_entries_of(before, 5, ENTRIES_AND_REALS, a);
    struct graph_entries y = graph_entries_of(after, 5, ENTRIES_AND_REALS, a);
    assert_int_equal(before->outputs.count, after->outputs.count);
    for (size_t output = 0; output < before->outputs.count; output++) {
        tensor_id s = before->outputs.items[output], t = after->outputs.items[output];
        assert_int_equal(type_elements(graph_type(before, s)), type_elements(graph_type(after, t)));
        for (int64_t i = 0; i < type_elements(graph_type(before, s)); i++) {
            if (x.field[s][i] != y.field[t][i])
                fail_msg("%s: entry %d differs over the field", name, (int)i);
            if (!(fabs(x.reals[s][i] - y.reals[t][i]) <= 1e-9 * (1 + fabs(x.reals[s][i]))))
                fail_msg("%s: entry %d is %g and became %g", name, (int)i, x.reals[s][i], y.reals[t][i]);
        }
    }
}

static bool check_match(void *context, const struct match *m)
{
    struct checking *c = context;
    tensor_id old[MAX_RULE_OUTPUTS], new[MAX_RULE_OUTPUTS];
    struct graph with_target, result;
    graph_copy(&with_target, c->g);
    if (match_apply(m, &with_target, c->scratch, old, new)) {
        c->matches++;
        assert_true(graph_replace(&result, &with_target, m->rule->n_outputs, old, new, NULL));
        OK(graph_check(&result, &error));
        assert_same_values(c->g, &result, c->a, m->rule->name);
        graph_free(&result);
    }
    graph_free(&with_target);
    return true;
}

static int count_matches(const struct rule *rule, const struct sexp *graph_text, struct arena *a)
{
    struct graph g FREED_BY(graph_free);
    struct error error = {0};
    struct match_index index FREED_BY(match_index_free);
    graph_init(&g, a);
    if (!graph_parse(graph_text, "instances", &g, &error))
        fail_msg("instance at line %u: %s", error.line, error.message);
    match_index_init(&index, &g);
    ARENA(scratch);
    struct checking c = {a, &scratch, &g, 0};
    rule_match(rule, &index, NO_NODE, &scratch, check_match, &c);
    return c.matches;
}

TEST(keeps_all_values)
{
    struct random random = random_seed(42);
    for (int round = 0; round < ROUNDS; round++) {
        ARENA(a);
        RULES_OF(rules, &a, getenv("TASO_RULES"));
        const struct sexp *instances = read_instances(&a, &random);
        for (size_t i = 0; i < rules.rules.count; i++) {
            int n_instances = 0;
            if (rule_is_generated(rules.rules.items[i]))
                continue;
            for (size_t j = 0; j < instances->count; j++) {
                const struct sexp *instance = &instances->items[j];
                if (!sexp_is_symbol(&instance->items[0], rules.rules.items[i]->name))
                    continue;
                n_instances++;
                int matches = count_matches(rules.rules.items[i], &instance->items[2], &a);
                if (matches < instance->items[1].integer)
                    fail_msg("round %d: %s applies %d times at line %u", round, rules.rules.items[i]->name, matches,
                             instance->line);
            }
            if (n_instances == 0)
                fail_msg("%s has no instance", rules.rules.items[i]->name);
        }
    }
}

TEST(prints_what_it_reads)
{
    ARENA(a);
    RULES_OF(rules, &a, getenv("TASO_RULES"));
    for (size_t i = 0; i < rules.rules.count; i++) {
        struct text once = {0}, twice = {0};
        rule_print(&once, rules.rules.items[i]);
        struct rule *again = parse_rule(&a, once.chars);
        rule_print(&twice, again);
        assert_string_equal(once.chars, twice.chars);
        rule_free(again);
        text_free(&once);
        text_free(&twice);
    }
}

// A rule, and what stands behind it in the text.
struct example {
    struct arena arena;
    const struct sexp *list;
    struct rule *rule;
};

static void example_begin(struct example *x, const char *text)
{
    arena_init(&x->arena);
    OK(sexp_parse(&x->arena, "test", text, strlen(text), &x->list, &error));
    OK(rule_parse(&x->list->items[0], "test", &x->arena, &x->rule, &error));
}

static void example_end(struct example *x)
{
    rule_free(x->rule);
    arena_free(&x->arena);
}

static int count_in_graph(struct example *x, size_t graph)
{
    return count_matches(x->rule, &x->list->items[graph], &x->arena);
}

TEST(leaves_integers_alone)
{
    static const char text[] = "(rule r (source (ewadd (ewadd ?x ?y) ?z)) (target (ewadd ?x (ewadd ?y ?z))))"
                               "(graph (let x (input 0) (i64 3)) (let y (ewadd x x)) (let z (ewadd y x)) (output z))"
                               "(graph (let x (input 0) (f32 3)) (let y (ewadd x x)) (let z (ewadd y x)) (output z))";
    struct example x FREED_BY(example_end);
    example_begin(&x, text);
    assert_int_equal(count_in_graph(&x, 1), 0);
    assert_true(count_in_graph(&x, 2) > 0);
}

// A weight that the model gives, transposed or not, but nothing computed from it: sums of quarters are not divided into
// quarters.
TEST(tells_given_weights_from_computed_ones)
{
    static const char text[] =
        "(rule r (source (matmul ?x ?y)) (target (matmul (neg (neg ?x)) ?y)) (where (given ?y)))"
        "(graph (let x (input 0) (f32 2 2)) (let w (weight 0) (f32 2 2)) (let m (matmul x w)) (output m))"
        "(graph (let x (input 0) (f32 2 2)) (let w (weight 0) (f32 2 2)) (let t (transpose :perm 1 0 w))"
        " (let m (matmul x t)) (output m))"
        "(graph (let x (input 0) (f32 2 2)) (let w (weight 0) (f32 2 2)) (let t (neg w)) (let m (matmul x t)) (output "
        "m))"
        "(graph (let x (input 0) (f32 2 2)) (let y (input 1) (f32 2 2)) (let m (matmul x y)) (output m))"
        "(graph (let x (input 0) (f32 2 2)) (let w (weight 1073741824) (f32 2 2)) (let m (matmul x w)) (output m))";
    static const int matches[] = {1, 1, 0, 0, 0};
    struct example x FREED_BY(example_end);
    example_begin(&x, text);
    for (size_t i = 0; i < COUNT_OF(matches); i++)
        assert_int_equal(count_in_graph(&x, i + 1), matches[i]);
}

// A name stands for its term wherever it is used, in later names too.
TEST(replaces_names_by_their_terms)
{
    static const char text[] =
        "(rule r (source (relu ?x)) (let (?y (neg ?x)) (?z (ewadd ?y ?x))) (target (ewadd ?z ?y)))";
    struct example x FREED_BY(example_end);
    TEXT(printed);
    example_begin(&x, text);
    rule_print(&printed, x.rule);
    assert_string_equal(printed.chars,
                        "(rule r\n  (source (relu ?x))\n  (target (ewadd (ewadd (neg ?x) ?x) (neg ?x))))\n");
    assert_int_equal(x.rule->pattern.nodes.count, 4);
    assert_int_equal(x.rule->n_source_nodes, 1);
}

TEST_OF_CASES(names_the_place_of_errors, c, "substitutions/bad_rules.cases")
{
    ARENA(a);
    const struct sexp *list;
    struct rule *rule;
    struct error error = {0};
    assert_true(sexp_parse(&a, "test", c->items[2].text, strlen(c->items[2].text), &list, &error));
    assert_false(rule_parse(&list->items[0], "test", &a, &rule, &error));
    assert_string_equal(error.message, c->items[0].text);
    assert_int_equal(error.column, c->items[1].integer);
}
