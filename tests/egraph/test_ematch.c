// E-matching against the pattern matcher, on random graphs and all rules that are shipped: an e-graph in which nothing
// was united has the matches that the graph has.
#include "core/system/thread_pool.h"
#include "egraph/convert.h"
#include "egraph/ematch.h"
#include "egraph/instance.h"
#include "substitutions/match_index.h"
#include "tests/support/check.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"

enum { GRAPHS = 600, WORDS = 1 + MAX_RULE_VARIABLES + MAX_RULE_NODES };

struct found {
    uint32_t words[WORDS];   // the rule, classes of variables, nodes; then zeros
};
typedef VEC(struct found) found_list;

struct trial {
    struct arena arena, scratch;
    struct rule_set rules;
    struct ematcher matcher;
    struct thread_pool *team;
    struct graph g;
    struct egraph e;
    enode_id *ids;
    enode_id *of_node;   // of every node of the graph
    uint32_t rule;       // that is matched
    found_list expected, found;
};

static int compare_found(const void *x, const void *y)
{
    return memcmp(x, y, sizeof(struct found));
}

static bool note_expected(void *context, const struct match *m)
{
    struct trial *t = context;
    struct found f = {{t->rule}};
    uint32_t n = 1;
    for (uint32_t v = 0; v < m->rule->pattern.n_variables; v++)
        f.words[n++] = egraph_find(&t->e, t->ids[m->variables[v]]);
    for (uint32_t i = 0; i < m->rule->n_source_nodes; i++)
        f.words[n++] = t->of_node[m->nodes[i]];
    vec_push(&t->expected, f);
    return true;
}

static void match_graph(struct trial *t)
{
    struct match_index index FREED_BY(match_index_free);
    match_index_init(&index, &t->g);
    for (t->rule = 0; t->rule < t->rules.rules.count; t->rule++)
        if (t->matcher.programs.items[t->rule].is_linked)
            rule_match(t->rules.rules.items[t->rule], &index, NO_NODE, &t->scratch, note_expected, t);
}

static void match_egraph(struct trial *t, struct thread_pool *team, ematches *ret_matches)
{
    size_t n = t->rules.rules.count;
    bool *is_used = arena_array(&t->scratch, bool, n), *is_cut = arena_array(&t->scratch, bool, n);
    uint32_t *since = arena_array(&t->scratch, uint32_t, n);
    memset(is_used, true, n);
    struct eindex index FREED_BY(eindex_free);
    eindex_init(&index, &t->e);
    struct ematch_search s = {&t->matcher, &index, is_used, since, NULL, UINT32_MAX, team};
    ematch_search(&s, ret_matches, is_cut);
}

static void keep_what_holds(struct trial *t, const ematches *matches)
{
    struct instances instances FREED_BY(instances_free);
    instances_init(&instances, &t->e, &t->rules);
    size_t size;
    for (size_t i = 0; i < matches->count; i += size) {
        const uint32_t *words = matches->items + i;
        const struct rule *r = t->rules.rules.items[words[0]];
        const uint32_t *variables = words + 1, *nodes = variables + r->pattern.n_variables;
        struct found f = {{0}};
        size = 1 + r->pattern.n_variables + r->n_source_nodes;
        memcpy(f.words, words, size * sizeof *words);
        if (instances_find(&instances, words[0], variables, nodes)->state != INSTANCE_NO_MATCH)
            vec_push(&t->found, f);
    }
}

static void number_nodes(struct trial *t)
{
    t->of_node = arena_array(&t->scratch, enode_id, t->g.nodes.count + 1);
    for (node_id n = 0; n < t->g.nodes.count; n++) {
        enode_id made = t->ids[t->g.nodes.items[n].first_output];
        if (made == NO_ENODE)
            continue;   // no output depends on it
        t->of_node[n] = t->e.nodes.items[made].op == PROJECTION ? egraph_edges(&t->e, made)[0].first : made;
    }
}

static void compare(const struct trial *t, uint64_t seed)
{
    vec_sort(&t->expected, compare_found);
    vec_sort(&t->found, compare_found);
    for (size_t i = 0; i < t->expected.count || i < t->found.count; i++) {
        if (i < t->expected.count && i < t->found.count &&
            compare_found(&t->expected.items[i], &t->found.items[i]) == 0)
            continue;
        const struct found *f = i < t->expected.count ? &t->expected.items[i] : &t->found.items[i];
        fail_msg("seed %llu: %zu matches, %zu e-matches; differ at a match of %s", (unsigned long long)seed,
                 t->expected.count, t->found.count, t->rules.rules.items[f->words[0]]->name);
    }
}

static size_t try_graph(struct trial *t, uint64_t seed)
{
    ARENA_MARK(mark, &t->scratch);
    struct random r = random_seed(seed);
    LOCAL_LIST(ematches, alone);
    LOCAL_LIST(ematches, shared);
    graph_init(&t->g, &t->scratch);
    random_graph_fill(&t->g, &t->rules, &r, 10);
    egraph_init(&t->e);
    t->ids = arena_array(&t->scratch, enode_id, t->g.tensors.count + 1);
    egraph_add_graph(&t->e, &t->g, t->ids);
    number_nodes(t);
    match_egraph(t, NULL, &alone);
    match_egraph(t, t->team, &shared);
    assert_int_equal(alone.count, shared.count);
    if (alone.count)
        assert_memory_equal(alone.items, shared.items, alone.count * sizeof *alone.items);
    keep_what_holds(t, &alone);
    match_graph(t);
    compare(t, seed);
    size_t n = t->found.count;
    vec_clear(&t->expected);
    vec_clear(&t->found);
    egraph_free(&t->e);
    graph_free(&t->g);
    return n;
}

TEST(finds_what_the_pattern_matcher_finds)
{
    struct trial t = {0};
    size_t n = 0;
    read_rules(&t.rules, &t.arena, getenv("TASO_RULES"));
    ematcher_init(&t.matcher, &t.rules);
    t.team = thread_pool_new(3);
    for (uint64_t seed = 1; seed <= GRAPHS; seed++)
        n += try_graph(&t, seed);
    assert_true(n > 5 * GRAPHS);
    assert_int_equal(t.matcher.n_unlinked, 0);
    thread_pool_free(t.team);
    vec_free(&t.expected);
    vec_free(&t.found);
    ematcher_free(&t.matcher);
    rule_set_free(&t.rules);
    arena_free(&t.arena);
    arena_free(&t.scratch);
}
