// The deferred rebuild against congruence closure by looking at all pairs, on random e-graphs; what a merge refuses;
// and why two nodes are equal.
#include "egraph/explain.h"
#include "egraph/intern.h"
#include "tests/egraph/closure.h"
#include "tests/egraph/egraph_check.h"
#include "tests/egraph/grown.h"
#include "tests/support/check.h"

enum { GRAPHS = 400, NODES = 60, UNIONS = 12, ROUNDS = 3 };

// --- random e-graphs -------------------------------------------------------------------------------------------------

static enode_id any_tensor(struct grown *g, struct random *r)
{
    return g->tensors.items[random_below(r, g->tensors.count)];
}

static void add_something(struct grown *g, struct random *r)
{
    uint32_t op = (uint32_t)random_below(r, GROWN_OPERATORS);
    enode_id x = any_tensor(g, r), y = any_tensor(g, r);
    grown_add(g, op, x, y, (int64_t)random_below(r, 2));
}

// Nodes are added between rounds too: to classes of several nodes, where they may be congruent to redundant ones.
static void unite_at_random(struct grown *g, struct closure *c, struct random *r, uint64_t seed)
{
    const char *what = "";
    enode_id a, b;
    for (int i = 0; i < 6; i++)
        add_something(g, r);
    closure_add_new(c);
    for (size_t i = 0; i < random_below(r, UNIONS); i++) {
        enode_id x = any_tensor(g, r), y = any_tensor(g, r);
        egraph_union(&g->e, x, y, REASON_GIVEN);
        closure_unite(c, x, y);
    }
    egraph_rebuild(&g->e);
    closure_close(c);
    if (!egraph_check(&g->e, &what))
        fail_msg("seed %llu: %s", (unsigned long long)seed, what);
    if (!closure_agrees(c, &a, &b))
        fail_msg("seed %llu: nodes %u and %u", (unsigned long long)seed, a, b);
}

TEST(rebuilds_as_the_closure_of_all_pairs)
{
    for (uint64_t seed = 1; seed <= GRAPHS; seed++) {
        struct random r = random_seed(seed);
        struct grown g FREED_BY(grown_free);
        grown_init(&g);
        for (size_t i = 0; i < NODES; i++)
            add_something(&g, &r);
        struct closure c;
        closure_init(&c, &g.e);
        for (int round = 0; round < ROUNDS; round++)
            unite_at_random(&g, &c, &r, seed);
    }
}

// --- refusals and reasons --------------------------------------------------------------------------------------------

static enode_id leaf(struct egraph *e, int64_t index, int64_t columns)
{
    struct type t = type_make(DTYPE_F32, 2, (const int64_t[]){2, columns});
    return egraph_add(e, operators[OP_INPUT], grown_attributes(e, OP_INPUT, index), egraph_intern_type(e, 1, &t), 0,
                      NULL);
}

static enode_id apply(struct egraph *e, enum operator_id op, enode_id x, enode_id y)
{
    uint32_t n_children = operators[op]->min_inputs == 1 ? 1 : 2;
    return egraph_add(e, operators[op], grown_attributes(e, op, 0), e->nodes.items[x].type, n_children,
                      (const enode_id[]){x, y});
}

TEST(refuses_other_types)
{
    struct egraph e FREED_BY(egraph_free);
    egraph_init(&e);
    enode_id x = leaf(&e, 0, 3), y = leaf(&e, 1, 3), wide = leaf(&e, 2, 4);
    enode_id sum = apply(&e, OP_EWADD, x, y), difference = apply(&e, OP_SUB, sum, y);
    assert_int_equal(egraph_union(&e, x, wide, REASON_GIVEN), UNION_OTHER_TYPE);
    assert_int_equal(egraph_union(&e, difference, x, REASON_GIVEN), UNION_NEW);
    assert_int_equal(egraph_union(&e, difference, x, REASON_GIVEN), UNION_KNOWN);
    assert_int_equal(apply(&e, OP_EWADD, y, x), sum);
}

static void note_reason(void *context, enode_id x, enode_id y, uint32_t reason)
{
    uint32_t *seen = context;
    seen[reason == REASON_CONGRUENCE ? 0 : reason]++;
}

TEST(tells_why)
{
    uint32_t seen[4] = {0};
    struct egraph e FREED_BY(egraph_free);
    egraph_init(&e);
    enode_id a = leaf(&e, 0, 3), b = leaf(&e, 1, 3), c = leaf(&e, 2, 3), d = leaf(&e, 3, 3);
    enode_id of_a = apply(&e, OP_RELU, a, a), of_c = apply(&e, OP_RELU, c, c);
    egraph_union(&e, a, b, 1);
    egraph_union(&e, b, c, 2);
    egraph_union(&e, d, of_c, 3);
    egraph_rebuild(&e);
    egraph_explain(&e, a, c, note_reason, seen);
    assert_memory_equal(seen, ((uint32_t[]){0, 1, 1, 0}), sizeof seen);
    egraph_explain(&e, d, of_a, note_reason, seen);
    assert_memory_equal(seen, ((uint32_t[]){1, 1, 1, 1}), sizeof seen);
}

TEST(knows_weights_through_unions)
{
    struct egraph e FREED_BY(egraph_free);
    egraph_init(&e);
    enode_id x = leaf(&e, 0, 3), y = apply(&e, OP_RELU, x, x);
    enode_id w =
        egraph_add(&e, operators[OP_WEIGHT], grown_attributes(&e, OP_WEIGHT, 0), e.nodes.items[x].type, 0, NULL);
    assert_false(e.classes.items[y].is_weight);
    egraph_union(&e, x, w, REASON_GIVEN);
    egraph_rebuild(&e);
    assert_true(e.classes.items[egraph_find(&e, y)].is_weight);
    assert_false(e.classes.items[egraph_find(&e, y)].is_given);
    assert_true(e.classes.items[egraph_find(&e, x)].is_given);
}
