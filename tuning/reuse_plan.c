// Nodes are tuners, and behind them the root.
#include "tuning/reuse_plan.h"

#include "core/memory/hash.h"
#include "core/memory/vec.h"
#include "tuning/reuse/arborescence.h"
#include <math.h>

typedef VEC(struct arc) arc_list;

static size_t trials_from_nothing(const struct step_tuner *t, size_t from_nothing)
{
    const struct step_tuner_state *s = step_tuner_state(t);
    return s->n_suitable < from_nothing ? s->n_suitable : from_nothing;
}

bool reuse_plan_is_tuned(const struct step_tuner *t, size_t from_nothing)
{
    const struct step_tuner_state *s = step_tuner_state(t);
    return s->n_tried + s->n_recalled >= trials_from_nothing(t, from_nothing);
}

static double left_from_nothing(const struct step_tuner *t, size_t from_nothing)
{
    const struct step_tuner_state *s = step_tuner_state(t);
    size_t done = s->n_tried + s->n_recalled, all = trials_from_nothing(t, from_nothing);
    return all > done ? (double)(all - done) : 0;
}

void reuse_plan_find(struct step_tuner *const *tuners, size_t n, size_t from_nothing, uint64_t seed, int *ret_parents)
{
    arc_list arcs = {0};
    int root = (int)n, *into = mem_new_array(int, n + 1);
    for (size_t to = 0; to < n; to++) {
        vec_push(&arcs, ((struct arc){root, (int)to, left_from_nothing(tuners[to], from_nothing)}));
        for (size_t from = 0; from < n; from++) {
            double trials = step_tuner_reuse_trials(tuners[to], tuners[from], hash_mix(seed, from * n + to));
            if (trials > 0)
                vec_push(&arcs, ((struct arc){(int)from, (int)to, trials}));
        }
    }
    arborescence_find((int)n + 1, root, arcs.items, arcs.count, into);
    for (size_t to = 0; to < n; to++) {
        int from = arcs.items[into[to]].from;
        ret_parents[to] = from == root ? TUNED_FROM_NOTHING : from;
    }
    mem_free(into, (n + 1) * sizeof *into);
    vec_free(&arcs);
}
