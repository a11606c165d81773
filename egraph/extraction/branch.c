// Branch and bound. An open branch is a list of decisions, each to take a node (its class is needed then, and has no
// other node) or not to take it; looking at it means to reduce the problem under these decisions, to extract greedily,
// and to bound by cuts. The open branch with the lowest bound is looked at next, so that bound holds for the whole. A
// node that, with what the cuts leave of its cost, makes every selection too dear is dropped below that branch. Where
// the k cheapest are wanted, a branch ends when it has no choice left, or costs too much.
#include "egraph/extraction/branch.h"

#include "core/memory/arena.h"
#include "core/memory/heap.h"
#include "egraph/extraction/cuts.h"
#include "egraph/extraction/greedy.h"
#include <math.h>
#include <string.h>

struct decision {
    uint32_t node;   // of root.problem
    bool is_taken;
};
struct branch {
    double bound;
    uint64_t number;   // in the order of their making; of equal bounds the youngest is first
    uint32_t n_decisions;
    struct decision *decisions;
};
struct branching {
    struct incumbent *incumbent;
    const struct extraction_problem *problem;   // root.problem
    VEC(struct branch) open;                    // a heap
    uint64_t n_made;
    // of the branch that is looked at
    bool *is_dropped;   // [n_nodes]
    VEC(uint32_t) needed;
    struct reduction reduction;
    struct whole_costs rests;
    uint32_t *choice, *lifted;     // of reduction.problem, greedy; of root.problem
    double bound, bound_by_cuts;   // what the rests go with is the latter
};

static bool is_first(const void *context, const void *a, const void *b)
{
    const struct branch *x = a, *y = b;
    return x->bound != y->bound ? x->bound < y->bound : x->number > y->number;
}

static void free_branch(struct branch *branch)
{
    mem_free_array(branch->decisions, branch->n_decisions);
}

static void add_branch(struct branching *b, const struct branch *parent, struct decision decision)
{
    struct branch branch = {b->bound, b->n_made++, parent->n_decisions + 1, NULL};
    branch.decisions = mem_new_array(struct decision, branch.n_decisions);
    if (parent->n_decisions)
        memcpy(branch.decisions, parent->decisions, parent->n_decisions * sizeof decision);
    branch.decisions[parent->n_decisions] = decision;
    heap_push(&b->open, branch, is_first, NULL);
}

static void decide(struct branching *b, struct decision decision)
{
    const struct extraction_problem *p = b->problem;
    uint32_t class_id = p->nodes.items[decision.node].class_id;
    if (!decision.is_taken) {
        b->is_dropped[decision.node] = true;
        return;
    }
    vec_push(&b->needed, class_id);
    for (uint32_t i = p->first.items[class_id]; i < p->first.items[class_id + 1]; i++)
        if (p->members.items[i] != decision.node)
            b->is_dropped[p->members.items[i]] = true;
}

static void begin_branch(struct branching *b, const struct branch *branch)
{
    memset(b->is_dropped, 0, b->problem->n_nodes);
    vec_clear(&b->needed);
    for (uint32_t i = 0; i < branch->n_decisions; i++)
        decide(b, branch->decisions[i]);
}

static double bound_reduced(struct branching *b)
{
    const struct incumbent *i = b->incumbent;
    double fixed = i->root.fixed_cost + b->reduction.fixed_cost;
    whole_costs_init(&b->rests, &b->reduction.problem);
    double enough = fmax(0, i->limit - fixed) * b->rests.scale;
    return fixed + cuts_bound(&b->reduction.problem, b->rests.cost, enough) / b->rests.scale;
}

static void free_reduced(struct branching *b)
{
    whole_costs_free(&b->rests);
    reduction_free(&b->reduction);
}

