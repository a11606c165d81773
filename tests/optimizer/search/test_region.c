// Equal regions whose nodes are listed in another order: what holds of one is turned to the order of the other, and
// nothing is grafted where a region does not stand.
#include "graph/graph_whole.h"
#include "optimizer/search/backtracking/region.h"
#include "tests/support/parse_graph.h"
#include "tests/support/parse_rules.h"

// The same graph but for the order of a and b, so that the tensors of each have the numbers of the other.
static const char a_first[] = "x y = f32 4 4; a = tanh x; b = relu y; p = matmul a b";
static const char b_first[] = "x y = f32 4 4; b = relu y; a = tanh x; p = matmul a b";

struct fixture {
    struct arena arena;
    struct rule_set rules;
    struct graph known, region;
    struct site site;     // of `region`, in itself
    struct match match;   // the tanh in `region`
};

static void set_up(struct fixture *f)
{
    *f = (struct fixture){0};
    rule_set_init(&f->rules, &f->arena);
    parse_graph(&f->known, &f->arena, a_first);
    parse_graph(&f->region, &f->arena, b_first);
    for (tensor_id t = 0; t < f->region.tensors.count; t++)
        vec_push(&f->site.tensors, t);
    for (node_id n = 2; n < f->region.nodes.count; n++)
        vec_push(&f->site.members, n);
    parse_rules(&f->rules, &f->arena, "(rule r (source (tanh ?x)) (target (tanh ?x)))");
    f->match.rule = f->rules.rules.items[0];
    f->match.nodes[0] = find_node(&f->region, OP_TANH, 0);
    f->match.variables[0] = graph_inputs(&f->region, f->match.nodes[0])[0];
}

static void tear_down(struct fixture *f)
{
    site_free(&f->site);
    graph_free(&f->known);
    graph_free(&f->region);
    rule_set_free(&f->rules);
    arena_free(&f->arena);
}

TEST(an_equal_region_is_renumbered)
{
    FIXTURE(&f);
    assert_true(graph_equal(&f.known, &f.region));
    assert_true(region_is_at(&f.region, &f.site, &f.region));
    assert_false(region_is_at(&f.known, &f.site, &f.region));
    assert_true(region_renumber(&f.known, &f.region, &f.site, &f.match));
    assert_true(region_is_at(&f.known, &f.site, &f.region));
    assert_int_equal(f.match.nodes[0], find_node(&f.known, OP_TANH, 0));
    assert_int_equal(f.match.variables[0], graph_inputs(&f.known, f.match.nodes[0])[0]);
}

TEST(another_region_is_not)
{
    FIXTURE(&f);
    GRAPH(other, &f.arena, "x y = f32 4 4; b = relu x; a = tanh y; p = matmul a b");
    assert_false(region_renumber(&other, &f.region, &f.site, &f.match));
    assert_true(region_is_at(&f.region, &f.site, &f.region));
}

TEST(nothing_is_grafted_elsewhere)
{
    size_t count;
    tensor_id old[8], new[8], stands_for[8];
    FIXTURE(&f);
    for (tensor_id t = 0; t < f.known.tensors.count; t++)
        stands_for[t] = t;
    struct rewritten unchanged = {&f.known, &f.known, stands_for};
    assert_false(region_graft(&unchanged, &f.site, &f.region, &count, old, new));
    assert_true(region_renumber(&f.known, &f.region, &f.site, &f.match));
    assert_true(region_graft(&unchanged, &f.site, &f.region, &count, old, new));
    assert_int_equal(count, 0);
}
