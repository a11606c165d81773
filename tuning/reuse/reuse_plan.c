// The last node of the arborescence is the root.
#include "tuning/reuse/reuse_plan.h"

#include "core/memory/hash.h"
#include "core/memory/vec.h"
#include "tuning/reuse/arborescence.h"
#include <string.h>

typedef VEC(struct arc) arc_list;

static bool may_reuse(const struct reuse_node *to, const struct reuse_node *from)
{
    return to != from && strcmp(to->family, from->family) == 0 && reuse_is_possible(&to->loops, &from->loops);
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
    int root = (int)n;
    for (size_t to = 0; to < n; to++)
        add_arcs_into(nodes, n, to, seed, &arcs);
    arborescence_find((int)n + 1, root, arcs.items, arcs.count, into);
    for (size_t to = 0; to < n; to++) {
        int from = arcs.items[into[to]].from;
        ret_parents[to] = from == root ? TUNED_FROM_NOTHING : from;
    }
}