// False, with nothing to free: the branch has no selection, or none that is cheaper than the incumbent.
static bool reduce_and_bound(struct branching *b)
{
    struct reduction_limits limits = {.is_dropped = b->is_dropped, .needed = b->needed.items};
    limits.n_needed = (uint32_t)b->needed.count;
    double cost;
    if (!reduction_make(b->problem, &limits, &b->reduction))
        return false;
    if (extraction_greedy_dag(&b->reduction.problem, b->choice, &cost)) {
        reduction_lift(&b->reduction, b->choice, b->lifted);
        incumbent_offer(b->incumbent, b->lifted);
    }
    b->bound_by_cuts = bound_reduced(b);
    b->bound = fmax(b->bound, b->bound_by_cuts);
    bool is_worth_it = !incumbent_excludes(b->incumbent, b->bound);
    if (!is_worth_it)
        free_reduced(b);
    return is_worth_it;
}

static uint32_t drop_too_dear(struct branching *b)
{
    uint32_t n_dropped = 0;
    for (uint32_t n = 0; n < b->reduction.problem.n_nodes; n++)
        if (incumbent_excludes(b->incumbent, b->bound_by_cuts + b->rests.cost[n] / b->rests.scale)) {
            b->is_dropped[b->reduction.node_of.items[n]] = true;
            n_dropped++;
        }
    return n_dropped;
}

// Reduces as often as it makes the problem a good deal smaller.
static bool reduce_and_drop(struct branching *b)
{
    enum { MAX_ROUNDS = 20, ONE_IN = 10 };
    for (int round = 0; reduce_and_bound(b); round++) {
        if (drop_too_dear(b) * ONE_IN <= b->reduction.problem.n_nodes || round == MAX_ROUNDS)
            return true;
        free_reduced(b);
    }
    return false;
}

// The node of the greedy selection that costs most beyond the cuts, and has an alternative.
static uint32_t choose_node(const struct branching *b)
{
    const struct extraction_problem *p = &b->reduction.problem;
    uint32_t best = EXTRACTION_NONE;
    double most = -1;
    for (uint32_t c = 0; c < p->n_classes; c++) {
        uint32_t node = b->choice[c];
        if (node == EXTRACTION_NONE || p->first.items[c + 1] - p->first.items[c] < 2)
            continue;
        double weight = b->rests.cost[node] + p->nodes.items[node].cost * b->rests.scale * 1e-6;
        if (weight > most) {
            most = weight;
            best = node;
        }
    }
    return best;
}

static void look_at(struct branching *b, const struct branch *branch)
{
    begin_branch(b, branch);
    b->bound = branch->bound;
    if (!reduce_and_drop(b))
        return;
    uint32_t node = choose_node(b);
    if (node != EXTRACTION_NONE) {
        node = b->reduction.node_of.items[node];
        add_branch(b, branch, (struct decision){node, false});
        add_branch(b, branch, (struct decision){node, true});
    }
    free_reduced(b);
}

static uint64_t look_at_all(struct branching *b, uint64_t max_branches)
{
    uint64_t n_seen = 0;
    struct branch whole = {.bound = b->incumbent->bound};
    heap_push(&b->open, whole, is_first, NULL);
    while (b->open.count && n_seen < max_branches && !incumbent_must_stop(b->incumbent)) {
        struct branch next FREED_BY(free_branch) = heap_pop(&b->open, is_first, NULL);
        if (!incumbent_excludes(b->incumbent, next.bound)) {
            look_at(b, &next);
            n_seen++;
        }
    }
    b->incumbent->bound = b->open.count ? b->open.items[0].bound : INFINITY;
    return n_seen;
}

uint64_t incumbent_branch(struct incumbent *i, uint64_t max_branches)
{
    ARENA(arena);
    const struct extraction_problem *p = &i->root.problem;
    struct branching b = {.incumbent = i, .problem = p};
    b.is_dropped = arena_array(&arena, bool, p->n_nodes + 1);
    b.choice = arena_array(&arena, uint32_t, p->n_classes + 1);
    b.lifted = arena_array(&arena, uint32_t, p->n_classes + 1);
    uint64_t n_seen = look_at_all(&b, max_branches);
    for (size_t k = 0; k < b.open.count; k++)
        free_branch(&b.open.items[k]);
    vecs_free(&b, open, needed);
    return n_seen;
}
