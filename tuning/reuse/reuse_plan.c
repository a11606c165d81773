// The last node of the tree is the root. Where there are no bridges its cheapest arborescence is exact.
#include "tuning/reuse/reuse_plan.h"

#include "core/memory/hash.h"
#include "core/memory/vec.h"
#include "tuning/reuse/steiner_tree.h"
#include <string.h>

typedef VEC(struct arc) arc_list;

// Bridges do not reuse each other: these are of more than one hop.
static bool may_reuse(const struct reuse_node *to, const struct reuse_node *from)
{
    return to != from && !(to->is_bridge && from->is_bridge) && strcmp(to->family, from->family) == 0 &&
           reuse_is_possible(&to->loops, &from->loops);
}

static void add_arcs_into(const struct reuse_node *nodes, size_t n, size_t to, uint64_t seed, arc_list *arcs)
{
    const struct reuse_node *a = &nodes[to];
    vec_push(arcs, ((struct arc){(int)n, (int)to, a->from_nothing}));
    for (size_t from = 0; from < n; from++) {
        const struct reuse_node *b = &nodes[from];
        double trials = may_reuse(a, b)
                            ? reuse_estimate_trials(&a->loops, a->schedules, a->n_schedules, &b->loops, b->schedules,
                                                    b->n_schedules, hash_mix(seed, from * n + to))
                            : 0;
        if (trials > 0)
            vec_push(arcs, ((struct arc){(int)from, (int)to, trials}));
    }
}

void reuse_plan_find(const struct reuse_node *nodes, size_t n, uint64_t seed, int *ret_parents)
{
    LOCAL_LIST(arc_list, arcs);
    LOCAL_ARRAY(int, into, n + 1);
    LOCAL_ARRAY(bool, is_terminal, n + 1);
    int root = (int)n;
    bool has_bridges = false;
    for (size_t to = 0; to < n; to++) {
        add_arcs_into(nodes, n, to, seed, &arcs);
        is_terminal[to] = !nodes[to].is_bridge;
        has_bridges = has_bridges || nodes[to].is_bridge;
    }
    is_terminal[n] = false;
    if (has_bridges)
        steiner_tree_find((int)n + 1, root, is_terminal, arcs.items, arcs.count, into);
    else
        arborescence_find((int)n + 1, root, arcs.items, arcs.count, into);
    for (size_t to = 0; to < n; to++) {
        int from = into[to] == NO_ARC ? NOT_TUNED : arcs.items[into[to]].from;
        ret_parents[to] = from == root ? TUNED_FROM_NOTHING : from;
    }
}

static bool is_searched(const struct reuse_node *node, int parent)
{
    return parent == TUNED_FROM_NOTHING && node->from_nothing > 0;
}

static bool are_loops_equal(const struct reuse_loops *a, const struct reuse_loops *b)
{
    return a->n == b->n && memcmp(a->extents, b->extents, (size_t)a->n * sizeof *a->extents) == 0;
}

static bool is_there(const struct reuse_node *nodes, size_t n, const struct reuse_bridge *bridges, size_t n_bridges,
                     const struct reuse_bridge *wanted)
{
    return ANY(size_t, i, n,
               strcmp(nodes[i].family, wanted->family) == 0 && are_loops_equal(&nodes[i].loops, &wanted->loops)) ||
           ANY(size_t, i, n_bridges,
               strcmp(bridges[i].family, wanted->family) == 0 && are_loops_equal(&bridges[i].loops, &wanted->loops));
}

size_t reuse_plan_list_bridges(const struct reuse_node *nodes, size_t n, const int *parents, size_t most,
                               struct reuse_bridge *ret_bridges)
{
    size_t count = 0;
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < a && count < most; b++) {
            struct reuse_bridge bridge = {.family = nodes[a].family};
            if (is_searched(&nodes[a], parents[a]) && is_searched(&nodes[b], parents[b]) &&
                strcmp(nodes[a].family, nodes[b].family) == 0 &&
                reuse_find_bridge(&nodes[a].loops, &nodes[b].loops, &bridge.loops) &&
                !is_there(nodes, n, ret_bridges, count, &bridge))
                ret_bridges[count++] = bridge;
        }
    return count;
}
