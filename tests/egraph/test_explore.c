// Random small models searched by saturation with the rules that are shipped: no two values of a class differ over the
// prime field, any choice of e-nodes is a graph that computes what the original does, and the number of threads changes
// nothing. Planted wrong rules are found by name.
#include "egraph/convert.h"
#include "egraph/explain.h"
#include "egraph/explore.h"
#include "tests/egraph/class_values.h"
#include "tests/egraph/egraph_check.h"
#include "tests/support/check.h"
#include "tests/support/graph_values.h"
#include "tests/support/parse_rules.h"
#include "tests/support/random_graph.h"

enum { MODELS = 2000, CHOICES = 4, ENTRIES = 512 };

struct trial {
    struct arena arena, scratch;   // of the rules, and of a graph
    struct rule_set rules;
    struct graph g;
    struct egraph e;
    enode_id *ids, *outputs;
    struct exploration x;
};

static void begin(struct trial *t, uint64_t seed)
{
    struct random r = random_seed(seed);
    graph_init(&t->g, &t->scratch);
    random_graph_fill(&t->g, &t->rules, &r, 8);
}

static void explore(struct trial *t, enum cycle_filtering filtering, uint32_t threads)
{
    struct exploration_options options = exploration_standard_options;
    options.most_nodes = 3000;
    options.rounds = 4;
    options.filtering = filtering;
    options.threads = threads;
    egraph_init(&t->e);
    t->ids = arena_array(&t->scratch, enode_id, t->g.tensors.count + 1);
    t->outputs = arena_array(&t->scratch, enode_id, t->g.outputs.count + 1);
    egraph_add_graph(&t->e, &t->g, t->ids);
    for (size_t i = 0; i < t->g.outputs.count; i++)
        t->outputs[i] = t->ids[t->g.outputs.items[i]];
    exploration_init(&t->x, &t->e, &t->rules, &options);
    exploration_run(&t->x);
}

static void end(struct trial *t)
{
    exploration_free(&t->x);
    egraph_free(&t->e);
    graph_free(&t->g);
    arena_free(&t->scratch);
}

static void choose_at_random(const struct egraph *e, struct random *r, enode_id *ret_choice)
{
    for (eclass_id c = 0; c < e->nodes.count; c++) {
        uint64_t n_seen = 0;
        for (enode_id n = egraph_find(e, c) == c ? egraph_first_node(e, c) : NO_ENODE; n != NO_ENODE;
             n = egraph_next_node(e, c, n))
            if (!e->nodes.items[n].is_filtered && random_below(r, ++n_seen) == 0)
                ret_choice[c] = n;
        assert_true(n_seen > 0 || egraph_find(e, c) != c);
    }
}

static void check_choice(struct trial *t, uint64_t seed, struct random *r, const struct field_values *expected)
{
    struct graph built FREED_BY(graph_free);
    struct field_values values FREED_BY(field_values_free);
    enode_id *choice = arena_array(&t->scratch, enode_id, t->e.nodes.count + 1);
    choose_at_random(&t->e, r, choice);
    graph_init(&built, &t->scratch);
    if (!egraph_build_graph(&t->e, choice, NULL, t->outputs, t->g.outputs.count, &built))
        fail_msg("seed %llu: the choice is ill-typed", (unsigned long long)seed);
    graph_values(&values, &built, 5, &t->scratch);
    if (!field_values_equal(&values, expected))
        fail_msg("seed %llu: the choice computes something else", (unsigned long long)seed);
}

struct blame {
    const struct exploration *x;
    const char *rule;
};

static void note_rule(void *context, enode_id x, enode_id y, uint32_t reason)
{
    struct blame *b = context;
    if (reason < b->x->applications.count)
        b->rule = b->x->rules->rules.items[b->x->applications.items[reason].rule]->name;
}

// NULL: none.
static const char *rule_that_changes_values(const struct trial *t)
{
    struct blame blame = {&t->x, "congruence"};
    enode_id a, b;
    if (classes_have_one_value(&t->e, ENTRIES, &a, &b))
        return NULL;
    egraph_explain(&t->e, a, b, note_rule, &blame);
    return blame.rule;
}

static size_t try_model(struct trial *t, uint64_t seed)
{
    struct random r = random_seed(seed + 1000);
    const char *what = "";
    begin(t, seed);
    struct field_values expected FREED_BY(field_values_free);
    graph_values(&expected, &t->g, 5, &t->scratch);
    explore(t, seed % 4 == 0 ? CYCLES_VANILLA : CYCLES_EFFICIENT, 1);
    if (!egraph_check(&t->e, &what))
        fail_msg("seed %llu: %s", (unsigned long long)seed, what);
    const char *wrong = rule_that_changes_values(t);
    if (wrong)
        fail_msg("seed %llu: %s changes values", (unsigned long long)seed, wrong);
    for (int i = 0; i < CHOICES; i++)
        check_choice(t, seed, &r, &expected);
    size_t unions = t->e.n_unions;
    end(t);
    return unions;
}

static void trial_init(struct trial *t)
{
    *t = (struct trial){0};
    read_rules(&t->rules, &t->arena, getenv("TASO_RULES"));
}

static void trial_free(struct trial *t)
{
    rule_set_free(&t->rules);
    arena_free(&t->arena);
}

TEST(any_choice_computes_the_same)
{
    size_t unions = 0;
    struct trial t FREED_BY(trial_free);
    trial_init(&t);
    for (uint64_t seed = 1; seed <= some_of(MODELS); seed++)
        unions += try_model(&t, seed);
    assert_true(unions > 10 * some_of(MODELS));
}

TEST(is_the_same_for_any_number_of_threads)
{
    struct trial t FREED_BY(trial_free);
    trial_init(&t);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        begin(&t, seed);
        explore(&t, CYCLES_EFFICIENT, 1);
        exploration_free(&t.x);
        struct egraph alone FREED_BY(egraph_free);
        alone = t.e;
        explore(&t, CYCLES_EFFICIENT, 3);
        assert_int_equal(alone.nodes.count, t.e.nodes.count);
        assert_memory_equal(alone.edges.items, t.e.edges.items, alone.edges.count * sizeof *alone.edges.items);
        assert_memory_equal(alone.leader.items, t.e.leader.items, alone.leader.count * sizeof *alone.leader.items);
        end(&t);
    }
}

// Each alone: with others, what follows from it may be laid to them.
TEST(finds_planted_rules_by_name)
{
    static const char *const planted[] = {
        "(rule wrong (source (sub ?x ?y)) (target (sub ?y ?x)))",
        "(rule wrong (source (ewadd ?x ?y)) (target (ewadd ?x ?x)))",
        "(rule wrong (source (relu ?x)) (target ?x))",
        "(rule wrong (source (matmul ?x ?y) (matmul ?x ?z)) (target (matmul ?x ?z) (matmul ?x ?y)))",
    };
    for (size_t i = 0; i < COUNT_OF(planted); i++) {
        size_t n_found = 0;
        struct trial t FREED_BY(trial_free) = {0};
        rule_set_init(&t.rules, &t.arena);
        parse_rules(&t.rules, &t.arena, planted[i]);
        for (uint64_t seed = 1; seed <= 60; seed++) {
            begin(&t, seed);
            explore(&t, CYCLES_KEPT, 1);
            n_found += rule_that_changes_values(&t) != NULL;
            end(&t);
        }
        if (n_found == 0)
            fail_msg("%s is not found to be wrong", planted[i]);
    }
}
