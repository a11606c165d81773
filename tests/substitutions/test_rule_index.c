// The index visits the matches that trying every rule everywhere finds, in the same order; with some nodes touched, it
// leaves out no match that has one.
#include "substitutions/match_index.h"
#include "substitutions/rule_index.h"
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"

enum { GRAPHS = 400 };

struct found {
    const bool *touched;   // NULL: all matches are noted
    VEC(struct match) matches;
};

static bool note_match(void *context, const struct match *m)
{
    struct found *f = context;
    if (!f->touched || ANY(uint32_t, i, m->rule->n_source_nodes, f->touched[m->nodes[i]]))
        vec_push(&f->matches, *m);
    return true;
}

static void try_everywhere(const struct rule_set *rules, const struct match_index *index, const bool *is_disabled,
                           struct arena *scratch, struct found *f)
{
    for (size_t i = 0; i < rules->rules.count; i++)
        if (!is_disabled[i])
            rule_match(rules->rules.items[i], index, NO_NODE, scratch, note_match, f);
}

static bool is_same_match(const struct match *a, const struct match *b)
{
    return a->rule == b->rule && memcmp(a->nodes, b->nodes, sizeof a->nodes) == 0 &&
           memcmp(a->variables, b->variables, sizeof a->variables) == 0;
}

static void check_same_matches(const struct found *wanted, const struct found *got, uint64_t seed)
{
    for (size_t i = 0; i < wanted->matches.count && i < got->matches.count; i++)
        if (!is_same_match(&wanted->matches.items[i], &got->matches.items[i]))
            fail_msg("graph %llu: match %zu is of %s instead of %s", (unsigned long long)seed, i,
                     got->matches.items[i].rule->name, wanted->matches.items[i].rule->name);
    assert_int_equal(got->matches.count, wanted->matches.count);
}

static size_t compare(const struct rule_index *x, const struct match_index *index, const bool *is_disabled,
                      const bool *touched, uint64_t seed)
{
    ARENA(scratch);
    struct found wanted = {.touched = touched}, got = {.touched = touched};
    try_everywhere(x->rules, index, is_disabled, &scratch, &wanted);
    rule_index_match(x, index, is_disabled, touched, &scratch, note_match, &got);
    check_same_matches(&wanted, &got, seed);
    size_t n = wanted.matches.count;
    vec_free(&wanted.matches);
    vec_free(&got.matches);
    return n;
}

static size_t compare_on_graph(const struct rule_index *x, const bool *is_disabled, uint64_t seed)
{
    ARENA(a);
    struct graph g FREED_BY(graph_free);
    struct match_index index FREED_BY(match_index_free);
    struct random random = random_seed(seed);
    graph_init(&g, &a);
    random_graph_fill(&g, x->rules, &random, 16);
    match_index_init(&index, &g);
    bool *touched = arena_array(&a, bool, g.nodes.count);
    touched[random_below(&random, g.nodes.count)] = true;
    return compare(x, &index, is_disabled, NULL, seed) + compare(x, &index, is_disabled, touched, seed);
}

static void compare_on_graphs(const struct rule_set *rules, size_t least)
{
    size_t n = 0;
    bool *is_disabled = mem_alloc_zero(rules->rules.count + 1);
    struct rule_index x FREED_BY(rule_index_free);
    rule_index_init(&x, rules);
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        is_disabled[seed % rules->rules.count] = true;
        n += compare_on_graph(&x, is_disabled, seed);
        is_disabled[seed % rules->rules.count] = false;
    }
    if (n < least)
        fail_msg("only %zu matches were compared", n);
    mem_free(is_disabled, rules->rules.count + 1);
}

static void compare_with_rules_of(const char *path, size_t least)
{
    ARENA(a);
    RULES_OF(rules, &a, path);
    compare_on_graphs(&rules, least);
}

TEST(finds_what_trying_everywhere_finds)
{
    compare_with_rules_of(getenv("TASO_RULES"), 1000);
}

// Sources of several terms: linked by a tensor that both read, by one that reads the other, by a detour, and not at
// all.
static const char several_terms[] = "(rule both-read (source (relu ?x) (tanh ?x)) (target (relu ?x) (tanh ?x)))"
                                    "(rule detour (source (relu (ewadd ?x ?y)) (tanh (ewmul ?y ?z))) (target (relu "
                                    "(ewadd ?y ?x)) (tanh (ewmul ?z ?y))))"
                                    "(rule apart (source (relu ?x) (tanh ?y)) (target (relu ?x) (tanh ?y)))"
                                    "(rule second-input (source (ewadd ?x (relu ?y))) (target (ewadd (relu ?y) ?x)))";

TEST(finds_sources_of_several_terms)
{
    ARENA(a);
    RULES(rules, &a, several_terms);
    compare_on_graphs(&rules, 100);
}
